"""The engine equals brute force on random small hypergraphs, for every semiring."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import expected_cells, hypergraph_structures, log_z
from spanloom._native import Graph

CELLS = 6


@st.composite
def hypergraphs(draw):
    """Up to six nodes with up to three edges each, of up to two tails, and scores that may be -inf."""
    nodes = []
    for v in range(draw(st.integers(1, 6))):
        edges = []
        for _ in range(draw(st.integers(0 if v else 1, 3))):
            tails = draw(st.lists(st.integers(0, v - 1), max_size=2)) if v else []
            edges.append((tails, draw(st.lists(st.integers(0, CELLS - 1), max_size=2))))
        nodes.append(edges)
    numbers = st.floats(-5, 5) | st.just(-math.inf)
    return nodes, np.array(draw(st.lists(numbers, min_size=CELLS, max_size=CELLS)))


@settings(max_examples=150, deadline=None)
@given(hypergraphs())
def test_partition_function_marginals_best_and_count_equal_enumeration(case):
    """log Z, expected uses of cells, the best score and the number of structures are those of the list."""
    nodes, scores = case
    graph = Graph.from_edges(nodes, CELLS)
    listed = hypergraph_structures(nodes, scores)
    possible = [s for s in listed if s[0] > -math.inf]

    assert graph.count() == len(listed)
    value, expected = graph.expectations(scores)
    assert graph.log_partition(scores) == value
    if not possible:
        assert value == -math.inf
        assert graph.best(scores)[0] == -math.inf
        assert not expected.any()
        return
    assert value == pytest.approx(log_z(possible), abs=1e-9)
    np.testing.assert_allclose(expected, expected_cells(possible, CELLS), atol=1e-9)
    score, edges = graph.best(scores)
    assert score == pytest.approx(max(s for s, _ in possible), abs=1e-9)
    assert sum(scores[graph.cells_of(edges)]) == pytest.approx(score, abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(hypergraphs(), st.integers(1, 12))
def test_k_best_equals_the_sorted_enumeration(case, k):
    """The k best scores are the k largest of the list, in order, each with distinct edges that add up to it."""
    nodes, scores = case
    graph = Graph.from_edges(nodes, CELLS)
    listed = sorted((s for s, _ in hypergraph_structures(nodes, scores) if s > -math.inf), reverse=True)
    found = graph.k_best(scores, k)
    np.testing.assert_allclose([s for s, _ in found], listed[:k], atol=1e-9)
    assert len({tuple(edges) for _, edges in found}) == len(found)
    for score, edges in found:
        assert sum(scores[graph.cells_of(edges)]) == pytest.approx(score, abs=1e-9)


def test_samples_converge_to_the_distribution():
    """Of 40,000 samples each structure gets its share, within five standard deviations."""
    nodes = [[([], [0]), ([], [1])], [([0], [2]), ([0], [3]), ([], [4])], [([0, 1], [5]), ([1], [])]]
    scores = np.array([0.3, -0.4, 0.8, -1.0, 0.1, 0.5])
    graph = Graph.from_edges(nodes, CELLS)
    listed = hypergraph_structures(nodes, scores)
    total = log_z(listed)
    wanted: Counter[tuple[int, ...]] = Counter()
    for score, cells in listed:
        wanted[tuple(sorted(cells))] += math.exp(score - total)
    n = 40_000
    seen = Counter(tuple(sorted(graph.cells_of(edges).tolist())) for _, edges in graph.sample(scores, n, 7))
    assert set(seen) == set(wanted)
    for cells, p in wanted.items():
        assert abs(seen[cells] / n - p) < 5 * math.sqrt(p * (1 - p) / n)


def test_samples_depend_on_the_seed_alone():
    """The same seed draws the same structures."""
    graph = Graph.from_edges([[([], [c]) for c in range(CELLS)]], CELLS)
    draws = [[e.tolist() for _, e in graph.sample(np.zeros(CELLS), 20, seed)] for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_ties_go_to_the_first_edge():
    """Equal scores are broken by the order in which edges were given."""
    graph = Graph.from_edges([[([], [0]), ([], [1])]], 2)
    assert graph.best(np.zeros(2))[1].tolist() == [0]
    assert [e.tolist() for _, e in graph.k_best(np.zeros(2), 2)] == [[0], [1]]


def test_minus_infinity_is_exact():
    """A forbidden cell has probability zero, not a small one; its structures are not among the k best."""
    graph = Graph.from_edges([[([], [0]), ([], [1])]], 2)
    scores = np.array([-math.inf, -900.0])
    value, expected = graph.expectations(scores)
    assert value == -900.0
    assert expected.tolist() == [0.0, 1.0]
    assert len(graph.k_best(scores, 5)) == 1


def test_sampling_from_nothing_is_an_error():
    """A graph without a possible structure has no sample."""
    with pytest.raises(ValueError, match="no structure"):
        Graph.from_edges([[([], [0])]], 1).sample(np.array([-math.inf]), 1, 0)


@pytest.mark.parametrize(
    ("nodes", "cells", "message"),
    [
        ([], 1, "no node"),
        ([[([0], [])]], 1, "tails must be below their head"),
        ([[([], [3])]], 2, r"cell 3 is not in \[0, 2\)"),
        ([[([], [-1])]], 2, r"cell -1 is not in \[0, 2\)"),
    ],
)
def test_bad_graphs_are_refused_with_their_values(nodes, cells, message):
    """Indices are checked at the border."""
    with pytest.raises(ValueError, match=message):
        Graph.from_edges(nodes, cells)


def test_score_vectors_of_the_wrong_length_are_refused():
    """One score per cell."""
    graph = Graph.from_edges([[([], [0])]], 2)
    with pytest.raises(ValueError, match="3 scores for a graph of 2 cells"):
        graph.log_partition(np.zeros(3))


def test_deep_graphs_do_not_overflow_the_stack():
    """A path of 100,000 nodes is summed, searched and sampled."""
    n = 100_000
    graph = Graph.from_edges([[([v - 1] if v else [], [v % 2]), ([v - 1] if v else [], [0])] for v in range(n)], 2)
    assert graph.log_partition(np.zeros(2)) == pytest.approx(n * math.log(2))
    assert [s for s, _ in graph.k_best(np.zeros(2), 3)] == [0.0, 0.0, 0.0]
    assert len(graph.sample(np.zeros(2), 1, 0)[0][1]) == n
