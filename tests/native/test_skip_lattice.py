"""The lattice of subsets equals the list of all subsets."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spanloom._native import Restrictions, SkipLattice
from tests.models.subset_oracle import Segment, all_segments, restricted, subsets


def random_scores(lattice: SkipLattice, n: int, types: int, max_gap: int, seed: int):
    """Scores of the lattice's cells, and the same as a function of a step for the oracle."""
    random = np.random.default_rng(seed)
    table = random.normal(size=(n + 2, n + 2, types))  # [from + 1, to + 1, type]
    scores = np.full(lattice.cells(n), np.nan)
    for t in range(types):
        for i in range(n):
            scores[lattice.start(n, i) * types + t] = table[0, i + 1, t]
            scores[lattice.end(n, i) * types + t] = table[i + 1, n + 1, t]
            for j in range(max(0, i - max_gap - 1), i):
                scores[lattice.step(n, j, i) * types + t] = table[j + 1, i + 1, t]
    return scores, lambda a, b, t: table[a + 1, b + 1, t]


def assert_same(found: list[Segment], expected: list[Segment]) -> None:
    assert [(t, list(tokens)) for _, t, tokens in found] == [(t, tokens) for _, t, tokens in expected]
    assert [s for s, _, _ in found] == pytest.approx([s for s, _, _ in expected], abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("types", [1, 3])
def test_paths_are_the_subsets(n: int, types: int) -> None:
    """Without a bound there are T · (2ⁿ − 1) paths, with gaps of 0 they are the T · n(n + 1)/2 spans."""
    assert SkipLattice(types, n).graph(n).count() == types * (2**n - 1)
    assert SkipLattice(types, 0).graph(n).count() == types * n * (n + 1) // 2
    for gap in (1, 2, 3):
        assert SkipLattice(types, gap).graph(n).count() == types * len(list(subsets(n, gap)))


@pytest.mark.parametrize(
    ("n", "types", "max_gap", "k"), [(10, 1, 10, 2000), (10, 2, 3, 50), (7, 3, 0, 30), (1, 2, 5, 9)]
)
@pytest.mark.parametrize("seed", range(3))
def test_k_best_are_the_best_of_all_subsets(n: int, types: int, max_gap: int, k: int, seed: int) -> None:
    lattice = SkipLattice(types, max_gap)
    scores, step = random_scores(lattice, n, types, max_gap, seed)
    assert_same(lattice.best(n, scores, k, -math.inf), all_segments(n, types, step, max_gap)[:k])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "restrictions", [["no_overlap"], ["no_embedding"], ["no_self_embedding"], ["no_overlap", "no_embedding"]]
)
@pytest.mark.parametrize(("n", "types", "max_gap"), [(8, 1, 8), (7, 2, 2), (9, 2, 0)])
def test_restrictions_keep_the_better_one(n: int, types: int, max_gap: int, restrictions: list[str], seed: int) -> None:
    """Of segments that may not stand together, the one with the higher score stays: also far down the list."""
    lattice = SkipLattice(types, max_gap)
    scores, step = random_scores(lattice, n, types, max_gap, seed)
    segments = all_segments(n, types, step, max_gap)
    asked = dict.fromkeys(restrictions, True)
    expected = restricted(segments, n, **asked)
    found = lattice.best(n, scores, n, -math.inf, Restrictions(**asked))
    assert_same(found, expected)


@pytest.mark.parametrize("name", ["no_embedding", "no_self_embedding"])
@pytest.mark.parametrize("types", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_subsets_that_hide_behind_thousands_are_found(name: str, types: int, seed: int) -> None:
    """The first eleven tokens are the best subset, and those of the 2¹¹ − 2 within it come before any with token 11."""
    n = 12
    lattice = SkipLattice(types, n)
    scores, step = random_scores(lattice, n, types, n, seed)
    for i in range(1, n - 1):
        scores[lattice.step(n, i - 1, i) * types :][:types] += 10
    scores[lattice.end(n, n - 1) * types :][:types] -= 200

    def far(a: int, b: int, t: int) -> float:
        return step(a, b, t) + (10 if 0 <= a == b - 1 < n - 2 else 0) - (200 if (a, b) == (n - 1, n) else 0)

    expected = restricted(all_segments(n, types, far), 5, **{name: True})
    assert expected[0][2] == list(range(n - 1))
    assert any(n - 1 in tokens for _, _, tokens in expected)
    assert_same(lattice.best(n, scores, 5, -math.inf, Restrictions(**{name: True})), expected)


def test_only_what_scores_above_the_threshold() -> None:
    lattice = SkipLattice(2, 4)
    scores, step = random_scores(lattice, 6, 2, 4, 7)
    segments = all_segments(6, 2, step, 4)
    threshold = (segments[9][0] + segments[10][0]) / 2
    assert_same(lattice.best(6, scores, 1000, threshold), segments[:10])


def test_restricted_search_also_stops_at_the_threshold() -> None:
    lattice = SkipLattice(1, 3)
    scores, step = random_scores(lattice, 7, 1, 3, 3)
    kept = restricted(all_segments(7, 1, step, 3), 7, no_overlap=True, no_embedding=False)
    assert len(kept) >= 2
    threshold = (kept[0][0] + kept[1][0]) / 2
    assert_same(lattice.best(7, scores, 7, threshold, Restrictions(no_overlap=True)), kept[:1])


def test_nothing_of_nothing() -> None:
    assert SkipLattice(1, 3).best(0, np.zeros(0), 5, -math.inf) == []


def test_bad_values_are_errors() -> None:
    with pytest.raises(ValueError, match="at least one type"):
        SkipLattice(0, 3)
    with pytest.raises(ValueError, match="scores for a graph of"):
        SkipLattice(1, 3).best(4, np.zeros(3), 5, 0.0)
