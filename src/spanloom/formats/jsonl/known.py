"""What of a document or sentence is annotated, as JSON: ``{"labels": ["DNA"], "ranges": [[0, 5]]}``."""

from __future__ import annotations

from typing import Any

from spanloom.corpus.known import Known
from spanloom.corpus.mention import Part
from spanloom.formats.checks import BadRecord, as_list, as_object, as_range, as_strings

_FIELDS = ("labels", "ranges")


def as_known(value: Any, what: str, tokens: Part | None) -> Known | None:
    """Return the checked value of a field ``known``; None if there is none.

    Parameters
    ----------
    tokens
        The tokens that ranges may speak of, in the document; None: there are no tokens, so there can be no ranges.

    Examples
    --------
    >>> as_known({"labels": ["DNA"], "ranges": [[0, 2]]}, "known", (0, 3))
    Known(labels=('DNA',), ranges=((0, 2),))
    """
    if value is None:
        return None
    entry = as_object(value, what)
    if unknown := entry.keys() - set(_FIELDS):
        raise BadRecord(f"{what} has an unknown field {min(unknown)!r}; known are {', '.join(_FIELDS)}")
    labels, ranges = entry.get("labels"), entry.get("ranges")
    if labels is not None:
        labels = tuple(as_strings(labels, f"label of {what}", f"{what}.labels"))
    if ranges is None:
        return Known(labels)
    if tokens is None:
        raise BadRecord(f"ranges of {what} count tokens, but the document has no tokens")
    first, last = tokens
    checked = tuple(as_range(pair, f"range of {what}", last) for pair in as_list(ranges, f"{what}.ranges"))
    for start, end in checked:
        if start < first:
            raise BadRecord(f"range ({start}, {end}) of {what} begins before token {first}, the first of the sentence")
    try:
        return Known(labels, checked)
    except ValueError as error:
        raise BadRecord(f"{what}: {error}") from None


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
    return record
