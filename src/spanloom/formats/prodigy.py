"""Prodigy's JSONL: ``text``, ``tokens`` with offsets, ``spans`` with ``start``, ``end``, ``label`` (also nested).

A record with ``answer`` other than ``accept`` is kept, with its answer in the document's meta; ``answers=accept``
leaves it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spanloom.corpus.document import Document
from spanloom.corpus.mention import Part
from spanloom.formats.align import CharMention
from spanloom.formats.checks import BadRecord, as_int, as_list, as_object, as_string
from spanloom.formats.raw import from_text
from spanloom.formats.reading import choice
from spanloom.formats.records import Span, char_span, documents, score, write_records
from spanloom.formats.report import Report

keeps_probabilities = True

_OWN = (
    "text",
    "spans",
    "tokens",
    "_input_hash",
    "_task_hash",
    "_view_id",
    "_session_id",
    "_annotator_id",
    "_timestamp",
)


def read(path: str, report: Report, *, align: str = "strict", answers: str = "all") -> Iterator[Document]:
    """Yield the documents of a Prodigy export.

    Parameters
    ----------
    align
        What to do with spans inside tokens: strict, expand, contract or split.
    answers
        ``all`` records, or only those with the answer ``accept``.
    """
    choice("answers", answers, ("all", "accept"))

    def make(record: dict[str, Any], where: str) -> Document:
        text = as_string(record.get("text"), "text")
        mentions = []
        for k, item in enumerate(as_list(record.get("spans") or [], "spans")):
            mention = char_span(item, f"span {k}", where)
            rest = {
                key: str(v)
                for key, v in item.items()
                if key not in ("start", "end", "label", "token_start", "token_end", "score")
            }
            prob = score(item.get("score"), f"span {k}")
            mentions.append(CharMention(mention.label, mention.chars, prob, rest, mention.where))
        meta = {key: value for key, value in record.items() if key not in _OWN}
        id = str(as_object(meta.get("meta") or {}, "meta").get("id", ""))
        return from_text(
            text, mentions, report, where, id=id, align_by=align, spans=_tokens(record, len(text)), meta=meta
        )

    for doc in documents(path, report, make):
        if answers == "all" or doc.meta.get("answer", "accept") == "accept":
            yield doc


def write(docs: Iterable[Document], path: str, report: Report, *, lossy: str = "") -> None:
    """Write documents for Prodigy, with tokens.

    Parameters
    ----------
    lossy
        ``contiguous`` fills the gaps of discontinuous mentions; outermost, innermost or longest leave them out.
    """
    write_records(docs, path, report, "prodigy", lossy, task, _OWN)


def task(doc: Document, spans: list[Span], rest: dict[str, Any]) -> dict[str, Any]:
    """Return the task of a document, with tokens; ``rest`` are further fields."""
    tokens = [
        {"text": doc.text[s:e], "start": s, "end": e, "id": i, "ws": doc.text[e : e + 1].isspace()}
        for i, (s, e) in enumerate(doc.spans)
    ]
    placed = [
        {"start": s, "end": e, "token_start": a, "token_end": b - 1, "label": label}
        | ({} if prob is None else {"score": prob})
        for label, (s, e), (a, b), prob in spans
    ]
    record = {"text": doc.text, **rest, "tokens": tokens, "spans": placed}
    if doc.id:
        own = rest.get("meta", {})
        record["meta"] = {**(own if isinstance(own, dict) else {"meta": own}), "id": doc.id}
    return record


def _tokens(record: dict[str, Any], length: int) -> list[Part] | None:
    if not record.get("tokens"):
        return None
    spans: list[Part] = []
    for k, item in enumerate(as_list(record["tokens"], "tokens")):
        entry = as_object(item, f"token {k}")
        start, end = (as_int(entry.get(name), f"{name} of token {k}") for name in ("start", "end"))
        if not (spans[-1][1] if spans else 0) <= start < end <= length:
            raise BadRecord(f"token {k} at ({start}, {end}) is not after the one before and within {length} characters")
        spans.append((start, end))
    return spans
