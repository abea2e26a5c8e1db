"""EDGE and STATE equal enumeration of separator sequences; the hypergraph exceeds it by the spurious structures."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import Structure, expected_cells, hypergraph_structures, log_z, mention_hyperpaths, separator_sequences
from spanloom._native import EdgeStructure, HypergraphStructure
from spanloom.models.state import StateComponent
from spanloom.schemes import SEPARATORS
from spanloom.schemes.hypergraph import EDGES

CASES = [frozenset(name) - {"X"} for name in SEPARATORS]
SEQUENCES = {n: [[CASES.index(c) for c in y] for y in separator_sequences(n)] for n in range(5)}


def listed(scores: np.ndarray, transitions: np.ndarray | None = None) -> list[Structure]:
    """Every separator sequence with its score and cells."""
    n = len(scores) - 1
    found = []
    for y in SEQUENCES[n]:
        total = sum(scores[g, s] for g, s in enumerate(y))
        cells = [8 * g + s for g, s in enumerate(y)]
        if transitions is not None:
            total += sum(transitions[a, b] for a, b in itertools.pairwise(y))
            cells += [8 * (n + 1) + 8 * a + b for a, b in itertools.pairwise(y)]
        found.append((float(total), tuple(cells)))
    return found


@st.composite
def tables(draw):
    n = draw(st.integers(0, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([0.1, 3.0, 50.0, 2000.0]))
    return random.normal(size=(n + 1, 8)) * spread, random.normal(size=(8, 8)) * spread


def check(structure, scores, transitions, structures):
    size = scores.size + transitions.size
    value, expected = structure.expectations(scores.ravel(), transitions.ravel())
    tolerance = 1e-9 * max(1.0, abs(log_z(structures)))
    assert value == pytest.approx(log_z(structures), abs=tolerance)
    np.testing.assert_allclose(expected, expected_cells(structures, size), atol=1e-8)
    score, cells = structure.best(scores.ravel(), transitions.ravel())
    assert score == pytest.approx(max(s for s, _ in structures), abs=tolerance)
    assert scores.ravel()[cells].sum() + _pairs(scores, transitions, cells) == pytest.approx(score, abs=tolerance)
    graph = structure.graph(len(scores))
    assert graph.count() == len(structures)
    everything = np.concatenate([scores.ravel(), transitions.ravel()])
    assert graph.log_partition(everything) == pytest.approx(log_z(structures), abs=tolerance)


def _pairs(scores, transitions, cells) -> float:
    if not transitions.size:
        return 0.0
    y = cells % 8
    return float(transitions[y[:-1], y[1:]].sum())


@settings(max_examples=150, deadline=None)
@given(tables())
def test_edge_equals_enumeration(case):
    """Z, marginals, best and count of EDGE are those of the separator sequences of all mention sets."""
    scores, _ = case
    check(EdgeStructure(), scores, np.zeros(0), listed(scores))


@settings(max_examples=150, deadline=None)
@given(tables())
def test_state_equals_enumeration(case):
    """So are those of STATE, with transition scores; illegal neighbours do not exist."""
    scores, transitions = case
    check(StateComponent("x").structure, scores, transitions, listed(scores, transitions))


@pytest.mark.parametrize("n", range(1, 12))
def test_number_of_edge_paths(n):
    """(1 1) M^(n-1) (1 1)' with M = [[1, 1], [1, 5]]: one edge each but for five from I to I."""
    paths = np.ones(2) @ np.linalg.matrix_power(np.array([[1.0, 1.0], [1.0, 5.0]]), n - 1) @ np.ones(2)
    assert EdgeStructure().graph(n + 1).count() == round(paths)
    assert StateComponent("x").structure.graph(n + 1).count() == round(paths)
    if n <= 4:
        assert len(SEQUENCES[n]) == round(paths)
    if n <= 6:
        assert len(mention_hyperpaths(n)) == round(paths), "hyperpaths are separator sequences"


