"""Mention separators (Muis & Lu 2017): mentions of one type as one symbol per gap between tokens, and back.

A sentence of n tokens has n + 1 gaps; gap g lies before token g, and gap n after the last one. At each gap three things
may hold: a mention starts at the next token (S), one ends at the previous token (E), one continues over the gap (C).
A separator is the set of those that hold, ``S + 2 E + 4 C``; the eight are named in ``SEPARATORS``.

Every mention set has exactly one separator sequence. A sequence may stand for several sets; it is read as *nested*:

- E without C closes every open mention;
- E with C closes the mention that was opened last; if only one is open, it is closed here and goes on as well
  (one start, several ends);
- S opens a mention.

So nested mentions come back as they were, but for three kinds that cannot be told from others (``LOST``):

crossing
    mentions of one type that cross come back as nested ones;
common end
    of several that end where another one goes on, only the one that was opened last is found: of (0, 2), (0, 3) and
    (1, 2) the first is lost;
several ends
    of a start with several ends within a mention that began before, only the first end is found: of (0, 4), (1, 2) and
    (1, 3) the last is lost, and (0, 3) is invented.

What is lost may take others along: of (0, 4), (0, 5), (1, 3) and (2, 3), the third is lost by a common end, its start
takes the next end, and (0, 4) is lost, too. ``read_back`` tells what is lost, why, and what is invented.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spanloom.corpus.mention import Part

SEPARATORS = ("X", "S", "E", "ES", "C", "CS", "EC", "ECS")
START, END, CONTINUE = 1, 2, 4
LOST = ("crossing", "common end", "several ends", "consequence")
"""Why a mention does not come back; the last one: another is lost, and what is read in its place took a border."""


def encode_separators(spans: Sequence[Part], n: int) -> npt.NDArray[np.int32]:
    """Return the separator of each of the ``n + 1`` gaps for half-open token spans of one type.

    Examples
    --------
    The human TCF-1 protein, with "human TCF-1 protein" and "TCF-1":

    >>> [SEPARATORS[s] for s in encode_separators([(1, 4), (2, 3)], 4)]
    ['X', 'S', 'CS', 'EC', 'E']
    """
    gaps = np.zeros(n + 1, np.int32)
    for start, end in spans:
        gaps[start] |= START
        gaps[end] |= END
        gaps[start + 1 : end] |= CONTINUE
    return gaps


def decode_separators(gaps: Sequence[int] | npt.NDArray[np.integer]) -> list[Part]:
    """Read separators as nested spans, in the order in which they end; of those, the outermost last.

    Examples
    --------
    >>> decode_separators([SEPARATORS.index(s) for s in ("X", "S", "CS", "EC", "E")])
    [(2, 3), (1, 4)]
    >>> decode_separators([SEPARATORS.index(s) for s in ("S", "EC", "C", "E")])
    [(0, 1), (0, 3)]
    """
    return [(start, end) for _, start, end in read_separators(np.asarray(gaps), [0])]


def read_separators(
    gaps: npt.NDArray[np.integer], first: Sequence[int] | npt.NDArray[np.integer]
) -> Iterator[tuple[int, int, int]]:
    """Read the separators of many sentences, one after the other in ``gaps``, as (sentence, start, end).

    ``first[s]`` is where those of sentence ``s`` begin. Only gaps where something starts or ends cost time.
    """
    events = np.flatnonzero(gaps & (START | END))
    numbers = np.searchsorted(first, events, side="right") - 1
    places = events - np.asarray(first)[numbers]
    open_starts: list[int] = []
    for number, gap, what in zip(numbers.tolist(), places.tolist(), gaps[events].tolist(), strict=True):
        if what & END:
            if not what & CONTINUE:
                while open_starts:
                    yield number, open_starts.pop(), gap
            elif len(open_starts) > 1:
                yield number, open_starts.pop(), gap
            elif open_starts:
                yield number, open_starts[0], gap
        if what & START:
            open_starts.append(gap)


@dataclass(frozen=True)
class Difference:
    """What differs between spans of one type and what is read from their separators.

    Attributes
    ----------
    lost
        Spans that do not come back, each with the reason, one of ``LOST``.
    invented
        Spans that come back and were not there.
    """

    lost: dict[Part, str]
    invented: list[Part]


def read_back(spans: Sequence[Part], n: int) -> Difference:
    """Return what is lost and what is invented when half-open spans of one type are written and read.

    Examples
    --------
    >>> read_back([(0, 4), (1, 2), (1, 3)], 4)
    Difference(lost={(1, 3): 'several ends'}, invented=[(0, 3)])
    """
    back = set(decode_separators(encode_separators(spans, n)))
    given = set(spans)
    return Difference({span: _reason(span, given) for span in sorted(given - back)}, sorted(back - given))


def _reason(span: Part, given: set[Part]) -> str:
    start, end = span
    if any(_cross(span, other) for other in given):
        return LOST[0]
    if any(a > start and b == end for a, b in given) and any(a < end < b for a, b in given):
        return LOST[1]
    if any(a == start and b != end for a, b in given) and any(a < start and b >= end for a, b in given):
        return LOST[2]
    return LOST[3]


def _cross(one: Part, other: Part) -> bool:
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def inside_left(separator: int) -> bool:
    """Whether the token before the gap is part of a mention."""
    return bool(separator & (END | CONTINUE))


def inside_right(separator: int) -> bool:
    """Whether the token after the gap is part of a mention."""
    return bool(separator & (START | CONTINUE))
