"""Masks: kernels under a mask equal enumeration of the structures that it allows, and the general engine."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import (
    Structure,
    agree,
    chain_structures,
    hypergraph_structures,
    segment_rows,
    segment_structures,
    separator_sequences,
)
from spanloom._native import (
    ChainStructure,
    ChoiceStructure,
    Decoder,
    EdgeStructure,
    GraphStructure,
    HypergraphStructure,
    Lattices,
    SegmentLayout,
    SegmentStructure,
    SpanStructure,
    SparseRows,
)
from spanloom.schemes import SEPARATORS

SEQUENCES = {
    n: [[[frozenset(s) - {"X"} for s in SEPARATORS].index(c) for c in y] for y in separator_sequences(n)]
    for n in range(5)
}
SPREADS = st.sampled_from([0.1, 3.0, 50.0, 800.0, 2000.0])
SHARES = st.sampled_from([0.3, 0.7, 0.9])


def permitted(structures: list[Structure], mask: np.ndarray, first: int = 0) -> list[Structure]:
    """The structures that use allowed choices only; the cells of choice (r, y) are those of row ``first + r``."""
    width = mask.shape[1]
    cells = {(first + r) * width + y for r, y in np.argwhere(mask == 0).tolist()}
    return [one for one in structures if cells.isdisjoint(one[1])]


@settings(max_examples=300, deadline=None)
@given(st.data(), st.integers(0, 2**32), SPREADS, SHARES)
def test_masked_chain(data, seed, spread, share):
    """Any legality, any mask, scores of -inf beside it, also where scores span thousands."""
    labels, n = data.draw(st.sampled_from([(1, 4), (2, 5), (3, 4), (4, 3), (9, 3), (22, 2), (31, 2), (70, 2)]))
    random = np.random.default_rng(seed)
    legal, start, end = (random.random(shape) < 0.8 for shape in ((labels, labels), labels, labels))
    mask = (random.random((n, labels)) < share).astype(np.uint8)
    scores = random.normal(size=(n, labels)) * spread
    scores[random.random((n, labels)) < 0.1] = -math.inf
    pairs = random.normal(size=(labels, labels)) * data.draw(SPREADS)
    pairs[random.random((labels, labels)) < 0.1] = -math.inf
    structure = ChainStructure(labels, legal.astype(np.uint8).ravel(), start.astype(np.uint8), end.astype(np.uint8))
    listed = chain_structures(
        scores, pairs, lambda a, b: bool(legal[a, b]), lambda y: bool(start[y]), lambda y: bool(end[y])
    )
    agree(structure, scores, pairs, mask, permitted(listed, mask))


def edge_structures(scores: np.ndarray) -> list[Structure]:
    return [
        (float(sum(scores[g, s] for g, s in enumerate(y))), tuple(8 * g + s for g, s in enumerate(y)))
        for y in SEQUENCES[len(scores) - 1]
    ]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 4), st.integers(0, 2**32), SPREADS, SHARES)
def test_masked_edge(n, seed, spread, share):
    random = np.random.default_rng(seed)
    mask = (random.random((n + 1, 8)) < share).astype(np.uint8)
    scores = random.normal(size=(n + 1, 8)) * spread
    scores[random.random((n + 1, 8)) < 0.1] = -math.inf
    agree(EdgeStructure(), scores, np.zeros(0), mask, permitted(edge_structures(scores), mask))


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32), SPREADS, SHARES)
def test_masked_choice(n, columns, seed, spread, share):
    random = np.random.default_rng(seed)
    mask = (random.random((n, columns)) < share).astype(np.uint8)
    scores = random.normal(size=(n, columns)) * spread
    listed = [
        (float(sum(scores[t, k] for t, k in enumerate(y))), tuple(t * columns + k for t, k in enumerate(y)))
        for y in itertools.product(range(columns), repeat=n)
    ]
    agree(ChoiceStructure(columns), scores, np.zeros(0), mask, permitted(listed, mask))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3), st.integers(0, 2**32), SHARES)
def test_masked_graphs(n, seed, share):
    """Structures without a kernel: the hypergraph, and graphs that were given one by one."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(n, 5))
    mask = (random.random((n, 5)) < share).astype(np.uint8)
    # T_k, I_k, A_k from the last token to the first, as Lu & Roth define them; X is an edge without tails.
    nodes: list[list[tuple[list[int], list[int]]]] = [[([], [])]]
    later, inside = 0, None
    for k in reversed(range(n)):
        nodes.append([([], [5 * k + 3]), *([([inside], [5 * k + c]) for c in (2, 4)] if inside is not None else [])])
        inside = len(nodes) - 1
        nodes.append([([], [5 * k + 1]), ([inside], [5 * k])])
        nodes.append([([later, len(nodes) - 1], [])])
        later = len(nodes) - 1
    listed = permitted(hypergraph_structures(nodes, scores.ravel()), mask)
    given_graphs = GraphStructure(5, 0)
    given_graphs.set(n, HypergraphStructure().graph(n))
    for structure in (HypergraphStructure(), given_graphs):
        agree(structure, scores, np.zeros(0), mask, listed)


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(0, 5), st.integers(1, 4), st.integers(0, 2**32), SPREADS, SHARES)
def test_masked_segments(data, n, longest, seed, spread, share):
    """Masks speak of segments, whose cells are sums that they share; also with pairs that need the engine."""
    width = data.draw(st.integers(1, 3 if n > 3 else 5))
    layout = SegmentLayout(data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)), inside=data.draw(st.booleans()))
    spans = [(i, j) for i in range(n) for j in range(i + 1, min(n, i + longest) + 1)]
    native = Lattices.up_to(np.array([n]), longest, layout)
    random = np.random.default_rng(seed)
    mask = (random.random((len(spans), width)) < share).astype(np.uint8)
    scores = random.normal(size=(native.rows, width)) * spread
    scores[random.random(scores.shape) < 0.05] = -math.inf
    pairs = random.normal(size=(width, width)) * data.draw(SPREADS)
    listed = segment_structures(spans, n, segment_rows(spans, n, layout), scores, pairs)
    agree(SegmentStructure(width, native), scores, pairs, mask, permitted(listed, mask, native.rows - len(spans)))


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(0, 2), st.integers(1, 2), st.integers(0, 2**32), SPREADS)
def test_masked_spans(data, n, width, seed, spread):
    """Of sets of segments some are left out, others must be there."""
    layout = SegmentLayout(inside=data.draw(st.booleans()))
    spans = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    native = Lattices.up_to(np.array([n]), max(n, 1), layout)
    random = np.random.default_rng(seed)
    mask = random.choice(3, (len(spans), width), p=[0.3, 0.4, 0.3]).astype(np.uint8)
    scores = random.normal(size=(native.rows, width)) * spread
    rows = segment_rows(spans, n, layout)
    listed = []
    for chosen in itertools.product([False, True], repeat=mask.size):
        within = np.array(chosen, bool).reshape(mask.shape)
        if (within & (mask == 0)).any() or (~within & (mask == 2)).any():
            continue
        used = [(r, y) for k, y in np.argwhere(within).tolist() for r in rows[spans[k]]]
        listed.append((float(sum(scores[r, y] for r, y in used)), tuple(sorted(r * width + y for r, y in used))))
    agree(SpanStructure(width, native), scores, np.zeros(0), mask, listed)


