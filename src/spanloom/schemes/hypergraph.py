"""The mention hypergraph (Lu & Roth 2015): mentions of one type as choices at tokens, and back.

At each token k, T says whether a mention starts there (T→I or T→X). Where a mention covers k, I says what becomes of
the mentions there: all go on (I→I), all end (I→X), or some end and some go on (I→(I,X)).
These are the separators said in another way, and they are read as nested in the same way:
S at the gap before k is T→I at k; E and C at the gap after k are I→X and I→I at k, both at once I→(I,X).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spanloom.schemes.separators import CONTINUE, END, START

EDGES = ("T→I", "T→X", "I→I", "I→X", "I→(I,X)")
BEGIN, NONE, GO_ON, STOP, SPLIT = range(5)

_AFTER = {CONTINUE: GO_ON, END: STOP, CONTINUE | END: SPLIT}
_BEFORE = np.array([START, 0, CONTINUE, END, CONTINUE | END], np.int32)


def encode_hypergraph(gaps: npt.NDArray[np.integer]) -> list[tuple[int, int]]:
    """Return the (token, edge) pairs of the hyperpath that separators stand for, as often as inference unfolds them.

    I of a token that is reached from T and from I before it is unfolded twice, and so is all that follows it.

    Examples
    --------
    >>> from spanloom.schemes import encode_separators
    >>> [(k, EDGES[e]) for k, e in encode_hypergraph(encode_separators([(0, 2), (1, 2)], 2))]
    [(0, 'T→I'), (0, 'I→I'), (1, 'T→I'), (1, 'I→X'), (1, 'I→X')]
    """
    used: list[tuple[int, int]] = []
    reached = 0  # how often I of the token is unfolded
    for k, (before, after) in enumerate(zip(gaps[:-1].tolist(), gaps[1:].tolist(), strict=True)):
        starts = bool(before & START)
        used.append((k, BEGIN if starts else NONE))
        reached = (reached if before & CONTINUE else 0) + starts
        if reached:
            used.extend([(k, _AFTER[after & (END | CONTINUE)])] * reached)
    return used


def decode_hypergraph(tokens: npt.NDArray[np.integer], edges: npt.NDArray[np.integer], n: int) -> npt.NDArray[np.int32]:
    """Return the separators of ``n`` tokens for the (token, edge) pairs of a hyperpath, in any order and number."""
    gaps = np.zeros(n + 1, np.int32)
    after = edges >= GO_ON
    np.bitwise_or.at(gaps, tokens + after, _BEFORE[edges])
    return gaps
