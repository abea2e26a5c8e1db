"""The mention hypergraph as a distribution over mention sets.

The hypergraph of Lu & Roth (2015) unfolds the node I of a token once for every way to reach it, and its Z also sums
unfoldings that choose differently in each: "spurious structures", which stand for no mention set (Muis & Lu 2017,
theorem 3.1). The unfoldings that choose alike are the mention sets, one each, with the score that training gives them:

    score(y) = Σ_k start or none of token k + Σ_k r_k · (goes on, ends, or both at token k)

where r_k counts how often I of token k is reached: r_k = r_{k-1} [something goes on to k] + [a mention starts at k].
This is a chain over gaps whose columns are a separator and the count before it. Here it is normalised over mention
sets alone, so that the best set is the one that the decoder finds. Counts are followed up to a bound, which is raised
until nothing changes.
"""

from __future__ import annotations

import itertools

import numpy as np

from spanloom._native import ChainStructure
from spanloom._native import Trellis as NativeTrellis
from spanloom.base.arrays import Floats
from spanloom.inference.readings import separator_reading
from spanloom.inference.trellis import Trellis
from spanloom.schemes.hypergraph import BEGIN, GO_ON, NONE, SPLIT, STOP
from spanloom.schemes.separators import CONTINUE, END, START

DEEPEST = 32
"""Counts above this are left out."""
UNCHANGED = 1e-12


def unfolded_trellis(scores: Floats, type_: str) -> Trellis:
    """Return the distribution over the mention sets of one type for scores ``[token, choice]`` of the hypergraph."""
    table = np.asarray(scores, np.float64).reshape(-1, 5)
    n = len(table)
    depth, made = min(n, 4), None
    while True:
        states = [(y, r) for y in range(8) for r in range(depth + 1) if _possible(y, r, depth)]
        trellis = NativeTrellis(_chain(states), _gap_scores(table, states).ravel(), np.zeros(len(states) ** 2))
        settled = made is not None and abs(trellis.log_z - made) <= UNCHANGED * max(1.0, abs(trellis.log_z))
        if settled or depth in (n, DEEPEST):
            reading = separator_reading(type_, [y for y, _ in states])
            return Trellis(trellis, reading, exact=settled or depth == n)
        depth, made = min(2 * depth, n, DEEPEST), trellis.log_z


def _possible(y: int, before: int, depth: int) -> bool:
    """Whether a separator can follow this count, and the count after it is not too large."""
    return bool(y & (END | CONTINUE)) == (before > 0) and _after(y, before) <= depth


def _after(y: int, before: int) -> int:
    return (before if y & CONTINUE else 0) + bool(y & START)


def _chain(states: list[tuple[int, int]]) -> ChainStructure:
    allowed = np.array([_after(*a) == b[1] for a, b in itertools.product(states, states)], np.uint8)
    start = np.array([before == 0 for _, before in states], np.uint8)
    end = np.array([_after(*state) == 0 for state in states], np.uint8)
    return ChainStructure(len(states), allowed, start, end)


def _gap_scores(table: Floats, states: list[tuple[int, int]]) -> Floats:
    """The score of each state at each gap: what its separator says of the token after it, and of the one before."""
    scores = np.zeros((len(table) + 1, len(states)))
    choice = {CONTINUE: GO_ON, END: STOP, CONTINUE | END: SPLIT}
    for i, (y, before) in enumerate(states):
        scores[:-1, i] += table[:, BEGIN if y & START else NONE]
        if before:
            scores[1:, i] += before * table[:, choice[y & (END | CONTINUE)]]
    return scores
