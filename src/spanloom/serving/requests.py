"""The bodies of requests, checked: every complaint names the field, its value and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spanloom.base.errors import CorpusError
from spanloom.corpus import Document
from spanloom.formats.checks import BadRecord, as_int, as_list, as_object, as_string, as_strings, decode
from spanloom.formats.jsonl import parse
from spanloom.formats.report import Report
from spanloom.serving.engine import Asked
from spanloom.tagging import Plain, plain_of

MOST_TEXTS = 10_000
"""Texts of one request."""
MOST_SETS = 100
"""Best sets of a sentence."""
_INPUTS = ("text", "texts", "documents")
_OTHERS = ("model", "probabilities", "above", "k")


@dataclass(frozen=True, slots=True)
class TagRequest:
    """What ``POST /tag`` asks for; ``model`` is None for the first."""

    items: Sequence[Plain | Document]
    asked: Asked
    model: str | None


def tag_request(body: bytes) -> TagRequest:
    """Return the checked body of ``POST /tag``; raises ``BadRecord`` or ``CorpusError``.

    Examples
    --------
    >>> tag_request(b'{"text": "The IL-2 gene.", "above": 0.5}').asked
    Asked(probabilities=False, above=0.5, k=0)
    >>> tag_request(b'{"text": 7}')
    Traceback (most recent call last):
    ...
    spanloom.formats.checks.BadRecord: text must be a string, not 7
    """
    record = json_object(body)
    for name in record:
        if name not in (*_INPUTS, *_OTHERS):
            raise BadRecord(f"unknown field {name!r}; known are {', '.join((*_INPUTS, *_OTHERS))}")
    given = [name for name in _INPUTS if name in record]
    if len(given) != 1:
        raise BadRecord(f"give one of {', '.join(_INPUTS)}; there are {' and '.join(given) or 'none'}")
    asked = Asked(
        probabilities=_flag(record.get("probabilities", False), "probabilities"),
        above=share(record.get("above"), "above"),
        k=_between(record.get("k", 0), "k", MOST_SETS),
    )
    model = None if record.get("model") is None else as_string(record["model"], "model")
    return TagRequest(_items(record, given[0]), asked, model)


def json_object(body: bytes) -> dict[str, Any]:
    """Return the object of a JSON body; raises ``BadRecord``."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise BadRecord(f"the body is not UTF-8 at byte {error.start}") from None
    return as_object(decode(text), "the body")


def document(record: Any, where: str) -> Document:
    """Return the document of a record of JSONL; raises ``BadRecord`` or ``CorpusError``."""
    report = Report()
    made = parse(record, report, where)
    report.raise_errors()
    return made


def share(value: Any, what: str) -> float | None:
    """Return a probability above 0, or None."""
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 < value <= 1:
        raise BadRecord(f"{what} must be a number above 0 and at most 1, not {value!r}")
    return float(value)


def _items(record: dict[str, Any], name: str) -> list[Plain | Document]:
    if name == "text":
        return [Plain("", as_string(record["text"], "text"))]
    entries = as_list(record[name], name)
    if len(entries) > MOST_TEXTS:
        raise BadRecord(f"{name} has {len(entries)} entries; a request may have {MOST_TEXTS}")
    if name == "texts":
        return [Plain("", text) for text in as_strings(entries, "text")]
    items: list[Plain | Document] = []
    for k, entry in enumerate(entries):
        where = f"document {k}"
        try:
            items.append(plain_of(entry, where) or document(entry, where))
        except BadRecord as error:
            raise CorpusError(str(error), where) from None
    return items


def _flag(value: Any, what: str) -> bool:
    if type(value) is not bool:
        raise BadRecord(f"{what} must be true or false, not {value!r}")
    return value


def _between(value: Any, what: str, most: int) -> int:
    if not 0 <= as_int(value, what) <= most:
        raise BadRecord(f"{what} must be within 0 and {most}, not {value}")
    return int(value)
