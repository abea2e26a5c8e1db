"""Files of bytes as they are, or compressed: ``.gz``, and ``.zst`` (``pip install 'spanloom[zst]'``)."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, BinaryIO, cast

from spanloom.base.errors import CorpusError
from spanloom.base.extras import need


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
        return cast("BinaryIO", gzip.open(path, "rb"))
    file = open(path, "rb")  # noqa: SIM115
    if path.lower().endswith(".zst"):
        unpacked = need("zstandard", "zst").ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return cast("BinaryIO", io.BufferedReader(unpacked))
    return file


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
