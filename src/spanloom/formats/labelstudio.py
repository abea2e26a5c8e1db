"""Label Studio's JSON or JSONL export: tasks with ``data`` and ``annotations``, whose ``result`` has regions of text.

A region of several labels becomes several mentions. Relations are kept in the document's meta, and regions keep
their ids then. Only the first annotation of a task that was not cancelled is read, unless ``annotation=all``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from spanloom.corpus.document import Document
from spanloom.formats.align import CharMention
from spanloom.formats.checks import BadRecord, as_int, as_list, as_object, as_string
from spanloom.formats.raw import from_text
from spanloom.formats.reading import choice
from spanloom.formats.records import Span, documents, score, write_records
from spanloom.formats.report import Report

keeps_probabilities = True


def read(
    path: str, report: Report, *, align: str = "strict", text: str = "text", annotation: str = "first"
) -> Iterator[Document]:
    """Yield the documents of a Label Studio export.

    Parameters
    ----------
    align
        What to do with regions inside tokens: strict, expand, contract or split.
    text
        The field of ``data`` that holds the text.
    annotation
        ``first`` annotation of a task, or ``all`` of them together.
    """
    choice("annotation", annotation, ("first", "all"))

    def make(record: dict[str, Any], where: str) -> Document:
        return task_document(record, report, where, align=align, text=text, annotation=annotation)

    yield from documents(path, report, make)


def task_document(
    record: dict[str, Any],
    report: Report,
    where: str,
    *,
    align: str = "strict",
    text: str = "text",
    annotation: str = "first",
) -> Document:
    """Return the document of one task; the options are those of ``read``."""
    data = as_object(record.get("data"), "data")
    content = as_string(data.get(text), f"data.{text}")
    given = [
        as_object(item, f"annotation {k}")
        for k, item in enumerate(as_list(record.get("annotations") or record.get("completions") or [], "annotations"))
    ]
    chosen = [item for item in given if not item.get("was_cancelled")]
    if annotation == "first":
        chosen = chosen[:1]
    regions = [r for item in chosen for r in as_list(item.get("result") or [], "result")]
    relations = [r for r in regions if isinstance(r, dict) and r.get("type") == "relation"]
    mentions = [m for k, r in enumerate(regions) for m in _region(r, k, where, bool(relations))]
    meta = {key: value for key, value in data.items() if key != text}
    if relations:
        meta["relations"] = relations
    return from_text(content, mentions, report, where, id=str(record.get("id", "")), align_by=align, meta=meta)


def write(docs: Iterable[Document], path: str, report: Report, *, lossy: str = "") -> None:
    """Write one task a line, to be imported with its annotation.

    Parameters
    ----------
    lossy
        ``contiguous`` fills the gaps of discontinuous mentions; outermost, innermost or longest leave them out.
    """

    def make(doc: Document, spans: list[Span], rest: dict[str, Any]) -> dict[str, Any]:
        regions = [
            {
                "id": f"r{i}",
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
                "value": {"start": s, "end": e, "text": doc.text[s:e], "labels": [label]},
                **({} if prob is None else {"score": prob}),
            }
            for i, (label, (s, e), _, prob) in enumerate(spans)
        ]
        own = {"id": doc.id} if doc.id else {}
        return {**own, "data": {"text": doc.text, **rest}, "annotations": [{"result": regions}]}

    write_records(docs, path, report, "labelstudio", lossy, make, ("text",))


def _region(item: Any, k: int, where: str, keep: bool) -> Iterator[CharMention]:
    what = f"region {k}"
    region = as_object(item, what)
    value = region.get("value")
    if not isinstance(value, dict) or "start" not in value:
        return
    labels = value.get("labels", value.get("hypertextlabels"))
    if labels is None:
        return
    place = (as_int(value["start"], f"start of {what}"), as_int(value.get("end"), f"end of {what}"))
    names = as_list(labels, f"labels of {what}")
    if not names:
        raise BadRecord(f"{what} has no label")
    own = {"id": str(region["id"])} if keep and "id" in region else {}
    prob = score(region.get("score"), what)
    for name in names:
        yield CharMention(as_string(name, f"label of {what}"), (place,), prob, own, f"{where} {what}")
