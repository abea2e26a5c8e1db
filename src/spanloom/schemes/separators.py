"""Mention separators (Muis & Lu 2017): mentions of one type as one symbol per gap between tokens, and back.

A sentence of n tokens has n + 1 gaps; gap g lies before token g, and gap n after the last one. At each gap three things
may hold: a mention starts at the next token (S), one ends at the previous token (E), one continues over the gap (C).
A separator is the set of those that hold, ``S + 2 E + 4 C``; the eight are named in ``SEPARATORS``.

Every mention set has exactly one separator sequence. A sequence may stand for several sets; it is read as *nested*:

- E without C closes every open mention;
- E with C closes the mention that was opened last; if only one is open, it is closed here and goes on as well
  (one start, several ends);
- S opens a mention.

So nested mentions come back as they were, but for two cases that no reading could tell from others: mentions of one
type that cross come back as nested ones, and of an inner start with several ends only the first end is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from spanloom.corpus.mention import Part

SEPARATORS = ("X", "S", "E", "ES", "C", "CS", "EC", "ECS")
START, END, CONTINUE = 1, 2, 4


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


def inside_left(separator: int) -> bool:
    """Whether the token before the gap is part of a mention."""
    return bool(separator & (END | CONTINUE))


def inside_right(separator: int) -> bool:
    """Whether the token after the gap is part of a mention."""
    return bool(separator & (START | CONTINUE))
