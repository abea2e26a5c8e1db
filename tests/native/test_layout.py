"""Weights for observed (feature, column) pairs only: the same function, on fewer parameters."""

from __future__ import annotations

import numpy as np
import pytest

from oracles import finite_differences
from spanloom._native import ChainStructure, CompressedRows, Lbfgs, Likelihood, SparseRows, Tying

LABELS = 18  # rows are padded to 24 columns; up to five touched ones are kept as cells


def chain(labels: int) -> ChainStructure:
    return ChainStructure(labels, np.ones(labels**2, np.uint8), np.ones(labels, np.uint8), np.ones(labels, np.uint8))


def problem(seed: int, labels: int = LABELS, valued: bool = False):
    """Sentences in which feature 0 is everywhere, features 1 to 4 are frequent, and the others are rare."""
    random = np.random.default_rng(seed)
    lengths = (6, 0, 1, 9, 14)
    group_ptr = np.concatenate([[0], np.cumsum(lengths)])
    sites = int(group_ptr[-1])
    rows = [np.unique([0, 1 + random.integers(4), *(5 + random.integers(0, 12, 3))]) for _ in range(sites)]
    row_ptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
    ids = np.concatenate(rows).astype(np.uint32)
    values = random.normal(size=len(ids)).astype(np.float32) if valued else None
    y = [random.integers(0, labels, n) for n in lengths]
    cells = [
        np.concatenate([np.arange(len(one)) * labels + one, len(one) * labels + one[:-1] * labels + one[1:]])
        for one in y
    ]
    gold_ptr = np.concatenate([[0], np.cumsum([len(c) for c in cells])]).astype(np.int64)
    seen = np.zeros((17, labels), bool)
    for r, label in enumerate(np.concatenate(y)):
        seen[rows[r], label] = True
    x = SparseRows(group_ptr, row_ptr, ids, 17, values)
    return x, seen, gold_ptr, np.concatenate(cells).astype(np.int32)


def pairs_of(labels: int):
    """Columns 2k and 2k + 1 share a parameter beside their own; so do all; in the order of parameters."""
    params = [[j, labels + j // 2, labels + labels // 2] for j in range(labels)]
    return np.arange(labels + 1, dtype=np.int64) * 3, np.array(params, np.int32).ravel(), labels + labels // 2 + 1


def images(seen, tying):
    """Which parameter columns a feature may have, by the definition: those of the columns it was seen with."""
    if tying is None:
        return seen
    ptr, params, width = tying
    allowed = np.zeros((len(seen), width), bool)
    for f, j in zip(*np.nonzero(seen), strict=True):
        allowed[f, params[ptr[j] : ptr[j + 1]]] = True
    return allowed


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_value_and_gradient_are_those_of_all_pairs_with_the_others_at_zero(seed, tied, valued):
    """Parameters stand in the order of features and columns; what is not observed has none."""
    x, seen, ptr, cells = problem(seed, valued=valued)
    tying = pairs_of(LABELS) if tied else None
    allowed = images(seen, tying)
    native = None if tying is None else Tying(*tying)
    every = Likelihood(CompressedRows(x, merge=False, bundles=False), chain(LABELS), ptr, cells, native)
    some = Likelihood(x, chain(LABELS), ptr, cells, native, merge=False, observed=True)
    assert every.sparse_classes == 0
    assert some.size == allowed.sum() + LABELS**2 < every.size
    if not tied:
        assert 0 < some.sparse_classes < x.width  # both ways of keeping weights
    theta = np.random.default_rng(seed).normal(size=some.size)
    whole = np.zeros(every.size)
    places = np.concatenate([np.flatnonzero(allowed), np.arange(allowed.size, every.size)])
    whole[places] = theta
    value, gradient = some.evaluate(theta)
    expected_value, expected = every.evaluate(whole)
    assert value == pytest.approx(expected_value, rel=1e-12)
    np.testing.assert_allclose(gradient, expected[places], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(some.weights(theta), every.weights(whole), rtol=1e-6, atol=1e-7)
    if not tied:
        assert not some.weights(theta).reshape(-1, LABELS)[~seen].any()


@pytest.mark.parametrize("merge", [False, True])
def test_gradient_equals_finite_differences(merge):
    x, _, ptr, cells = problem(5)
    objective = Likelihood(x, chain(LABELS), ptr, cells, merge=merge, observed=True)
    theta = np.random.default_rng(2).normal(size=objective.size)
    numeric = finite_differences(lambda v: objective.evaluate(v)[0], theta, 1e-2)
    np.testing.assert_allclose(objective.evaluate(theta)[1], numeric, atol=2e-3)


def test_with_every_pair_observed_nothing_differs_to_the_bit():
    """Two labels, and every feature seen with both."""
    x, seen, ptr, cells = problem(1, labels=2)
    assert seen.all()
    plain = CompressedRows(x, bundles=False)
    every, some = (Likelihood(plain, chain(2), ptr, cells, observed=o) for o in (False, True))
    theta = np.random.default_rng(3).normal(size=every.size)
    assert every.evaluate(theta)[0] == some.evaluate(theta)[0]
    assert every.evaluate(theta)[1].tobytes() == some.evaluate(theta)[1].tobytes()


def test_every_thread_count_gives_the_same_bits():
    x, _, ptr, cells = problem(4)
    results = []
    for threads in (1, 2, 3):
        objective = Likelihood(x, chain(LABELS), ptr, cells, observed=True, threads=threads)
        optimiser = Lbfgs(objective, np.zeros(objective.size), l2=0.1, threads=threads)
        for _ in range(5):
            optimiser.iterate()
        results.append(optimiser.x().tobytes())
    assert results[0] == results[1] == results[2]