@pytest.mark.parametrize("spread", [0.01, 4.0, 60.0, 300.0])
@pytest.mark.parametrize("level", [0.0, 500.0, -5000.0])
def test_long_sentences_stay_exact(spread, level):
    """A sentence of 5,000 tokens: the kernel's log Z is the engine's, however large its scores are."""
    scores = level + np.random.default_rng(1).normal(size=(5001, 8)) * spread
    value, expected = EdgeStructure().expectations(scores.ravel(), np.zeros(0))
    exact, exact_expected = EdgeStructure().graph(5001).expectations(scores.ravel())
    assert value == pytest.approx(exact, rel=1e-12)
    np.testing.assert_allclose(expected, exact_expected, atol=1e-9)


def unfolded(path: tuple[tuple[str, ...], ...]) -> list[int]:
    """The cells of a hyperpath as inference unfolds it: I of a token once for T and once for I before it, if so."""
    cells = []
    reached = 0
    for k, choice in enumerate(path):
        cells.append(5 * k + EDGES.index(choice[0]))
        going_on = k > 0 and len(path[k - 1]) == 2 and path[k - 1][1] != "I→X"
        reached = (reached if going_on else 0) + (choice[0] == "T→I")
        if len(choice) == 2:
            cells += [5 * k + EDGES.index(choice[1])] * reached
    return cells


def hypergraph_nodes(n: int) -> list[list[tuple[list[int], list[int]]]]:
    """A, T and I of each token and X, from the paper's list of hyperedges, numbered with tails first."""
    cell = lambda k, name: 5 * k + EDGES.index(name)  # noqa: E731
    x, nodes = 0, [[([], [])]]
    after, inside = x, None
    for k in reversed(range(n)):
        edges = [([x], [cell(k, "I→X")])]
        if inside is not None:
            edges += [([inside], [cell(k, "I→I")]), ([inside, x], [cell(k, "I→(I,X)")])]
        nodes.append(edges)
        inside = len(nodes) - 1
        nodes.append([([inside], [cell(k, "T→I")]), ([x], [cell(k, "T→X")])])
        nodes.append([([after, len(nodes) - 1], [])])
        after = len(nodes) - 1
    return nodes


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2**32), st.sampled_from([0.1, 2.0, 30.0]))
def test_hypergraph_sums_hyperpaths_and_spurious_structures(n, seed, spread):
    """Theorem 3.1: Z' is the sum over all unfoldings; hyperpaths are among them, the rest is spurious."""
    scores = np.random.default_rng(seed).normal(size=n * 5) * spread
    everything = hypergraph_structures(hypergraph_nodes(n), scores)
    paths = [tuple(sorted(unfolded(path))) for path in mention_hyperpaths(n)]
    assert len(set(paths)) == len(paths)
    true = [(float(scores[list(cells)].sum()), cells) for cells in paths]
    listed_cells = [tuple(sorted(cells)) for _, cells in everything]
    rest = [(score, cells) for score, cells in everything if tuple(sorted(cells)) not in set(paths)]
    assert set(paths) <= set(listed_cells)
    value, expected = HypergraphStructure().expectations(scores, np.zeros(0))
    tolerance = 1e-9 * max(1.0, abs(value))
    assert value == pytest.approx(log_z(everything), abs=tolerance)
    np.testing.assert_allclose(expected, expected_cells(everything, n * 5), atol=1e-8)
    # Each hyperpath is unfolded in exactly one way, so that Z' = Z + spurious.
    assert len(everything) == len(true) + len(rest)
    assert np.logaddexp(log_z(true), log_z(rest)) == pytest.approx(value, abs=tolerance)
    if n >= 3:
        assert rest
        assert value > log_z(true) or log_z(rest) < log_z(true) - 30


def test_smallest_spurious_structure():
    """Two parents of one I that go on differently need three tokens: a start at 0, one at 1, and a choice at 1."""
    assert HypergraphStructure().graph(2).count() == EdgeStructure().graph(3).count() == 8
    assert HypergraphStructure().graph(3).count() > EdgeStructure().graph(4).count()
    assert math.isclose(HypergraphStructure().expectations(np.zeros(10), np.zeros(0))[0], math.log(8))
