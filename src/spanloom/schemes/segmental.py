"""Mentions of one type as decisions: what each gap sees, and what each mention is to those before it.

Gaps are gone through from left to right. ``M`` is the furthest end of all mentions that have started before the gap:
where it lies beyond the gap, the gap is inside of a mention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanloom.corpus.mention import Part

GAPS = ("X", "S", "E", "ES", "C", "CS")
"""At a gap: S if a mention starts there; E if M is the gap, so that the last of those before ends there; C if M lies
beyond it."""
STARTS, ENDS, CONTINUES = 1, 2, 4
NESTED, MENTION = 6, 7
COLUMNS = (*GAPS, "nested", "mention")
SHORTER, COMMON_END, CROSSING = range(3)
GLOBALS = ("shorter", "common end", "crossing")


@dataclass(frozen=True, slots=True)
class Decisions:
    """A mention set as what is decided.

    Attributes
    ----------
    gaps
        The column of each gap, as a number in ``GAPS``.
    mentions
        Start and end, and whether it starts inside of another.
    relations
        Numbers in ``GLOBALS`` with the gap where they are decided: a mention that ends at it is shorter than another
        from the same start; the furthest end from a start is that of a mention around it, or lies beyond it.
    """

    gaps: list[int]
    mentions: list[tuple[Part, bool]]
    relations: list[tuple[int, int]]


def decide(spans: Sequence[Part], n: int) -> Decisions:
    """Return what is decided at the gaps around ``n`` tokens for mentions of one type.

    Examples
    --------
    >>> found = decide([(0, 3), (1, 3), (1, 2)], 4)
    >>> [GAPS[column] for column in found.gaps]
    ['S', 'CS', 'C', 'E', 'X']
    >>> found.mentions
    [((0, 3), False), ((1, 2), True), ((1, 3), True)]
    >>> [(GLOBALS[number], gap) for number, gap in found.relations]
    [('shorter', 2), ('common end', 3)]
    """
    ends: list[list[int]] = [[] for _ in range(n + 1)]
    for start, end in sorted(set(spans)):
        ends[start].append(end)
    found = Decisions([], [], [])
    furthest = -1
    for gap, own in enumerate(ends):
        inside = furthest > gap
        found.gaps.append((STARTS if own else 0) + (CONTINUES if inside else ENDS if furthest == gap else 0))
        found.mentions.extend(((gap, end), inside) for end in own)
        found.relations.extend((SHORTER, end) for end in own[:-1])
        if own:
            if inside and own[-1] >= furthest:
                found.relations.append((COMMON_END if own[-1] == furthest else CROSSING, own[-1]))
            furthest = max(furthest, own[-1])
    return found
