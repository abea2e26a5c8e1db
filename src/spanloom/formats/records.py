"""JSON records of annotation tools, one a line or all in one array: what their readers and writers share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from spanloom.corpus.document import Document
from spanloom.corpus.mention import Part
from spanloom.formats.align import CharMention
from spanloom.formats.checks import BadRecord, as_int, as_list, as_object, as_string, decode, encode
from spanloom.formats.compression import reading_bytes
from spanloom.formats.lines import lines, whole
from spanloom.formats.loss import Limits, Unwritten
from spanloom.formats.report import Report
from spanloom.formats.writing import target

Span = tuple[str, Part, Part, float | None]
"""Label, character range, token range and probability of a contiguous mention."""


def records(path: str, report: Report) -> Iterator[tuple[str, Any]]:
    """Yield place and value of every record: of each line, or of each item if the file is one JSON array."""
    if path != "-":
        with reading_bytes(path) as file:
            array = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        if array:
            try:
                items = as_list(decode(whole(path)), "the file")
            except BadRecord as error:
                report.broken(error.kind, f"{path}:1", str(error))
                return
            yield from ((f"{path}:1 record {k}", item) for k, item in enumerate(items))
            return
    name = "standard input" if path == "-" else path
    for number, line in lines(path, report):
        if line.strip():
            try:
                value = decode(line)
            except BadRecord as error:
                report.broken(error.kind, f"{name}:{number}", str(error))
                continue
            yield f"{name}:{number}", value


def documents(path: str, report: Report, make: Callable[[dict[str, Any], str], Document]) -> Iterator[Document]:
    """Yield the document that ``make`` builds of each record; what it cannot build is reported with its place."""
    for where, value in records(path, report):
        try:
            doc = make(as_object(value, "the record"), where)
        except BadRecord as error:
            report.broken(error.kind, where, str(error))
        else:
            yield doc


def char_span(
    item: Any, what: str, where: str, start: str = "start", end: str = "end", label: str = "label"
) -> CharMention:
    """Return the mention of an object with start, end and label."""
    entry = as_object(item, what)
    name = as_string(entry.get(label), f"{label} of {what}")
    place = (as_int(entry.get(start), f"{start} of {what}"), as_int(entry.get(end), f"{end} of {what}"))
    return CharMention(name, (place,), None, {}, f"{where} {what}")


def score(value: Any, what: str) -> float | None:
    """Return the score of a span as a probability; None if it has none, or one that is no probability."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRecord(f"score of {what} must be a number, not {value!r}")
    return float(value) if 0 <= value <= 1 else None


def write_records(
    docs: Iterable[Document],
    path: str,
    report: Report,
    format: str,
    lossy: str,
    make: Callable[[Document, list[Span], dict[str, Any]], dict[str, Any]],
    own: Collection[str],
) -> None:
    """Write one record a line: what ``make`` builds of a document, its contiguous mentions and its meta.

    Parameters
    ----------
    format, lossy
        The format's name, and how to lose mentions that it cannot hold; see :mod:`spanloom.formats.loss`.
    own
        The fields that the format gives a meaning to. A document's meta of such a name has no place beside them: it is
        left out and counted in the report.
    """
    limits = Limits(format, lossy)
    unwritten = Unwritten(format)
    with target(path, report) as out:
        for k, doc in enumerate(docs):
            where = f"document {doc.id or k}"
            for name in doc.meta.keys() & own:
                unwritten.note(f"meta named {name!r}", True)
            rest = {name: value for name, value in doc.meta.items() if name not in own}
            record = make(doc, list(_contiguous(doc, limits, unwritten, report, where)), rest)
            out.write(encode(record, f"{path}: {where}"))
            _note_rest(doc, unwritten)
        limits.raise_errors(report)
    unwritten.tell(report, path)


def _contiguous(doc: Document, limits: Limits, unwritten: Unwritten, report: Report, where: str) -> Iterator[Span]:
    spans = doc.spans
    for mention in limits.fit(doc.mentions, report, where)[0]:
        unwritten.note("attributes", mention.attributes)
        yield mention.label, (spans[mention.start][0], spans[mention.end - 1][1]), mention.parts[0], mention.prob


def _note_rest(doc: Document, unwritten: Unwritten) -> None:
    """Count what annotation tools have no place for."""
    for sentence in doc.sentences:
        unwritten.note("columns", sentence.columns)
        unwritten.note("own features", sentence.features is not None)
        unwritten.note("sentence meta", sentence.meta)
