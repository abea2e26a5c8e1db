"""Bundles: what stands together in several rows is added up once, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import finite_differences
from spanloom._native import ChainStructure, CompressedRows, Lbfgs, Likelihood, SparseRows, Tying


def chain(labels: int) -> ChainStructure:
    every = np.ones(labels, np.uint8)
    return ChainStructure(labels, np.ones(labels**2, np.uint8), every, every)


def tied(labels: int):
    """Every column has a parameter of its own and one that all share."""
    params = [[j, labels] for j in range(labels)]
    return Tying(np.arange(labels + 1, dtype=np.int64) * 2, np.array(params, np.int32).ravel(), labels + 1)


def rows_of(rows: list[list[int]], lengths: list[int], width: int, values=None) -> SparseRows:
    row_ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    ids = np.array([i for row in rows for i in row], np.uint32)
    return SparseRows(np.concatenate([[0], np.cumsum(lengths)]), row_ptr, ids, width, values)


def text(seed: int, sentences: int = 12, labels: int = 3, words: int = 6):
    """Words that bring features along, at the token and at its neighbour; and a feature of the pair.

    Feature 0 is everywhere; a word has 4 features of its own and 2 that it shares with its neighbour in the vocabulary.
    What the word before says has other numbers. Some rows have a feature twice.
    """
    random = np.random.default_rng(seed)
    block = 5 * words
    rows, lengths, cells = [], [], []

    def says(w: int) -> list[int]:
        shared = 4 * words + w // 2
        return [4 * w, 4 * w + 1, shared, shared + words // 2, 4 * w + 2, 4 * w + 3]

    for _ in range(sentences):
        sentence = random.integers(0, words, int(random.integers(0, 9)))
        lengths.append(len(sentence))
        for t, w in enumerate(sentence):
            row = [0, *(1 + f for f in says(w))]
            if t:
                row += [*(1 + block + f for f in says(sentence[t - 1])), 1 + 2 * block + words * sentence[t - 1] + w]
            rows.append(row + [1 + 4 * w] * int(random.integers(0, 5) == 0))
        y = random.integers(0, labels, len(sentence))
        cells.append(np.concatenate([np.arange(len(y)) * labels + y, len(y) * labels + y[:-1] * labels + y[1:]]))
    ptr = np.concatenate([[0], np.cumsum([len(c) for c in cells])]).astype(np.int64)
    return rows_of(rows, lengths, 1 + 2 * block + words**2), ptr, np.concatenate(cells).astype(np.int32)


@pytest.mark.parametrize("tying", [None, tied])
@pytest.mark.parametrize("labels", [3, 9, 18])
@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_value_gradient_and_weights_are_those_without_bundles(seed, merge, labels, tying):
    x, ptr, cells = text(seed, labels=labels)
    with_bundles, plain = (CompressedRows(x, merge=merge, bundles=b) for b in (True, False))
    assert with_bundles.bundles > 3
    assert plain.bundles == 0
    assert with_bundles.classes == plain.classes
    assert with_bundles.entries < plain.entries
    site = None if tying is None else tying(labels)
    one, other = (Likelihood(rows, chain(labels), ptr, cells, site) for rows in (with_bundles, plain))
    theta = np.random.default_rng(seed).normal(size=one.size)
    (value, gradient), (expected_value, expected) = one.evaluate(theta), other.evaluate(theta)
    assert value == pytest.approx(expected_value, rel=1e-7)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(one.weights(theta), other.weights(theta))


def test_gradient_equals_finite_differences():
    x, ptr, cells = text(7, 8)
    objective = Likelihood(CompressedRows(x), chain(3), ptr, cells)
    theta = np.random.default_rng(1).normal(size=objective.size)
    numeric = finite_differences(lambda v: objective.evaluate(v)[0], theta, 1e-2)
    np.testing.assert_allclose(objective.evaluate(theta)[1], numeric, atol=2e-3)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), max_size=12), min_size=1, max_size=20), st.booleans())
def test_any_rows_mean_what_they_mean_without_bundles(rows, merge):
    """Few features in any order, again and again, also the same one many times in a row."""
    rows = [*rows, *rows, [0] * 9, [1, 2] * 7] * 2
    labels, lengths = 2, [len(rows)]
    x = rows_of(rows, lengths, 5)
    y = np.arange(len(rows)) % labels
    cells = np.concatenate([np.arange(len(y)) * labels + y, len(y) * labels + y[:-1] * labels + y[1:]])
    one, other = (
        Likelihood(CompressedRows(x, merge=merge, bundles=b), chain(labels), np.array([0, len(cells)]), cells)
        for b in (True, False)
    )
    theta = np.random.default_rng(len(rows)).normal(size=one.size) * 0.3
    (value, gradient), (expected_value, expected) = one.evaluate(theta), other.evaluate(theta)
    assert value == pytest.approx(expected_value, rel=1e-5)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-3)


def test_tens_of_thousands_of_pairs():
    """More than the first table of pairs holds: each pair of features becomes a bundle of its own."""
    pairs = 40_000
    x = rows_of([[2 * i, 2 * i + 1] for i in range(pairs)] * 4, [4 * pairs], 2 * pairs)
    compressed = CompressedRows(x, merge=False)
    assert compressed.bundles == pairs
    assert compressed.entries == 4 * pairs + 2 * pairs


def test_a_long_run_with_two_ends_is_written_once():
    """A run of 32 before one feature and before another: its members are not copied into both."""
    run = list(range(32))
    x = CompressedRows(rows_of([[*run, 32]] * 50 + [[*run, 33]] * 50, [100], 34), merge=False)
    assert x.bundles == 3
    assert x.entries == 100 + 32 + 2 + 2


def test_many_bundles_on_several_threads():
    """More than a block of them and of sentences: to the bit the same on any number of threads, and right."""
    x, ptr, cells = text(3, 3000, words=400)
    rows, plain = CompressedRows(x), CompressedRows(x, bundles=False)
    assert rows.bundles > 600  # three blocks of 256
    assert x.row_ptr.size > 3 * 2048  # four shards of sentences
    one, three, other = (Likelihood(r, chain(3), ptr, cells, threads=n) for r, n in ((rows, 1), (rows, 3), (plain, 1)))
    theta = np.random.default_rng(0).normal(size=one.size)
    value, gradient = one.evaluate(theta)
    again, same = three.evaluate(theta)
    assert (value, gradient.tobytes()) == (again, same.tobytes())
    expected_value, expected = other.evaluate(theta)
    assert value == pytest.approx(expected_value, rel=1e-7)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4)


def test_the_optimum_under_l1_is_the_same():
    """Where features stay apart and many weights are zero."""
    x, ptr, cells = text(2, 30)
    found = []
    for bundles in (True, False):
        objective = Likelihood(CompressedRows(x, merge=False, bundles=bundles), chain(3), ptr, cells)
        optimiser = Lbfgs(objective, np.zeros(objective.size), l1=0.5, l2=0.1)
        for _ in range(200):
            value = optimiser.iterate().value
        found.append((value, optimiser.x()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-6)
    assert 0.1 < np.mean(found[0][1] == 0) < 0.95
    np.testing.assert_allclose(found[0][1], found[1][1], atol=5e-3)


def test_a_run_that_all_rows_share_is_one_entry():
    """Six rows of one run: six entries for the bundle, and its members once."""
    x = CompressedRows(rows_of([[5, 1, 4, 2], [0, 5, 1, 4, 2]] * 3, [6], 6), merge=False)
    assert x.bundles == 1
    assert x.entries == 6 + 3 + 4


def test_a_bundle_may_be_part_of_another():
    """0 1 are in six rows, and in four of them a part of 0 1 2 3; 2 3 are never apart from them."""
    x = CompressedRows(rows_of([[0, 1, 2, 3]] * 4 + [[0, 1, 4], [0, 1, 5]], [6], 6), merge=False)
    assert x.bundles == 2  # 0 1, and what this and 2 3 are together
    assert x.entries == 4 + 2 * 2 + 2 + 3


def test_what_few_rows_take_is_no_bundle():
    """0 1 and 1 2 are in four rows each, but in two of them both, and the first comes first."""
    x = CompressedRows(rows_of([[0, 1, 2]] * 2 + [[0, 1, 3], [0, 1, 5]] + [[4, 1, 2]] * 2, [6], 6), merge=False)
    assert x.bundles == 1
    assert x.entries == 4 * 2 + 2 * 3 + 2


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 1, 2]] * 3,  # seldom
        [[0, 1], [1, 0]] * 3,  # in no one order
        [[0], [1]] * 5,  # apart
        [],
        [[], []],
    ],
)
def test_no_bundles_where_they_would_not_pay(rows):
    assert CompressedRows(rows_of(rows, [len(rows)], 3), merge=False).bundles == 0


def test_rows_with_values_have_none():
    rows = [[0, 1, 2]] * 9
    values = np.ones(27, np.float32)
    assert CompressedRows(rows_of(rows, [9], 3), merge=False).bundles == 1
    assert CompressedRows(rows_of(rows, [9], 3, values), merge=False).bundles == 0


def test_observed_pairs_take_rows_without_bundles():
    x, ptr, cells = text(0)
    with pytest.raises(ValueError, match="without bundles"):
        Likelihood(CompressedRows(x), chain(3), ptr, cells, observed=True)
