"""Text files by lines, with the place in every complaint."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

from spanloom.base.errors import CorpusError
from spanloom.formats.report import Report


def lines(path: str | os.PathLike[str], report: Report) -> Iterator[tuple[int, str]]:
    r"""Yield line numbers from 1 and lines without their ends; only ``\n`` and ``\r\n`` end a line.

    The path ``-`` is standard input. A line that is not UTF-8 is reported as broken; a byte order mark is left out.
    """
    name = os.fspath(path)
    if name == "-":
        yield from _decoded(sys.stdin.buffer, "standard input", report)
        return
    try:
        stream = open(name, "rb")  # noqa: SIM115
    except OSError as error:
        raise CorpusError(f"{name}: {error.strerror}") from error
    with stream:
        yield from _decoded(stream, name, report)


def _decoded(stream: Iterable[bytes], name: str, report: Report) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for raw in stream:
            number += 1
            if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                raw = raw[3:]
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                report.broken("encoding", f"{name}:{number}", f"not UTF-8: {error.reason} at byte {error.start}")
                continue
            if line.endswith("\n"):
                line = line[:-2] if line.endswith("\r\n") else line[:-1]
            taken = [line]
            del raw, line  # a line may be long, and whoever takes it may let go of it before the next
            yield number, taken.pop()
    except OSError as error:
        raise CorpusError(f"{name}: {error.strerror}") from error


def whole(path: str | os.PathLike[str]) -> str:
    """Return a whole UTF-8 file with its line ends as they are."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as stream:
            raw = stream.read()
    except OSError as error:
        raise CorpusError(f"{name}: {error.strerror}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise CorpusError(f"{name}:{line}: not UTF-8: {error.reason} at byte {error.start} of the file") from error
