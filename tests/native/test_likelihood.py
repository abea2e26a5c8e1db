"""Likelihood, its gradient, merged features, tied columns, and the optimisers that use it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from oracles import chain_structures, finite_differences, log_z
from spanloom._native import ChainStructure, Lbfgs, Likelihood, Perceptron, SparseRows, Tying


def free_chain(labels: int) -> ChainStructure:
    return ChainStructure(labels, np.ones(labels**2, np.uint8), np.ones(labels, np.uint8), np.ones(labels, np.uint8))


def problem(seed: int, labels: int = 3, features: int = 7, lengths=(3, 0, 1, 4), valued: bool = False):
    """Random sentences with random features and labels, some features always together."""
    random = np.random.default_rng(seed)
    group_ptr = np.concatenate([[0], np.cumsum(lengths)])
    rows = [random.permutation(features)[: random.integers(0, features)] for _ in range(group_ptr[-1])]
    rows = [np.concatenate([row, row[row == 0] + features]) for row in rows]  # a twin of feature 0
    row_ptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
    ids = np.concatenate(rows).astype(np.uint32)
    values = random.normal(size=len(ids)).astype(np.float32) if valued else None
    x = SparseRows(group_ptr, row_ptr, ids, features + 1, values)
    y = [random.integers(0, labels, n) for n in lengths]
    cells = [np.concatenate([np.arange(len(z)) * labels + z, len(z) * labels + z[:-1] * labels + z[1:]]) for z in y]
    gold_ptr = np.concatenate([[0], np.cumsum([len(c) for c in cells])]).astype(np.int64)
    return x, y, gold_ptr, np.concatenate(cells).astype(np.int32)


def brute_loss(x: SparseRows, y, weights, transitions) -> float:
    """Σ log Z − gold score, by enumeration."""
    labels = weights.shape[1]
    dense = np.zeros((x.rows, x.width))
    values = np.ones(x.entries) if x.values is None else x.values
    for r in range(x.rows):
        for e in range(x.row_ptr[r], x.row_ptr[r + 1]):
            dense[r, x.ids[e]] += values[e]
    total = 0.0
    for g, gold in enumerate(y):
        scores = dense[x.group_ptr[g] : x.group_ptr[g + 1]] @ weights
        everything = chain_structures(scores, transitions, lambda a, b: True, lambda a: True, lambda a: True)
        total += log_z(everything)
        total -= sum(scores[t, k] for t, k in enumerate(gold))
        total -= sum(transitions[a, b] for a, b in itertools.pairwise(gold))
    assert labels == transitions.shape[0]
    return total


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_loss_is_that_of_enumeration(seed, valued):
    """The loss at random weights equals the sum over all label sequences."""
    x, y, ptr, cells = problem(seed, valued=valued)
    objective = Likelihood(x, free_chain(3), ptr, cells, merge=False)
    # Scores are computed from float weights: take weights that floats hold exactly.
    theta = np.random.default_rng(seed).integers(-8, 8, objective.size) / 4
    weights, transitions = theta[: x.width * 3].reshape(-1, 3), theta[x.width * 3 :].reshape(3, 3)
    assert objective.evaluate(theta)[0] == pytest.approx(brute_loss(x, y, weights, transitions), rel=1e-9)


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("valued", [False, True])
def test_gradient_equals_finite_differences(merge, valued):
    """Every partial derivative, with and without merged features and real values."""
    x, _, ptr, cells = problem(1, valued=valued)
    objective = Likelihood(x, free_chain(3), ptr, cells, merge=merge)
    theta = np.random.default_rng(2).normal(size=objective.size)
    gradient = objective.evaluate(theta)[1]
    # Weights are rounded to floats inside, so that the differences need a wide step.
    numeric = finite_differences(lambda v: objective.evaluate(v)[0], theta, 1e-2)
    np.testing.assert_allclose(gradient, numeric, atol=2e-3)


def test_equal_columns_are_merged_and_nothing_else_changes():
    """Two features that fire together share a parameter; the optimum's weights and value are the same."""
    x, _, ptr, cells = problem(4, lengths=(5,) * 10)
    apart, merged = (Likelihood(x, free_chain(3), ptr, cells, merge=m) for m in (False, True))
    assert apart.classes == x.width == merged.features
    assert merged.classes == x.width - 1
    results = []
    for objective in (apart, merged):
        optimiser = Lbfgs(objective, np.zeros(objective.size), l2=0.3)
        for _ in range(200):
            if not optimiser.iterate().moved:
                break
        results.append(
            (optimiser.state.value, objective.weights(optimiser.x()), objective.global_weights(optimiser.x()))
        )
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-7)
    np.testing.assert_allclose(results[0][1], results[1][1], atol=1e-3)
    weights = results[1][1].reshape(-1, 3)
    np.testing.assert_array_equal(weights[0], weights[-1])


