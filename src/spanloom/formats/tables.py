"""Records of any shape, such as ``pmid, title, abstract``: which fields are the text and the id."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from spanloom.corpus.document import Document
from spanloom.formats.checks import BadRecord
from spanloom.formats.raw import from_text
from spanloom.formats.report import Report


def row_document(row: Mapping[str, Any], text: str, id: str, report: Report) -> Document:
    r"""Return the document of a record; the fields that are neither text nor id are its meta.

    Parameters
    ----------
    row
        Values by name.
    text
        The name of the text; several joined by commas are put below each other. A text that is null is empty.
    id
        The name of the id.

    Examples
    --------
    >>> row = {"pmid": 17, "title": "IL-2", "abstract": "It binds.", "year": 1999}
    >>> doc = row_document(row, "title,abstract", "pmid", Report())
    >>> doc.id, doc.text, doc.meta
    ('17', 'IL-2\nIt binds.', {'year': 1999})
    """
    own, content, meta = row_text(row, text, id, report)
    return from_text(content, (), report, own, id=own, meta=meta)


def row_text(row: Mapping[str, Any], text: str, id: str, report: Report) -> tuple[str, str, dict[str, Any]]:
    """Return the id, the text and the meta of a record, as :func:`row_document` reads it."""
    names = text.split(",")
    check_names(row, [*names, *([id] if id else [])], report)
    values = [_text(row[name], name) for name in names]
    own = row[id] if id else None
    meta = {str(key): value for key, value in row.items() if key != id and key not in names and value is not None}
    return "" if own is None else str(own), "\n".join(value for value in values if value), meta


def check_names(found: Collection[str], wanted: Collection[str], report: Report) -> None:
    """Raise ``BadRecord`` with what to type unless all names are there."""
    for name in wanted:
        if name not in found:
            typed = report.typed(**_proposed(found, report))
            raise BadRecord(
                f"no field {name!r}; there are {', '.join(map(str, found)) or 'none'}. Say which is the text and which "
                f"the id, for example {typed}",
                "field",
            )


def text_field(fields: Collection[str]) -> str:
    """Return which fields of a record are its text, as far as names tell it.

    Examples
    --------
    >>> text_field(["pmid", "title", "abstract"]), text_field(["no", "body"]), text_field([])
    ('title,abstract', 'body', 'FIELD')
    """
    names = list(map(str, fields))
    if "abstract" in names:
        return "title,abstract" if "title" in names else "abstract"
    return names[-1] if names else "FIELD"


def _proposed(fields: Collection[str], report: Report) -> dict[str, str | None]:
    """Return the options of text and id: those that were typed where there are such fields, else as names tell it."""
    typed = {} if report.ref is None else report.ref.options
    text, id = typed.get("text"), typed.get("id")
    if text is None or not set(text.split(",")) <= set(fields):
        text = text_field(fields)
    if id is not None and id not in fields:
        others = (name for name in map(str, fields) if name not in text.split(","))
        id = next((name for name in others if name.lower().endswith("id")), None)
    return {"text": text, "id": id}


def _text(value: Any, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRecord(f"field {name!r} must be text, not {value!r}")
    return value
