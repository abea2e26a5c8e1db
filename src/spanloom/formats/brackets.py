"""Mentions as brackets at tokens: ``Entity=(1-person-new(2-place`` opens, ``2)1)`` closes, ``(3-time)`` is one token.

The notation of GUM and CorefUD. Fields are separated by hyphens and named by ``# global.Entity``; the part
``[1/2]`` after a name says that the mention goes on elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from spanloom.base.errors import CorpusError
from spanloom.corpus.mention import Mention, Part

FIELDS = ("GRP", "etype", "infstat", "salience", "centering", "minspan", "link", "identity")
"""GUM's fields, for files that do not name them."""

_BRACKET = re.compile(r"\(([^()]+)(\))?|([^()]+)\)")
_PART = re.compile(r"(.*)\[(\d+)/(\d+)\]")

Complain = Callable[[int, str], None]
_Key = tuple[str, str]


def from_brackets(values: Sequence[str], fields: Sequence[str], complain: Complain) -> list[Mention]:
    """Return the mentions of a sentence, in the order in which they open.

    Parameters
    ----------
    values
        The brackets at each token; empty where there are none.
    fields
        The names of the fields; ``etype`` is the label, the others become attributes.
    complain
        Called with token and message where brackets are broken.

    Examples
    --------
    >>> from_brackets(["(1-person(2-place)", "1)", "(3-time)"], ["GRP", "etype"], print)  # doctest: +ELLIPSIS
    [Mention(label='person', parts=((0, 2),), ...), Mention(label='place', parts=((0, 1),), ...), Mention(...)]
    """
    opened: dict[str, list[tuple[int, int]]] = {}
    found: list[tuple[str, str, dict[str, str], Part] | None] = []
    for i, value in enumerate(values):
        if not value:
            continue
        at = 0
        while match := _BRACKET.match(value, at):
            at = match.end()
            content, single, closed = match.groups()
            if content is None:
                pending = opened.get(_bare(closed))
                if not pending:
                    complain(i, f"{closed}) closes a mention that is not open")
                    continue
                start, place = pending.pop()
                kept = found[place]
                if kept is not None:
                    found[place] = (*kept[:3], (start, i + 1))
                continue
            name, label, attributes = _named(content, fields)
            found.append((name, label, attributes, (i, i + 1)))
            if not single:
                opened.setdefault(name, []).append((i, len(found) - 1))
        if at != len(value):
            complain(i, f"brackets cannot be read from {value[at:][:40]!r} on")
    for name, pending in opened.items():
        for start, place in pending:
            complain(start, f"({name} is never closed")
            found[place] = None
    return _joined([mention for mention in found if mention is not None], complain)


def to_brackets(mentions: Sequence[Mention], length: int, fields: Sequence[str], number: int) -> tuple[list[str], int]:
    """Return the brackets at each token, and the next number for mentions that have no name of their own."""
    opening: list[list[tuple[int, int, str]]] = [[] for _ in range(length)]
    closing: list[list[tuple[int, int, str]]] = [[] for _ in range(length)]
    for order, mention in enumerate(mentions):
        name = mention.attributes.get("GRP", "")
        if not name:
            name, number = str(number), number + 1
        for k, (start, end) in enumerate(mention.parts, 1):
            part = f"{name}[{k}/{len(mention.parts)}]" if mention.discontinuous else name
            values = [part, mention.label, *(mention.attributes.get(field, "") for field in fields[2:])]
            while values[-1] == "" and len(values) > 2:
                values.pop()
            _check(values)
            text = "-".join(values)
            if end - start == 1:
                opening[start].append((-end, order, f"({text})"))
            else:
                opening[start].append((-end, order, f"({text}"))
                closing[end - 1].append((-start, -order, f"{part})"))
    written = []
    for i in range(length):
        # What opened last closes first; then what opens here, the longest first.
        written.append("".join(t for _, _, t in sorted(closing[i])) + "".join(t for _, _, t in sorted(opening[i])))
    return written, number


def _bare(name: str) -> str:
    return name.split("-", 1)[0]


def _named(content: str, fields: Sequence[str]) -> tuple[str, str, dict[str, str]]:
    values = dict(zip(fields, content.split("-", len(fields) - 1), strict=False))
    label = values.pop("etype", "")
    return values["GRP"], label, values


def _joined(found: list[tuple[str, str, dict[str, str], Part]], complain: Complain) -> list[Mention]:
    """Put the parts ``name[1/2]`` and ``name[2/2]`` together."""
    mentions: list[Mention] = []
    waiting: dict[str, tuple[int, list[Part]]] = {}
    for name, label, attributes, part in found:
        match = _PART.fullmatch(name)
        if match is None:
            mentions.append(Mention(label, (part,), None, attributes))
            continue
        bare, k, n = match[1], int(match[2]), int(match[3])
        if k == 1:
            waiting[bare] = (len(mentions), [part])
            mentions.append(Mention(label, (part,), None, {**attributes, "GRP": bare}))
        elif bare not in waiting or len(waiting[bare][1]) != k - 1:
            complain(part[0], f"part {k} of {n} of {bare} does not follow part {k - 1}")
            continue
        else:
            waiting[bare][1].append(part)
        if k == n:
            place, parts = waiting.pop(bare)
            first = mentions[place]
            try:
                mentions[place] = Mention(first.label, tuple(parts), None, first.attributes)
            except ValueError as error:
                complain(part[0], str(error))
    for bare, (place, parts) in waiting.items():
        complain(parts[-1][0], f"{bare} has further parts that do not come")
        mentions[place] = Mention(mentions[place].label, tuple(parts[:1]), None, mentions[place].attributes)
    return mentions


def _check(values: Sequence[str]) -> None:
    for place, value in enumerate(values):
        last = place == len(FIELDS) - 1
        if re.search(r"[()|\s]", value) or ("-" in value and not last) or (place == 1 and not value):
            raise CorpusError(
                f"{value!r} cannot stand in bracket notation: no white space, hyphen, bracket, | or empty label"
            )
