"""Bundles: what always stands together is added up once, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import finite_differences
from spanloom._native import ChainStructure, CompressedRows, Lbfgs, Likelihood, SparseRows

LABELS = 3


def chain() -> ChainStructure:
    every = np.ones(LABELS, np.uint8)
    return ChainStructure(LABELS, np.ones(LABELS**2, np.uint8), every, every)


def rows_of(rows: list[list[int]], lengths: list[int], width: int, values=None) -> SparseRows:
    row_ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    ids = np.array([i for row in rows for i in row], np.uint32)
    return SparseRows(np.concatenate([[0], np.cumsum(lengths)]), row_ptr, ids, width, values)


def text(seed: int, sentences: int = 12):
    """Words that bring features along, at the token and at its neighbour; and a feature of the pair.

    Feature 0 is everywhere; word w of 6 has 4 features of its own and 2 that it shares with w + 1 or w - 1. What
    the word before says has other numbers. Some rows have a feature twice.
    """
    random = np.random.default_rng(seed)
    block = 30
    rows, lengths, cells = [], [], []
    for _ in range(sentences):
        words = random.integers(0, 6, int(random.integers(0, 9)))
        lengths.append(len(words))
        for t, w in enumerate(words):
            says = [[4 * v, 4 * v + 1, 24 + v // 2, 27 + v // 2, 4 * v + 2, 4 * v + 3] for v in (w, words[t - 1])]
            row = [0, *(1 + f for f in says[0])]
            if t:
                row += [*(1 + block + f for f in says[1]), 1 + 2 * block + 6 * words[t - 1] + w]
            rows.append(row + [1 + 4 * w] * int(random.integers(0, 5) == 0))
        y = random.integers(0, LABELS, len(words))
        cells.append(np.concatenate([np.arange(len(y)) * LABELS + y, len(y) * LABELS + y[:-1] * LABELS + y[1:]]))
    ptr = np.concatenate([[0], np.cumsum([len(c) for c in cells])]).astype(np.int64)
    return rows, lengths, 1 + 2 * block + 36, ptr, np.concatenate(cells).astype(np.int32)


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_value_gradient_and_weights_are_those_without_bundles(seed, merge):
    rows, lengths, width, ptr, cells = text(seed)
    x = rows_of(rows, lengths, width)
    with_bundles, plain = (CompressedRows(x, merge=merge, bundles=b) for b in (True, False))
    assert with_bundles.bundles > 3
    assert plain.bundles == 0
    assert with_bundles.classes == plain.classes
    assert with_bundles.entries < plain.entries
    one, other = (Likelihood(x, chain(), ptr, cells) for x in (with_bundles, plain))
    theta = np.random.default_rng(seed).normal(size=one.size)
    (value, gradient), (expected_value, expected) = one.evaluate(theta), other.evaluate(theta)
    assert value == pytest.approx(expected_value, rel=1e-7)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(one.weights(theta), other.weights(theta))


def test_gradient_equals_finite_differences():
    rows, lengths, width, ptr, cells = text(7, 8)
    objective = Likelihood(CompressedRows(rows_of(rows, lengths, width)), chain(), ptr, cells)
    theta = np.random.default_rng(1).normal(size=objective.size)
    numeric = finite_differences(lambda v: objective.evaluate(v)[0], theta, 1e-2)
    np.testing.assert_allclose(objective.evaluate(theta)[1], numeric, atol=2e-3)


def test_threads_change_nothing():
    """To the bit: what is added up, and in which order, does not depend on them."""
    rows, lengths, width, ptr, cells = text(3, 400)
    x = CompressedRows(rows_of(rows, lengths, width))
    steps = [
        Lbfgs(Likelihood(x, chain(), ptr, cells, threads=n), np.zeros(one.size), l2=0.1, threads=n)
        for n in (1, 3)
        for one in [Likelihood(x, chain(), ptr, cells)]
    ]
    for _ in range(5):
        a, b = (optimiser.iterate() for optimiser in steps)
        assert a.value == b.value
    assert steps[0].x().tobytes() == steps[1].x().tobytes()


def test_a_run_that_all_rows_share_is_one_entry():
    """Six rows of one run: six entries for the bundle, and its members once."""
    x = CompressedRows(rows_of([[5, 1, 4, 2], [0, 5, 1, 4, 2]] * 3, [6], 6), merge=False)
    assert x.bundles == 1
    assert x.entries == 6 + 3 + 4


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 1, 2]] * 3,  # seldom
        [[0, 1], [1, 0]] * 5,  # in no one order
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
    rows, lengths, width, ptr, cells = text(0)
    with pytest.raises(ValueError, match="without bundles"):
        Likelihood(CompressedRows(rows_of(rows, lengths, width)), chain(), ptr, cells, observed=True)