def test_every_thread_count_gives_the_same_bits():
    """Sums are grouped in one way only."""
    x, _, ptr, cells = problem(5, lengths=(40,) * 300)
    theta = None
    results = []
    for threads in (1, 2, 3):
        objective = Likelihood(x, free_chain(3), ptr, cells, threads=threads)
        theta = np.random.default_rng(0).normal(size=objective.size)
        value, gradient = objective.evaluate(theta)
        optimiser = Lbfgs(objective, np.zeros(objective.size), l2=0.1, threads=threads)
        for _ in range(5):
            optimiser.iterate()
        results.append((value, gradient.tobytes(), optimiser.x().tobytes()))
    assert results[0] == results[1] == results[2]


def test_tied_columns_add_up():
    """W_score = W_param · M: the loss is that of the sums, the gradient that of finite differences."""
    x, _, ptr, cells = problem(6)
    # Columns 0, 1, 2 are made of parameters {0}, {1, 3}, {2, 3}; pairs of one parameter each, all shared.
    site = Tying(np.array([0, 1, 3, 5]), np.array([0, 1, 3, 2, 3], np.int32), 4)
    shared = Tying(np.arange(10), np.zeros(9, np.int32), 1)
    tied = Likelihood(x, free_chain(3), ptr, cells, site_tying=site, global_tying=shared, merge=False)
    plain = Likelihood(x, free_chain(3), ptr, cells, merge=False)
    assert tied.size == x.width * 4 + 1
    theta = np.random.default_rng(0).integers(-8, 8, tied.size) / 4
    m = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]])
    summed = np.concatenate([(theta[:-1].reshape(-1, 4) @ m).ravel(), np.full(9, theta[-1])])
    assert tied.evaluate(theta)[0] == pytest.approx(plain.evaluate(summed)[0], rel=1e-12)
    np.testing.assert_allclose(tied.weights(theta), summed[:-9])
    np.testing.assert_allclose(tied.global_weights(theta), summed[-9:])
    numeric = finite_differences(lambda v: tied.evaluate(v)[0], theta, 1e-2)
    np.testing.assert_allclose(tied.evaluate(theta)[1], numeric, atol=2e-3)


@pytest.mark.parametrize("labels", [4, 7, 12, 16, 20, 33, 41])
def test_one_word_sentences_are_logistic_regression(labels):
    """Every way to cut a row of labels into vectors, against a textbook softmax; with values and without."""
    random = np.random.default_rng(labels)
    sites, features = 60, 50
    rows = [np.sort(random.choice(features, size=random.integers(0, 41), replace=False)) for _ in range(sites)]
    row_ptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    ids = np.concatenate(rows).astype(np.uint32)
    values = random.normal(size=len(ids)).astype(np.float32)
    gold = random.integers(0, labels, sites)
    for used in (None, values):
        x = SparseRows(np.arange(sites + 1), row_ptr, ids, features, used)
        dense = np.zeros((sites, features))
        dense[np.repeat(np.arange(sites), np.diff(row_ptr)), ids] = 1.0 if used is None else used
        objective = Likelihood(x, free_chain(labels), np.arange(sites + 1), gold.astype(np.int32), merge=False)
        theta = random.normal(size=objective.size) * 0.3
        scores = dense @ theta[: features * labels].reshape(features, labels)
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        value, gradient = objective.evaluate(theta)
        assert value == pytest.approx(-np.log(p[np.arange(sites), gold]).sum(), rel=1e-5)
        p[np.arange(sites), gold] -= 1
        np.testing.assert_allclose(gradient[: features * labels], (dense.T @ p).ravel(), atol=1e-4)
        assert not gradient[features * labels :].any()


