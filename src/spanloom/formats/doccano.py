"""doccano's JSONL: ``text`` and ``label`` (or ``labels``) as ``[start, end, label]``, or ``entities`` as objects.

``scores`` beside ``label`` are probabilities, one each, which doccano keeps as meta data. The relations of ``entities``
are kept in the document's meta, together with all other fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spanloom.corpus.document import Document
from spanloom.formats.align import CharMention
from spanloom.formats.checks import BadRecord, as_int, as_list, as_string
from spanloom.formats.raw import from_text
from spanloom.formats.records import Span, char_span, documents, score, write_records
from spanloom.formats.report import Report

keeps_probabilities = True

_OWN = ("id", "text", "data", "label", "labels", "entities", "scores")


def read(path: str, report: Report, *, align: str = "strict") -> Iterator[Document]:
    """Yield the documents of a doccano export.

    Parameters
    ----------
    align
        What to do with spans inside tokens: strict, expand, contract or split.
    """

    def make(record: dict[str, Any], where: str) -> Document:
        text = as_string(record.get("text", record.get("data")), "text")
        mentions: list[CharMention] = []
        for field in ("label", "labels"):
            given = as_list(record.get(field) or [], field)
            scores = as_list(record.get("scores") or [None] * len(given), "scores")
            if given and len(scores) != len(given):
                raise BadRecord(f"{len(scores)} scores for {len(given)} {field}")
            for k, item in enumerate(given):
                if not isinstance(item, list) or len(item) != 3:
                    raise BadRecord(f"{field} {k} must be [start, end, label]")
                place = (as_int(item[0], f"start of {field} {k}"), as_int(item[1], f"end of {field} {k}"))
                what = f"{field} {k}"
                label = as_string(item[2], f"label of {what}")
                mentions.append(CharMention(label, (place,), score(scores[k], what), {}, f"{where} {what}"))
        keep = bool(record.get("relations"))
        for k, item in enumerate(as_list(record.get("entities") or [], "entities")):
            mention = char_span(item, f"entity {k}", where, "start_offset", "end_offset")
            own = {"id": str(item["id"])} if keep and "id" in item else {}
            mentions.append(CharMention(mention.label, mention.chars, None, own, mention.where))
        meta = {key: v for key, v in record.items() if key not in _OWN}
        return from_text(text, mentions, report, where, id=str(record.get("id", "")), align_by=align, meta=meta)

    yield from documents(path, report, make)


def write(docs: Iterable[Document], path: str, report: Report, *, lossy: str = "") -> None:
    """Write documents with ``label`` as ``[start, end, label]``, which doccano imports.

    Parameters
    ----------
    lossy
        ``contiguous`` fills the gaps of discontinuous mentions; outermost, innermost or longest leave them out.
    """

    def make(doc: Document, spans: list[Span], rest: dict[str, Any]) -> dict[str, Any]:
        record = {"id": doc.id, "text": doc.text, **rest, "label": [[s, e, label] for label, (s, e), _, _ in spans]}
        probs = [prob for *_, prob in spans]
        return record if all(prob is None for prob in probs) else {**record, "scores": probs}

    write_records(docs, path, report, "doccano", lossy, make, _OWN)
