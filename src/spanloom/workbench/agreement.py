"""Agreement of two annotators on mentions that may nest, cross or overlap: F1, and γ (Mathet et al. 2015).

γ aligns the mentions of both so that the disorder is least, and compares it with what chance would give:

    d(u, v)  = ((|start_u − start_v| + |end_u − end_v|) / (length_u + length_v))² + [label_u ≠ label_v]
    disorder = Σ over pairs d(u, v) + number of mentions without a partner
    γ        = 1 − disorder / mean disorder of shuffled annotations

A discontinuous mention counts from its first to its last token. Shuffled annotations are those of either annotator,
shifted round a document by a random number of tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from spanloom.corpus.mention import Mention

EMPTY = 1.0
"""What a mention without a partner costs."""
SAMPLES = 30


class Unit(NamedTuple):
    """A mention from its first to its last token."""

    start: int
    end: int
    label: str


def units(mentions: Iterable[Mention]) -> list[Unit]:
    """Return mentions as units, in order."""
    return sorted(Unit(m.start, m.end, m.label) for m in mentions)


def dissimilarity(u: Unit, v: Unit) -> float:
    """Return how unlike two units are; 0 if they are the same.

    Examples
    --------
    >>> dissimilarity(Unit(0, 2, "A"), Unit(0, 4, "B"))  # (2 / 6)² + 1
    1.1111111111111112
    """
    apart = abs(u.start - v.start) + abs(u.end - v.end)
    return float((apart / (u.end - u.start + v.end - v.start)) ** 2 * EMPTY + EMPTY * (u.label != v.label))


def disorder(one: Sequence[Unit], other: Sequence[Unit]) -> float:
    """Return the disorder of the best alignment.

    It is the cheapest matching of a graph in which every unit also has a partner of its own that stands for none.

    Examples
    --------
    >>> disorder([Unit(0, 2, "A"), Unit(5, 6, "B")], [Unit(0, 2, "A")])
    1.0
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n, m = len(one), len(other)
    if not n or not m:
        return EMPTY * (n + m)
    rows, columns, costs = list(range(n)), [m + i for i in range(n)], [EMPTY] * n
    rows += [n + j for j in range(m)]
    columns += list(range(m))
    costs += [EMPTY] * m
    for i, j in _near(one, other):
        cost = dissimilarity(one[i], other[j])
        if cost < 2 * EMPTY:  # else both are better off alone
            rows += [i, n + j]
            columns += [j, m + i]
            costs += [cost, 0.0]
    # Every matching has n + m edges; one more for each keeps costs above 0, which a sparse matrix needs.
    graph = coo_array((np.array(costs) + 1.0, (rows, columns)), shape=(n + m, n + m)).tocsr()
    chosen = min_weight_full_bipartite_matching(graph)
    return float(graph[chosen].sum()) - (n + m)


def _near(one: Sequence[Unit], other: Sequence[Unit]) -> Iterable[tuple[int, int]]:
    """Yield pairs that may be worth aligning: the positional part alone is below 2, so borders are not far apart."""
    longest = max(v.end - v.start for v in other)
    starts = np.array([v.start for v in other])  # ascending
    for i, u in enumerate(one):
        # |start_u − start_v| ≤ √2 · (length_u + length_v)
        reach = 1.5 * (u.end - u.start + longest)
        low, high = np.searchsorted(starts, [u.start - reach, u.start + reach + 1])
        for j in range(int(low), int(high)):
            yield i, j


def gamma(
    documents: Sequence[tuple[Sequence[Unit], Sequence[Unit], int]], samples: int = SAMPLES, seed: int = 1
) -> float | None:
    """Return γ over documents; None if there is nothing to compare.

    Parameters
    ----------
    documents
        For each the units of both annotators, and its number of tokens.
    samples
        How many shuffled annotations are drawn for the expected disorder.
    """
    random = np.random.default_rng(seed)
    observed = sum(disorder(one, other) for one, other, _ in documents)
    expected = 0.0
    for _ in range(samples):
        for one, other, length in documents:
            if one or other:
                both = (one, other)
                drawn = [_shifted(both[int(random.integers(2))], int(random.integers(length)), length) for _ in both]
                expected += disorder(*drawn) / samples
    return None if expected == 0 else 1.0 - observed / expected


def _shifted(some: Sequence[Unit], by: int, length: int) -> list[Unit]:
    moved = ((u.start + by) % length - u.start for u in some)
    return sorted(Unit(u.start + step, u.end + step, u.label) for u, step in zip(some, moved, strict=True))


def agreement(pairs: Sequence[tuple[Iterable[Mention], Iterable[Mention], int]]) -> dict[str, Any]:
    """Return F1, F1 by label and γ of documents that both annotators have finished.

    Parameters
    ----------
    pairs
        For each document the mentions of both, and its number of tokens.
    """
    from spanloom.evaluation.score import by_label, micro

    one, other = [list(a) for a, _, _ in pairs], [list(b) for _, b, _ in pairs]
    labels = {
        name: {"f1": score.f1, "one": score.gold, "other": score.predicted}
        for name, score in by_label(one, other).items()
    }
    return {
        "f1": micro(one, other).f1,
        "labels": labels,
        "gamma": gamma([(units(a), units(b), length) for a, b, length in pairs]),
    }