def test_a_segment_that_must_be_and_cannot():
    """A span of score -inf that must be there: no structure."""
    native = Lattices.up_to(np.array([1]), 1, SegmentLayout())
    scores, must = np.array([-math.inf]), np.array([2], np.uint8)
    assert SpanStructure(1, native).expectations(scores, np.zeros(0), mask=must)[0] == -math.inf
    assert SpanStructure(1, native).best(scores, np.zeros(0), mask=must)[0] == -math.inf


@pytest.mark.parametrize("kind", ["chain", "edge"])
def test_a_mask_that_allows_everything_changes_no_bit(kind):
    random = np.random.default_rng(1)
    structure = EdgeStructure() if kind == "edge" else ChainStructure(8, *(np.ones(k, np.uint8) for k in (64, 8, 8)))
    scores, pairs = random.normal(size=200 * 8), random.normal(size=structure.global_cells)
    plain, masked = (structure.expectations(scores, pairs, mask=m) for m in (None, np.ones(1600, np.uint8)))
    assert plain[0] == masked[0]
    assert plain[1].tobytes() == masked[1].tobytes()


def test_decoder_takes_masks_by_structure_and_sentence():
    """Two sentences of one token, label 1 is better; the mask of the second forbids it, for the second structure."""
    ones = np.ones(4, np.uint8)
    chain = ChainStructure(2, ones, ones[:2], ones[:2])
    rows = SparseRows(np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([0, 0], np.uint32), 1)
    part = (chain, np.array([0, 1], np.float32), np.zeros(4))
    masks = (np.array([0, 0, 2]), np.array([1, 0], np.uint8))
    found = Decoder.joined([part, part]).best(rows, 1, masks=[None, masks])
    assert [cells.tolist() for _, cells in found] == [[1, 1], [1, 0]]
    with pytest.raises(ValueError, match="a mask of 3 choices for sentence 1, which has 1 times 2"):
        Decoder.joined([part]).best(rows, 1, masks=[(np.array([0, 0, 3]), np.ones(3, np.uint8))])
    with pytest.raises(ValueError, match="masks for 1 of 2 structures"):
        Decoder.joined([part, part]).best(rows, 1, masks=[masks])
    with pytest.raises(ValueError, match="a mask of 3 choices"):
        chain.best(np.zeros(2), np.zeros(4), mask=np.ones(3, np.uint8))
