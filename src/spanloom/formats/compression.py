"""Files of bytes as they are, or compressed: ``.gz``, and ``.zst`` (``pip install 'spanloom[zst]'``).

A few kilobytes may unpack to terabytes. So a file may grow to ``GROWTH`` times its size, or to ``ROOM`` bytes if that
is more; text grows three to ten times.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, cast

from spanloom.base.errors import CorpusError
from spanloom.base.extras import need

GROWTH = 200
ROOM = 1 << 28


@contextmanager
def reading_bytes(path: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for ``-``, and unpack what is packed; damage raises ``CorpusError``."""
    if path == "-":
        yield sys.stdin.buffer
        return
    damage: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error)
    if path.lower().endswith(".zst"):
        damage = (*damage, need("zstandard", "zst").ZstdError)
    try:
        with _open(path) as stream:
            yield stream
    except damage as error:
        raise CorpusError(getattr(error, "strerror", None) or f"cannot be unpacked: {error}", path) from error


def _open(path: str) -> BinaryIO:
    if path.lower().endswith(".gz"):
        return _bounded(gzip.open(path, "rb"), path)
    file = open(path, "rb")  # noqa: SIM115
    if path.lower().endswith(".zst"):
        unpacked = need("zstandard", "zst").ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return _bounded(unpacked, path)
    return file


def _bounded(unpacked: Any, path: str) -> BinaryIO:
    return cast("BinaryIO", io.BufferedReader(_Bounded(unpacked, path), 1 << 18))


class _Bounded(io.RawIOBase):
    """What is unpacked, as long as it is in proportion to what was packed."""

    def __init__(self, unpacked: Any, path: str) -> None:
        self._unpacked, self._path = unpacked, path
        self._size = os.path.getsize(path)
        self._left = max(ROOM, GROWTH * self._size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._unpacked.readinto1(buffer))  # what comes before a damaged place is not lost with it
        self._left -= count
        if self._left < 0:
            raise CorpusError(
                f"the file has {self._size:,} bytes and unpacks to more than {max(ROOM, GROWTH * self._size):,}; if "
                "you trust it, unpack it first",
                self._path,
            )
        return count

    def close(self) -> None:
        if not self.closed:
            self._unpacked.close()
        super().close()


@contextmanager
def packing(path: str, raw: IO[bytes]) -> Iterator[IO[bytes]]:
    """Give what to write into so that ``raw`` becomes as the ending of ``path`` says; the same bytes every time."""
    packed: Any
    if path.lower().endswith(".gz"):
        packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
    elif path.lower().endswith(".zst"):
        packed = need("zstandard", "zst").ZstdCompressor().stream_writer(raw, closefd=False)
    else:
        yield raw
        return
    with packed:
        yield packed
