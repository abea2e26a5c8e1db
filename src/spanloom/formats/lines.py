"""Text files by lines, with the place in every complaint."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.formats.compression import reading_bytes
from spanloom.formats.report import Report

UTF8 = "utf-8"


def lines(path: str | os.PathLike[str], report: Report, encoding: str = UTF8) -> Iterator[tuple[int, str]]:
    r"""Yield line numbers from 1 and lines without their ends; only ``\n`` and ``\r\n`` end a line.

    The path ``-`` is standard input. A line that is not in the encoding is reported as broken; a byte order mark is
    left out.
    """
    name = os.fspath(path)
    shown = "standard input" if name == "-" else name
    with reading_bytes(name) as stream:
        if known(encoding) == UTF8:
            yield from utf8_lines(stream, shown, report)
        else:
            yield from _without_ends(_other(stream, shown, report, encoding))


def utf8_lines(stream: Iterable[bytes], name: str, report: Report) -> Iterator[tuple[int, str]]:
    """Yield line numbers from 1 and lines without their ends, from the bytes of each line; see :func:`lines`."""
    return _without_ends(_utf8(stream, name, report))


def _without_ends(numbered: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, line in numbered:
        if line.endswith("\n"):
            line = line[:-2] if line.endswith("\r\n") else line[:-1]
        taken = [line]
        del line  # a line may be long, and whoever takes it may let go of it before the next
        yield number, taken.pop()


def _utf8(stream: Iterable[bytes], name: str, report: Report) -> Iterator[tuple[int, str]]:
    number = 0
    for raw in stream:  # enumerate would keep a long line until the next
        number += 1
        if number == 1 and raw.startswith(codecs.BOM_UTF8):
            raw = raw[3:]
        try:
            taken = [raw.decode(UTF8)]
        except UnicodeDecodeError as error:
            report.broken("encoding", f"{name}:{number}", f"{_wrong(error, UTF8)}{_advice(raw, report)}")
            continue
        del raw
        yield number, taken.pop()


def _other(stream: BinaryIO, name: str, report: Report, encoding: str) -> Iterator[tuple[int, str]]:
    """Lines of any encoding; after an error there is no telling where the next line begins."""
    number = 0
    text = io.TextIOWrapper(stream, encoding, newline="\n")
    try:
        for number, line in enumerate(text, 1):
            yield number, line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeDecodeError as error:
        report.broken("encoding", f"{name}:{number + 1}", _wrong(error, encoding))
    finally:
        text.detach()


def whole(path: str | os.PathLike[str], encoding: str = UTF8, report: Report | None = None) -> str:
    """Return a whole text file with its line ends as they are; a byte order mark is left out."""
    name = os.fspath(path)
    with reading_bytes(name) as stream:
        raw = stream.read()
    try:
        return raw.decode(known(encoding)).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        advice = _advice(raw, report) if report is not None and known(encoding) == UTF8 else ""
        raise CorpusError(f"{_wrong(error, encoding)} of the file{advice}", f"{name}:{line}") from error


def known(encoding: str) -> str:
    """Return Python's name of an encoding; raises ``ParameterError`` if it has none."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise ParameterError(
            f"option encoding={encoding!r} is no encoding that Python knows, such as utf-8, latin-1, cp1252 or utf-16"
        ) from None


def _wrong(error: UnicodeDecodeError, encoding: str) -> str:
    return f"not {encoding.upper()}: {error.reason} at byte {error.start}"


def _advice(raw: bytes, report: Report) -> str:
    """What to type for a file in another encoding; a guess, where the bytes allow one."""
    from spanloom.formats.reading import takes_option

    if report.ref is None or not takes_option(report.ref, "read", "encoding"):
        return ""
    guess = "utf-16" if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "cp1252"
    return f"; if the file is in another encoding, say so, for example {report.typed(encoding=guess)}"
