"""The segmental kernel and its graph equal enumeration of all mention sets, with and without masks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import agree, finite_differences, log_z, segment_rows, segmental_structures
from spanloom._native import Lattices, Likelihood, SegmentalStructure, SegmentLayout, SparseRows, Supervision
from strategies import lattices

MENTION, WIDTH = 7, 8
SPREADS = st.sampled_from([0.1, 1.0, 5.0, 50.0, 1000.0])


@st.composite
def cases(draw, most=4):
    """A sentence with few enough candidates that all sets of them can be listed, and scores."""
    n = draw(st.integers(0, most))
    layout = SegmentLayout(draw(st.integers(1, 3)), draw(st.integers(1, 3)), inside=draw(st.booleans()), gaps=True)
    spans, native = draw(lattices(n, most, layout))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    scores = random.normal(size=(native.rows, WIDTH)) * draw(SPREADS)
    relations = random.normal(size=3) * draw(SPREADS)
    if draw(st.booleans()):
        scores[random.random(scores.shape) < 0.1] = -np.inf
    return n, spans, segment_rows(spans, n, layout), native, scores, relations, random


@settings(max_examples=200, deadline=None)
@given(cases())
def test_kernel_and_engine_equal_enumeration(case):
    """log Z, expected uses of every cell, the best set, the number of sets: one derivation for each."""
    n, spans, rows, native, scores, relations, _ = case
    listed = segmental_structures(spans, n, rows, scores, relations)
    assert len(listed) == 2 ** len(spans)
    everything = np.ones((len(spans), WIDTH), np.uint8)
    structure = SegmentalStructure(native)
    agree(structure, scores, relations, everything, listed)
    plain, masked = (structure.expectations(scores.ravel(), relations, mask=m) for m in (None, everything.ravel()))
    assert plain[0] == masked[0]
    np.testing.assert_array_equal(plain[1], masked[1])


@settings(max_examples=200, deadline=None)
@given(cases(), st.sampled_from([0.1, 0.4]))
def test_masks_say_what_may_not_and_what_must_be(case, share):
    """0: in no set, 2: in every set, told by the column of mentions alone."""
    n, spans, rows, native, scores, relations, random = case
    mask = random.integers(0, 3, size=(len(spans), WIDTH)).astype(np.uint8)
    mask[:, MENTION] = random.choice([0, 1, 2], p=[share, 1 - 2 * share, share], size=len(spans))
    own = {rows[span][-1]: s for s, span in enumerate(spans)}
    left = []
    for score, cells in segmental_structures(spans, n, rows, scores, relations):
        chosen = {own[c // WIDTH] for c in cells if c % WIDTH == MENTION and c // WIDTH in own}
        if all((m in chosen) == (mask[m, MENTION] == 2) for m in range(len(spans)) if mask[m, MENTION] != 1):
            left.append((score, cells))
    agree(SegmentalStructure(native), scores, relations, mask, left)


@settings(max_examples=40, deadline=None)
@given(st.integers(5, 60), st.integers(1, 12), st.integers(0, 2**32), st.sampled_from([0.5, 3.0, 15.0]))
def test_long_sentences_equal_the_engine(n, longest, seed, spread):
    """Where sets cannot be listed: sums over many gaps, states that come to nothing, long mentions."""
    random = np.random.default_rng(seed)
    native = Lattices.up_to(np.array([n]), longest, SegmentLayout(2, 2, gaps=True))
    structure = SegmentalStructure(native)
    scores, relations = random.normal(size=native.rows * WIDTH) * spread, random.normal(size=3)
    graph, everything = structure.graph(native.rows), np.concatenate([scores, relations])
    value, expected = structure.expectations(scores, relations)
    log_z_, marginals = graph.expectations(everything)
    assert value == pytest.approx(log_z_, rel=1e-10)
    np.testing.assert_allclose(expected, marginals, atol=1e-8)
    (top, _), *_ = graph.k_best(everything, 1)
    assert structure.best(scores, relations)[0] == pytest.approx(top, rel=1e-10)


@settings(max_examples=30, deadline=None)
@given(cases(most=3), st.data())
def test_gradient_equals_differences_of_the_enumerated_likelihood(case, data):
    """Of weights of features that fire at several rows, and of relations."""
    n, spans, rows, native, _, _, random = case
    listed = segmental_structures(spans, n, rows, np.zeros((native.rows, WIDTH)), np.zeros(3))
    _, gold = data.draw(st.sampled_from(listed))
    table = random.integers(0, 2, size=(native.rows, 3))
    row_ptr = np.concatenate([[0], np.cumsum(table.sum(axis=1))]).astype(np.int64)
    ids = np.nonzero(table)[1].astype(np.uint32)
    features = SparseRows(np.array([0, native.rows], np.int64), row_ptr, ids, 3)
    known = Supervision(np.array([0, len(gold)], np.int64), np.array(gold, np.int32))
    likelihood = Likelihood(features, SegmentalStructure(native), known, merge=False)

    def loss(weights):
        scores = table @ weights[: 3 * WIDTH].reshape(3, WIDTH)
        relations = weights[3 * WIDTH :]
        flat = np.concatenate([scores.ravel(), relations])
        return log_z(segmental_structures(spans, n, rows, scores, relations)) - sum(flat[c] for c in gold)

    weights = random.normal(size=3 * WIDTH + 3)
    assert likelihood.size == len(weights)
    value, gradient = likelihood.evaluate(weights)
    assert value == pytest.approx(loss(weights), abs=1e-5)
    np.testing.assert_allclose(gradient, finite_differences(loss, weights, 1e-4), atol=1e-4)


def test_independent_starts_are_the_hypergraph_of_wang_and_lu():
    """With X, E, C alike, S, ES, CS alike, and no relations across starts, log Z is a sum over starts, of each
    log(exp(none) + exp(start) · chain), where the chain from the last end back is exp(m) + (1 + exp(m + shorter)) ·
    rest for its I → X, and I → I or I → (I, X)."""
    n, longest = 6, 4
    native = Lattices.up_to(np.array([n]), longest, SegmentLayout(gaps=True))
    random = np.random.default_rng(5)
    scores = random.normal(size=(native.rows, WIDTH))
    scores[: n + 1, [2, 4]] = scores[: n + 1, [0]]
    scores[: n + 1, [3, 5]] = scores[: n + 1, [1]]
    scores[:, 6] = 0
    shorter = -0.7
    total = scores[n, 0]
    for i in range(n):
        rest = 0.0
        for j in range(min(n, i + longest), i, -1):
            m = scores[native.rows_of(0, i, j), 7].sum()
            rest = np.exp(m) + (1 + np.exp(m + shorter)) * rest
        total += np.log(np.exp(scores[i, 0]) + np.exp(scores[i, 1]) * rest)
    value, _ = SegmentalStructure(native).expectations(scores.ravel(), np.array([shorter, 0.0, 0.0]))
    assert value == pytest.approx(total)


def test_what_does_not_fit_is_named():
    """Lattices without gaps, other numbers of global scores."""
    with pytest.raises(ValueError, match="no rows for gaps"):
        SegmentalStructure(Lattices.up_to(np.array([3]), 2, SegmentLayout()))
    native = Lattices.up_to(np.array([3]), 2, SegmentLayout(gaps=True))
    with pytest.raises(ValueError, match="2 global scores, not 3"):
        SegmentalStructure(native).expectations(np.zeros(native.rows * WIDTH), np.zeros(2))
