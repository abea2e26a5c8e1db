"""The segment kernel equals enumeration and the general engine; what follows from the models' definitions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import expected_cells, finite_differences, log_z, segment_rows, segment_structures
from spanloom._native import (
    ChainStructure,
    Lattices,
    Likelihood,
    SegmentLayout,
    SegmentStructure,
    SpanStructure,
    SparseRows,
)
from spanloom.corpus import valid_spans


@st.composite
def lattices(draw, most=5):
    """Random segments of one sentence (all up to a length, or those of a tree), random rows."""
    n = draw(st.integers(0, most))
    layout = SegmentLayout(draw(st.integers(1, 4)), draw(st.integers(1, 4)), inside=draw(st.booleans()))
    longest = draw(st.integers(1, most))
    kind = draw(st.sampled_from(["all", "dgm", "dgm-s"]))
    if kind == "all":
        spans = [(i, j) for i in range(n) for j in range(i + 1, min(n, i + longest) + 1)]
        return n, spans, layout, Lattices.up_to(np.array([n]), longest, layout)
    heads = draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
    single = kind == "dgm-s"
    native = Lattices.guided(np.array([n]), np.array(heads, np.int32), longest, layout, single=single)
    return n, valid_spans(heads, longest=longest, single=single), layout, native


@st.composite
def cases(draw):
    """A lattice with random scores."""
    n, spans, layout, native = draw(lattices())
    width = draw(st.integers(1, 3)) if n > 3 else draw(st.sampled_from([1, 2, 3, 8, 9]))
    if n == 3 and width > 3:
        width = 4
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([0.1, 3.0, 50.0, 2000.0]))
    pair_spread = draw(st.sampled_from([0.1, 3.0, 50.0, 2000.0]))
    rows = segment_rows(spans, n, layout)
    scores = random.normal(size=(native.rows, width)) * spread
    return n, spans, rows, native, scores, random.normal(size=(width, width)) * pair_spread


@settings(max_examples=300, deadline=None)
@given(cases())
def test_kernel_and_engine_equal_enumeration(case):
    """log Z, marginals of rows and pairs, the best segmentation, k best and the count, also for extreme scores."""
    n, spans, rows, native, scores, transitions = case
    width = len(transitions)
    structure = SegmentStructure(width, native)
    listed = segment_structures(spans, n, rows, scores, transitions)
    graph = structure.graph(native.rows)
    assert graph.count() == len(listed)
    value, expected = structure.expectations(scores.ravel(), transitions.ravel())
    tolerance = 1e-9 * max(1.0, abs(log_z(listed)))
    cells = native.rows * width + width**2
    assert value == pytest.approx(log_z(listed), abs=tolerance)
    np.testing.assert_allclose(expected, expected_cells(listed, cells), atol=1e-8)
    score, found = structure.best(scores.ravel(), transitions.ravel())
    ranked = sorted(listed, reverse=True)
    assert score == pytest.approx(ranked[0][0], abs=tolerance)
    by_cells = {tuple(c for c in used if c < native.rows * width): total for total, used in listed}
    assert by_cells[tuple(found.tolist())] == pytest.approx(score, abs=tolerance)
    everything = np.concatenate([scores.ravel(), transitions.ravel()])
    best = [s for s, _ in graph.k_best(everything, 5)]
    np.testing.assert_allclose(best, [s for s, _ in ranked[:5]], atol=tolerance)
    assert graph.log_partition(everything) == pytest.approx(value, abs=tolerance)


@settings(max_examples=100, deadline=None)
@given(lattices(most=7))
def test_rows_are_numbered_as_documented(case):
    """Kinds in order, each by token and index; a segment reads those of its place."""
    n, spans, layout, native = case
    assert native.spans(0).reshape(-1, 2).tolist() == [list(s) for s in sorted(spans)]
    for span, expected in segment_rows(spans, n, layout).items():
        assert native.rows_of(0, *span).tolist() == expected


@settings(max_examples=100, deadline=None)
@given(cases(), st.data())
def test_encoding_is_the_path_through_the_mentions(case, data):
    """The cells of a segmentation are found from its segments with a type."""
    n, spans, rows, native, scores, transitions = case
    width = len(transitions)
    listed = segment_structures(spans, n, rows, np.zeros_like(scores), transitions)
    if width == 1:
        return
    _, cells = data.draw(st.sampled_from(listed))
    of = {min(r for r in used if r >= native.rows - len(spans)): span for span, used in rows.items()}
    segments = sorted(
        (of[c // width], c % width) for c in cells if native.rows - len(spans) <= c // width < native.rows
    )
    mentions = [(s, e, y) for (s, e), y in segments if y]
    starts, ends, columns = np.array(mentions, np.int32).reshape(-1, 3).T
    encoded = native.encode(
        0, np.ascontiguousarray(starts), np.ascontiguousarray(ends), np.ascontiguousarray(columns), width
    )
    assert encoded.tolist() == list(cells)


def test_a_segment_that_is_no_candidate_is_named():
    """Longer than the longest, or on top of another."""
    native = Lattices.up_to(np.array([4]), 2, SegmentLayout())
    pair = [np.array(x, np.int32) for x in ([0, 1], [2, 3], [1, 1])]
    with pytest.raises(ValueError, match=r"segment \(0, 3\) with column 1 is no candidate of sentence 0"):
        native.encode(0, *[np.array([x], np.int32) for x in (0, 3, 1)], 2)
    with pytest.raises(ValueError, match=r"segment \(1, 3\) with column 1"):
        native.encode(0, *pair, 2)
    with pytest.raises(ValueError, match="has 3 rows of features, but its segments read 13"):
        SegmentStructure(2, native).graph(3)
    with pytest.raises(ValueError, match="sentence 1 of 1"):
        SegmentStructure(2, native).graph(3, 1)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32))
def test_a_complete_graph_of_arcs_is_the_semi_markov_model(n, longest, seed):
    """If every pair of words is joined, every span is valid; a tree in a row, word after word, has the same spans."""
    layout = SegmentLayout(3, 3, inside=True)
    row = np.arange(n, dtype=np.int32)  # each word depends on the one before
    guided = Lattices.guided(np.array([n]), row, longest, layout, single=False)
    everything = Lattices.up_to(np.array([n]), longest, layout)
    assert guided.spans(0).tolist() == everything.spans(0).tolist()
    random = np.random.default_rng(seed)
    scores, pairs = random.normal(size=guided.rows * 3), random.normal(size=9)
    one, other = SegmentStructure(3, guided), SegmentStructure(3, everything)
    value, expected = one.expectations(scores, pairs)
    other_value, other_expected = other.expectations(scores, pairs)
    assert value == other_value
    np.testing.assert_array_equal(expected, other_expected)
    assert [x.tolist() for x in one.best(scores, pairs)[1:]] == [x.tolist() for x in other.best(scores, pairs)[1:]]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32))
def test_segments_of_one_token_are_a_chain_of_labels(n, width, seed):
    """With L = 1 there is one label per token, a row for it alone, and pairs of neighbours."""
    native = Lattices.up_to(np.array([n]), 1, SegmentLayout())
    random = np.random.default_rng(seed)
    scores, pairs = random.normal(size=(native.rows, width)), random.normal(size=width**2)
    ones = np.ones(width, np.uint8)
    chain = ChainStructure(width, np.ones(width**2, np.uint8), ones, ones)
    assert native.rows == n
    value, expected = SegmentStructure(width, native).expectations(scores.ravel(), pairs)
    chain_value, chain_expected = chain.expectations(scores.ravel(), pairs)
    assert value == pytest.approx(chain_value)
    np.testing.assert_allclose(expected[: n * width], chain_expected[: n * width], atol=1e-10)
    np.testing.assert_allclose(expected[-(width**2) :], chain_expected[-(width**2) :], atol=1e-10)


@settings(max_examples=50, deadline=None)
@given(cases())
def test_the_graph_is_that_of_the_weak_model(case):
    """Muis & Lu (2016): T edges into each choice of a type (none before the first), and one edge for each length and
    type, where only single words may be outside; T edges end it."""
    n, spans, _, native, _, transitions = case
    width = len(transitions)
    types = (n - 1) * width**2 + width if n else 0
    lengths = sum(width if e - s == 1 else width - 1 for s, e in spans)
    assert SegmentStructure(width, native).graph(native.rows).edges == types + lengths + (width if n else 1)


@settings(max_examples=30, deadline=None)
@given(cases())
def test_type_and_length_chosen_apart_equal_them_chosen_together(case):
    """The lattice with an edge for every (type before, type, start, end), O(n L T²), has the same sum: the weak
    semi-Markov model and the semi-Markov model are one where transitions do not see segments."""
    n, spans, rows, native, scores, transitions = case
    width = len(transitions)
    alpha = {(0, None): 0.0}
    for j, y in itertools.product(range(1, n + 1), range(width)):
        terms = [
            alpha[i, x] + sum(scores[r, y] for r in rows[i, e]) + (0.0 if x is None else transitions[x, y])
            for i, e in spans
            if e == j and (y > 0 or e - i == 1)
            for x in ([None] if i == 0 else range(width))
        ]
        top = max(terms, default=-math.inf)
        alpha[j, y] = top if top == -math.inf else top + math.log(math.fsum(math.exp(t - top) for t in terms))
    total = np.logaddexp.reduce([alpha[n, y] for y in range(width)]) if n else 0.0
    value, _ = SegmentStructure(width, native).expectations(scores.ravel(), transitions.ravel())
    assert value == pytest.approx(total, rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(lattices(most=4), st.integers(1, 3), st.integers(0, 2**32))
def test_gradient_equals_differences_of_the_enumerated_likelihood(case, width, seed):
    """All segments, those of a tree, and those of single arcs; features that fire at several rows."""
    n, spans, layout, native = case
    random = np.random.default_rng(seed)
    features = 5
    ids = random.integers(0, features, size=2 * native.rows).astype(np.uint32)
    rows = SparseRows(np.array([0, native.rows]), np.arange(native.rows + 1) * 2, ids, features, None)
    counts = np.zeros((native.rows, features))
    np.add.at(counts, (np.repeat(np.arange(native.rows), 2), ids), 1)

    def structures(x):
        scores = counts @ x[: features * width].reshape(features, width)
        pairs = x[features * width :].reshape(width, width)
        return segment_structures(spans, n, segment_rows(spans, n, layout), scores, pairs)

    chosen = random.integers(len(structures(np.zeros(features * width + width**2))))

    def loss(x):
        listed = structures(x)
        return log_z(listed) - listed[chosen][0]

    x = random.normal(size=features * width + width**2)
    gold = np.sort(np.array(structures(x)[chosen][1], np.uint32))
    structure = SegmentStructure(width, native)
    objective = Likelihood(rows, structure, np.array([0, len(gold)]), gold, merge=False, threads=1)
    assert objective.size == len(x)
    value, gradient = objective.evaluate(x)
    assert value == pytest.approx(loss(x), abs=1e-5)
    np.testing.assert_allclose(gradient, finite_differences(loss, x, 1e-4), atol=1e-4)


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_scores_that_are_not_finite_are_an_error(bad):
    """They come from weights that overflow single precision."""
    native = Lattices.up_to(np.array([3]), 2, SegmentLayout())
    rows = SparseRows(np.array([0, native.rows]), np.arange(native.rows + 1), np.zeros(native.rows, np.uint32), 1, None)
    gold = native.encode(0, *[np.array([], np.int32)] * 3, 2)
    objective = Likelihood(rows, SegmentStructure(2, native), np.array([0, len(gold)]), gold, merge=False)
    with pytest.raises(ValueError, match="sentence 0 is not finite"):
        objective.evaluate(np.full(objective.size, bad))


def test_gradient_equals_finite_differences():
    """Over several sentences with trees of their own, and features that fire at several rows."""
    random = np.random.default_rng(3)
    lengths, width = np.array([4, 0, 3]), 3
    heads = np.array([2, 0, 2, 3, 0, 1, 1], np.int32)
    native = Lattices.guided(lengths, heads, 3, SegmentLayout(2, 3, inside=True), single=False)
    per_sentence = [int(native.rows_of(s, n - 1, n)[-1]) + 1 if n else 0 for s, n in enumerate(lengths)]
    assert sum(per_sentence) == native.rows
    ids = random.integers(0, 6, size=2 * native.rows).astype(np.uint32)
    rows = SparseRows(np.concatenate([[0], np.cumsum(per_sentence)]), np.arange(native.rows + 1) * 2, ids, 6, None)
    gold = [
        native.encode(s, *[np.array(x, np.int32) for x in parts], width)
        for s, parts in enumerate([([0], [2], [1]), ([], [], []), ([1], [2], [2])])
    ]
    ptr = np.concatenate([[0], np.cumsum([len(g) for g in gold])])
    objective = Likelihood(rows, SegmentStructure(width, native), ptr, np.concatenate(gold), merge=False, threads=1)
    x = random.normal(size=objective.size) * 0.3
    _, gradient = objective.evaluate(x)
    numeric = finite_differences(lambda at: objective.evaluate(at)[0], x, 1e-3)
    np.testing.assert_allclose(gradient, numeric, atol=2e-3)


@settings(max_examples=150, deadline=None)
@given(lattices(most=3), st.integers(1, 2), st.integers(0, 2**32), st.sampled_from([0.1, 3.0, 2000.0]))
def test_sets_of_segments_equal_enumeration(case, width, seed, spread):
    """Every subset of (segment, column): log Z, marginals, the best set and the k best."""
    n, spans, layout, native = case
    rows = segment_rows(spans, n, layout)
    scores = np.random.default_rng(seed).normal(size=(native.rows, width)) * spread
    choices = [(span, y) for span in sorted(spans) for y in range(width)][:10]
    if len(spans) * width > 10:
        return
    listed = []
    for size in range(len(choices) + 1):
        for chosen in itertools.combinations(choices, size):
            cells = sorted(row * width + y for span, y in chosen for row in rows[span])
            listed.append((float(sum(scores.ravel()[c] for c in cells)), tuple(cells)))
    structure = SpanStructure(width, native)
    nothing = np.zeros(0)
    value, expected = structure.expectations(scores.ravel(), nothing)
    tolerance = 1e-9 * max(1.0, abs(log_z(listed)))
    assert value == pytest.approx(log_z(listed), abs=tolerance)
    np.testing.assert_allclose(expected, expected_cells(listed, native.rows * width), atol=1e-8)
    score, found = structure.best(scores.ravel(), nothing)
    ranked = sorted(listed, reverse=True)
    assert score == pytest.approx(ranked[0][0], abs=tolerance)
    assert tuple(found.tolist()) == ranked[0][1]
    graph = structure.graph(native.rows)
    assert graph.count() == len(listed)
    np.testing.assert_allclose(
        [s for s, _ in graph.k_best(scores.ravel(), 4)], [s for s, _ in ranked[:4]], atol=tolerance
    )
    ends = np.array([0, len(found)], np.int64)
    ptr, flat = native.decode_sets(found, ends, width, 0)
    decoded = flat.reshape(-1, 3).tolist()
    assert ptr.tolist() == [0, len(decoded)]
    assert native.decode_sets(found, ends, width, 1)[1].reshape(-1, 3).tolist() == [d for d in decoded if d[2] >= 1]
    with pytest.raises(ValueError, match="do not fit 1 sentences"):
        native.decode_sets(found, ends + 1, width, 0)
    assert native.encode_set(0, *np.array(decoded, np.int32).reshape(-1, 3).T.copy(), width).tolist() == found.tolist()
