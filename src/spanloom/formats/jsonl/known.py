"""What of a document or sentence is annotated, as JSON: ``{"labels": ["DNA"], "ranges": [[0, 5]]}``.

What a teacher believes of a sentence stands there too::

    {"labels": [], "believed": {"weight": 0.5, "sets": [
        {"prob": 0.75, "mentions": [{"label": "DNA", "parts": [[0, 2]]}]}, {"prob": 0.25, "mentions": []}]}}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanloom.corpus.known import Believed, Known
from spanloom.corpus.mention import Mention, Part
from spanloom.formats.checks import BadRecord, as_list, as_object, as_range, as_ranges, as_string, as_strings

_FIELDS = ("labels", "ranges", "believed")


def as_known(value: Any, what: str, tokens: Part | None) -> Known | None:
    """Return the checked value of a field ``known``; None if there is none.

    Parameters
    ----------
    tokens
        The tokens that ranges may speak of, in the document; None: there are no tokens, so there can be no ranges.

    Examples
    --------
    >>> as_known({"labels": ["DNA"], "ranges": [[0, 2]]}, "known", (0, 3))
    Known(labels=('DNA',), ranges=((0, 2),), believed=None)
    """
    if value is None:
        return None
    entry = _object(value, what, _FIELDS)
    labels, ranges = entry.get("labels"), entry.get("ranges")
    if labels is not None:
        labels = tuple(as_strings(labels, f"label of {what}", f"{what}.labels"))
    believed = None
    if entry.get("believed") is not None:
        believed = _believed(entry["believed"], f"{what}.believed", tokens)
    if ranges is None:
        return _made(labels, None, believed, what)
    if tokens is None:
        raise BadRecord(f"ranges of {what} count tokens, but the document has no tokens")
    first, last = tokens
    checked = tuple(as_range(pair, f"range of {what}", last) for pair in as_list(ranges, f"{what}.ranges"))
    for start, end in checked:
        if start < first:
            raise BadRecord(f"range ({start}, {end}) of {what} begins before token {first}, the first of the sentence")
    return _made(labels, checked, believed, what)


def _made(labels: Any, ranges: Any, believed: Believed | None, what: str) -> Known:
    try:
        return Known(labels, ranges, believed)
    except ValueError as error:
        raise BadRecord(f"{what}: {error}") from None


def _believed(value: Any, what: str, tokens: Part | None) -> Believed:
    if tokens is None:
        raise BadRecord(f"mentions of {what} count tokens, but the document has no tokens")
    entry = _object(value, what, ("weight", "sets"))
    sets = []
    for k, item in enumerate(as_list(entry.get("sets"), f"{what}.sets")):
        own = _object(item, f"set {k} of {what}", ("prob", "mentions"))
        mentions = []
        for one in as_list(own.get("mentions"), f"mentions of set {k} of {what}"):
            mention = _object(one, f"mention of {what}", ("label", "parts"))
            label = as_string(mention.get("label"), f"label of a mention of {what}")
            if not label:
                raise BadRecord(f"a mention of {what} has no label; give it one")
            parts = as_ranges(mention.get("parts"), f"parts of a mention of {what}", tokens[1])
            if not parts:
                raise BadRecord(f"mention {label} of {what} has no parts; parts are token ranges such as [[0, 2]]")
            if parts[0][0] < tokens[0]:
                raise BadRecord(f"mention {label} {parts} of {what} begins before its sentence, at token {tokens[0]}")
            mentions.append((label, parts))
        sets.append((_number(own.get("prob"), f"prob of set {k} of {what}"), mentions))
    try:
        made = tuple((p, tuple(Mention(label, parts) for label, parts in own)) for p, own in sets)
        return Believed(made, _number(entry.get("weight", 1.0), f"weight of {what}"))
    except ValueError as error:
        raise BadRecord(f"{what}: {error}") from None


def _object(value: Any, what: str, fields: Sequence[str]) -> dict[str, Any]:
    entry = as_object(value, what)
    if unknown := entry.keys() - set(fields):
        raise BadRecord(f"{what} has an unknown field {min(unknown)!r}; known are {', '.join(fields)}")
    return entry


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRecord(f"{what} must be a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise BadRecord(f"{what} is too large a number") from None


def known_record(known: Known, first: int) -> dict[str, Any]:
    """Return the object for what is known of a sentence that begins at token ``first``.

    Examples
    --------
    >>> known_record(Known(ranges=((0, 2),)), 5)
    {'ranges': [(5, 7)]}
    """
    record: dict[str, Any] = {} if known.labels is None else {"labels": list(known.labels)}
    if known.ranges is not None:
        record["ranges"] = [(start + first, end + first) for start, end in known.ranges]
    if known.believed is not None:
        sets = [
            {"prob": p, "mentions": [{"label": m.label, "parts": m.shifted(first).parts} for m in own]}
            for p, own in known.believed.sets
        ]
        record["believed"] = {"weight": known.believed.weight, "sets": sets}
    return record