@pytest.mark.parametrize("memory", [1, 6])
@pytest.mark.parametrize("l2", [0.01, 1.0])
def test_lbfgs_finds_the_optimum_that_scipy_finds(l2, memory):
    """The same value as an independent optimiser on the same objective."""
    x, _, ptr, cells = problem(7, lengths=(5,) * 30)
    objective = Likelihood(x, free_chain(3), ptr, cells)

    def penalised(v):
        value, gradient = objective.evaluate(v)
        return value + l2 * v @ v, gradient + 2 * l2 * v

    reference = minimize(penalised, np.zeros(objective.size), jac=True, method="L-BFGS-B", options={"ftol": 1e-13})
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=l2, memory=memory)
    for _ in range(300):
        if not optimiser.iterate().moved:
            break
    assert optimiser.state.value == pytest.approx(reference.fun, rel=1e-6)


def test_l1_reaches_the_optimality_conditions():
    """At the optimum the slope is -l1·sign(w) where w ≠ 0 and at most l1 in size where w = 0; and some are 0."""
    x, _, ptr, cells = problem(8, lengths=(5,) * 30)
    objective = Likelihood(x, free_chain(3), ptr, cells, merge=False)
    l1 = 3.0
    optimiser = Lbfgs(objective, np.zeros(objective.size), l1=l1)
    for _ in range(500):
        if not optimiser.iterate().moved:
            break
    w = optimiser.x()
    slope = objective.evaluate(w)[1]
    assert 0 < (w == 0).sum() < len(w)
    np.testing.assert_allclose(slope[w != 0], -l1 * np.sign(w[w != 0]), atol=1e-2)
    assert (np.abs(slope[w == 0]) <= l1 + 1e-2).all()


def test_values_descend():
    """Every iteration lowers the objective."""
    x, _, ptr, cells = problem(9, lengths=(5,) * 30)
    objective = Likelihood(x, free_chain(3), ptr, cells)
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=0.1)
    values = [optimiser.state.value]
    for _ in range(20):
        values.append(optimiser.iterate().value)
    assert all(b < a for a, b in itertools.pairwise(values))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_perceptron_separates_what_can_be_separated(seed):
    """With one feature per token every labelling can be learned: some epoch makes no mistake, and averages agree."""
    random = np.random.default_rng(seed)
    n, labels = 8, 3
    y = random.integers(0, labels, n)
    x = SparseRows(np.array([0, n]), np.arange(n + 1), np.arange(n, dtype=np.uint32), n)
    cells = np.concatenate([np.arange(n) * labels + y, n * labels + y[:-1] * labels + y[1:]]).astype(np.int32)
    learner = Perceptron(x, free_chain(labels), np.array([0, len(cells)]), cells, seed)
    assert 0 in [learner.epoch() for _ in range(30)]


def test_perceptron_by_hand():
    """One token, two labels, gold 1, two visits.

    The first guess is 0 (ties go to the first label), which is wrong. After the first visit the weights are (-1, 1),
    unchanged by the second. Averaging over the start and both visits counts them in two of three: (-2/3, 2/3).
    """
    x = SparseRows(np.array([0, 1]), np.array([0, 1]), np.array([0], np.uint32), 1)
    learner = Perceptron(x, free_chain(2), np.array([0, 1]), np.array([1], np.int32), 0)
    assert [learner.epoch(), learner.epoch()] == [1, 0]
    np.testing.assert_allclose(learner.averaged()[0], [-2 / 3, 2 / 3], rtol=1e-6)


def test_gold_outside_the_table_is_refused():
    """A cell beyond the sentence names the sentence and the range."""
    x, _, ptr, cells = problem(0)
    bad = cells.copy()
    bad[0] = 99
    with pytest.raises(ValueError, match=r"cell 99 of sentence 0 is not in \[0, 18\)"):
        Likelihood(x, free_chain(3), ptr, bad)
    with pytest.raises(ValueError, match="do not fit 4 sentences"):
        Likelihood(x, free_chain(3), ptr[:-1], cells)
    tying = Tying(np.array([0, 1, 2, 3]), np.array([0, 1, 9], np.int32), 4)
    with pytest.raises(ValueError, match="names parameter 9 of 4"):
        Likelihood(x, free_chain(3), ptr, cells, site_tying=tying)


def test_illegal_gold_is_an_error_with_its_sentence():
    """A gold pair that the structure forbids has no probability; the sentence is named."""
    x, _, ptr, cells = problem(0)
    forbidden = ChainStructure(3, np.zeros(9, np.uint8), np.ones(3, np.uint8), np.ones(3, np.uint8))
    with pytest.raises(ValueError, match="sentence 0 is not finite"):
        Likelihood(x, forbidden, ptr, cells).evaluate(np.zeros(x.width * 3 - 3 + 9))
