"""The dense chain kernel equals enumeration and the general engine."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import chain_structures, expected_cells, log_z
from spanloom._native import ChainStructure, Decoder, GraphStructure, SparseRows


def full(labels: int) -> ChainStructure:
    """Every label sequence is legal."""
    return ChainStructure(labels, np.ones(labels**2, np.uint8), np.ones(labels, np.uint8), np.ones(labels, np.uint8))


@st.composite
def chains(draw):
    """A random structure with random legality, and random scores."""
    labels, n = draw(st.integers(1, 4)), draw(st.integers(0, 4))
    if draw(st.booleans()):
        labels = draw(st.integers(7, 10))  # around the width of a vector
        n = min(n, 3)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0.5, 0.8, 1.0]))
    allowed = random.random((labels, labels)) < share
    start, end = random.random(labels) < share, random.random(labels) < share
    spread = draw(st.sampled_from([0.1, 3.0, 50.0, 2000.0]))
    return allowed, start, end, random.normal(size=(n, labels)) * spread, random.normal(size=(labels, labels)) * spread


@settings(max_examples=200, deadline=None)
@given(chains())
def test_kernel_and_engine_equal_enumeration(case):
    """log Z, marginals of labels and pairs, the best sequence and the count, also where scores span thousands."""
    allowed, start, end, scores, transitions = case
    n, labels = scores.shape
    structure = ChainStructure(labels, allowed.astype(np.uint8).ravel(), start.astype(np.uint8), end.astype(np.uint8))
    listed = chain_structures(
        scores, transitions, lambda a, b: bool(allowed[a, b]), lambda y: bool(start[y]), lambda y: bool(end[y])
    )
    graph = structure.graph(n)
    assert graph.count() == len(listed)
    value, expected = structure.expectations(scores.ravel(), transitions.ravel())
    score, cells = structure.best(scores.ravel(), transitions.ravel())
    if not listed:
        assert value == score == -math.inf
        return
    tolerance = 1e-9 * max(1.0, abs(log_z(listed)))
    assert value == pytest.approx(log_z(listed), abs=tolerance)
    np.testing.assert_allclose(expected, expected_cells(listed, n * labels + labels**2), atol=1e-8)
    assert score == pytest.approx(max(s for s, _ in listed), abs=tolerance)
    assert cells.tolist() == sorted(cells.tolist())
    assert len(cells) == n


def test_the_number_of_labelings_is_labels_to_the_length():
    """Without constraints there are L^n label sequences (the closed form)."""
    for labels, n in [(1, 5), (2, 10), (3, 0), (5, 6)]:
        assert full(labels).graph(n).count() == labels**n


def test_textbook_example():
    """Two labels, two tokens: Z = Σ exp(score) of four sequences, by hand."""
    scores = np.log([[1.0, 2.0], [3.0, 4.0]])
    transitions = np.log([[1.0, 2.0], [5.0, 1.0]])
    # 00: 1·1·3 = 3, 01: 1·2·4 = 8, 10: 2·5·3 = 30, 11: 2·1·4 = 8; Z = 49
    value, expected = full(2).expectations(scores.ravel(), transitions.ravel())
    assert math.exp(value) == pytest.approx(49)
    np.testing.assert_allclose(expected * 49, [11, 38, 33, 16, 3, 8, 30, 8])
    assert full(2).best(scores.ravel(), transitions.ravel())[1].tolist() == [1, 2]  # labels 1, 0


def test_underflow_goes_to_the_engine():
    """A label that is 800 worse now but the only way on: scaled probabilities alone would lose it."""
    scores = np.array([[0.0, -800.0], [-3000.0, 0.0]])
    transitions = np.array([[0.0, -math.inf], [-math.inf, 0.0]])
    value, expected = full(2).expectations(scores.ravel(), transitions.ravel())
    assert value == -800.0
    np.testing.assert_allclose(expected[:4], [0, 1, 0, 1])


@pytest.mark.parametrize("case", ["a label that is never allowed", "two unlikely steps"])
def test_pairs_are_finite_where_two_small_numbers_meet(case):
    """Each sum is large enough by itself, and their product is not: transitions must get their share all the same."""
    if case == "two unlikely steps":
        labels, n = 4, 4
        legal = np.zeros((labels, labels), np.uint8)
        legal[0, 1] = legal[1, 2] = legal[2, 3] = 1
        transitions = np.zeros((labels, labels))
        transitions[0, 1] = transitions[2, 3] = -370.0
        starts, scores = np.array([1, 0, 0, 0], np.uint8), np.zeros((n, labels))
    else:
        labels, n = 3, 4
        legal = np.ones((labels, labels), np.uint8)
        legal[:, 2] = 0
        transitions, scores = np.zeros((labels, labels)), np.zeros((n, labels))
        starts = np.array([1, 1, 0], np.uint8)
        scores[1, 2] = scores[3, 2] = 370.0
    structure = ChainStructure(labels, legal.ravel(), starts, np.ones(labels, np.uint8))
    value, expected = structure.expectations(scores.ravel(), transitions.ravel())
    other, marginals = structure.graph(n).expectations(np.concatenate([scores.ravel(), transitions.ravel()]))
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(expected, marginals, atol=1e-12)


def test_forbidden_scores_get_no_probability():
    """A score of -inf at a site forbids the label there, exactly."""
    scores = np.zeros((3, 2))
    scores[1, 0] = -math.inf
    value, expected = full(2).expectations(scores.ravel(), np.zeros(4))
    assert value == pytest.approx(math.log(4))
    assert expected[2] == 0.0
    assert expected[3] == pytest.approx(1.0)


@pytest.mark.parametrize("labels", [3, 7, 13, 21, 30, 37])
@pytest.mark.parametrize("spread", [30.0, 250.0])
def test_long_sentences_with_large_scores_equal_the_engine(labels, spread):
    """Scaled sums of every width of rows, where neighbouring scores lie hundreds apart and few neighbours are legal."""
    random = np.random.default_rng(labels)
    n = 300
    legal = random.random((labels, labels)) < 0.5
    np.fill_diagonal(legal, True)
    structure = ChainStructure(
        labels, legal.astype(np.uint8).ravel(), np.ones(labels, np.uint8), np.ones(labels, np.uint8)
    )
    scores, transitions = random.normal(size=(n, labels)) * spread, random.normal(size=(labels, labels)) * 3
    value, expected = structure.expectations(scores.ravel(), transitions.ravel())
    other, marginals = structure.graph(n).expectations(np.concatenate([scores.ravel(), transitions.ravel()]))
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(expected, marginals, atol=1e-9)


def test_ten_thousand_tokens():
    """Long sentences are not truncated, and stay accurate: log Z = n log L for zero scores."""
    n, labels = 10_000, 5
    value, expected = full(labels).expectations(np.zeros(n * labels), np.zeros(labels**2))
    assert value == pytest.approx(n * math.log(labels), rel=1e-12)
    np.testing.assert_allclose(expected[: n * labels], 1 / labels)
    assert len(full(labels).best(np.zeros(n * labels), np.zeros(labels**2))[1]) == n


@pytest.mark.parametrize("labels", [4, 5, 8, 12, 16, 18, 24, 30, 32, 33, 41])
def test_many_labels_equal_the_engine(labels):
    """Every way to cut a row of labels into vectors: log Z, marginals, the best sequence."""
    random = np.random.default_rng(labels)
    n = 6
    scores, transitions = random.normal(size=(n, labels)) * 3, random.normal(size=(labels, labels)) * 3
    everything = np.concatenate([scores.ravel(), transitions.ravel()])
    graph = full(labels).graph(n)
    value, expected = full(labels).expectations(scores.ravel(), transitions.ravel())
    other, marginals = graph.expectations(everything)
    assert value == pytest.approx(other, rel=1e-12)
    np.testing.assert_allclose(expected, marginals, atol=1e-12)
    score, cells = full(labels).best(scores.ravel(), transitions.ravel())
    best, edges = graph.best(everything)
    assert score == pytest.approx(best, rel=1e-12)
    assert cells.tolist() == sorted(c for c in graph.cells_of(edges).tolist() if c < n * labels)


def test_a_structure_by_graphs_decodes_like_the_kernel():
    """The same chain, given as explicit graphs, finds the same structures."""
    random = np.random.default_rng(3)
    chain, graphs = full(3), GraphStructure(3, 9)
    for n in range(6):
        graphs.set(n, chain.graph(n))
    rows = SparseRows(np.array([0, 5, 5, 8]), np.arange(9), np.arange(8, dtype=np.uint32), 8)
    weights, pairs = random.normal(size=24).astype(np.float32), random.normal(size=9)
    found = [Decoder(s, weights, pairs).best(rows, 1)[0] for s in (chain, graphs)]
    assert found[0][0].tolist() == found[1][0].tolist() == [0, 5, 5, 8]
    assert found[0][1].tolist() == found[1][1].tolist()


def test_missing_graphs_and_bad_shapes_are_refused():
    """What does not fit is said with its numbers."""
    with pytest.raises(ValueError, match="no graph was given for 2 sites"):
        GraphStructure(1, 0).graph(2)
    with pytest.raises(ValueError, match="needs 6 cells"):
        GraphStructure(3, 0).set(2, full(3).graph(2))
    with pytest.raises(ValueError, match="2 labels need 4 pairs"):
        ChainStructure(2, np.ones(3, np.uint8), np.ones(2, np.uint8), np.ones(2, np.uint8))
    with pytest.raises(ValueError, match="5 scores are not a whole number of rows of 2"):
        full(2).best(np.zeros(5), np.zeros(4))
    with pytest.raises(ValueError, match="3 global scores, not 4"):
        full(2).best(np.zeros(4), np.zeros(3))


def test_decoders_refuse_what_does_not_fit():
    """Too many features, weights that are not finite or not a whole table."""
    rows = SparseRows(np.array([0, 1]), np.array([0, 1]), np.array([4], np.uint32), 5)
    with pytest.raises(ValueError, match="the rows have 5 features, the weights 2"):
        Decoder(full(2), np.zeros(4, np.float32), np.zeros(4)).best(rows)
    with pytest.raises(ValueError, match="not finite"):
        Decoder(full(2), np.array([np.nan, 0], np.float32), np.zeros(4))
    with pytest.raises(ValueError, match="3 weights do not fit 2 columns"):
        Decoder(full(2), np.zeros(3, np.float32), np.zeros(4))
