"""Hildreth's method gives the smallest change that satisfies the constraints, as reference solvers find it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from spanloom._native import hildreth, ranking_hildreth, soft_hildreth


def least_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """min ‖d‖ subject to A d ≥ b, by non-negative least squares (Lawson & Hanson 1974, chapter 23)."""
    matrix = np.vstack([a.T, b])
    target = np.zeros(len(matrix))
    target[-1] = 1
    u, _ = nnls(matrix, target)
    r = matrix @ u - target
    return -r[:-1] / r[-1]


@pytest.mark.parametrize("seed", range(20))
def test_hard_constraints(seed: int) -> None:
    random = np.random.default_rng(seed)
    a = random.normal(size=(6, 8))  # independent rows: a solution exists
    b = random.normal(size=6)
    alpha = hildreth((a @ a.T).ravel(), b, math.inf, 1e-12, 100_000)
    d = alpha @ a
    assert (alpha >= 0).all()
    assert (a @ d >= b - 1e-8).all()
    assert d == pytest.approx(least_distance(a, b), abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_soft_constraints(seed: int) -> None:
    """With a limit, constraints that contradict each other are broken as little as the limit makes worth while."""
    random = np.random.default_rng(seed)
    a, b, upper = random.normal(size=(9, 4)), random.normal(size=9) + 1, 0.3
    gram = a @ a.T
    alpha = hildreth(gram.ravel(), b, upper, 1e-12, 100_000)

    def dual(x: np.ndarray) -> tuple[float, np.ndarray]:
        return 0.5 * x @ gram @ x - b @ x, gram @ x - b

    reference = minimize(dual, np.zeros(9), jac=True, method="L-BFGS-B", bounds=[(0, upper)] * 9, tol=1e-14)
    assert ((alpha >= 0) & (alpha <= upper)).all()
    assert dual(alpha)[0] == pytest.approx(reference.fun, abs=1e-8)
    assert alpha @ a == pytest.approx(reference.x @ a, abs=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_log_loss(seed: int) -> None:
    """The soft margin minimises ½‖d‖² + C Σ log(1 + exp(b − A d)), as a general optimiser does."""
    random = np.random.default_rng(seed)
    a, b, upper = random.normal(size=(7, 4)), random.normal(size=7), 0.7

    def primal(d: np.ndarray) -> tuple[float, np.ndarray]:
        missing = b - a @ d
        sigmoid = 1 / (1 + np.exp(-missing))
        return 0.5 * d @ d + upper * np.logaddexp(0, missing).sum(), d - upper * a.T @ sigmoid

    reference = minimize(primal, np.zeros(4), jac=True, method="L-BFGS-B", tol=1e-14)
    alpha = soft_hildreth((a @ a.T).ravel(), b, upper, 1e-10, 100_000)
    assert alpha @ a == pytest.approx(reference.x, abs=1e-4)


@pytest.mark.parametrize("upper", [math.inf, 0.2])
@pytest.mark.parametrize("seed", range(10))
def test_a_ranking_is_one_constraint_for_every_pair(seed: int, upper: float) -> None:
    """Right ones score 1 more than wrong ones: the change is that of the method on the differences, written out."""
    random = np.random.default_rng(seed)
    a, scores, right = random.normal(size=(6, 9)), random.normal(size=6), 2
    beta = ranking_hildreth((a @ a.T).ravel(), scores, right, upper, 1e-12, 100_000)
    pairs = [(i, j) for i in range(right) for j in range(right, len(a))]
    differences = np.array([a[i] - a[j] for i, j in pairs])
    missing = np.array([1 - scores[i] + scores[j] for i, j in pairs])
    alpha = hildreth((differences @ differences.T).ravel(), missing, upper, 1e-12, 100_000)
    change = np.where(np.arange(6) < right, beta, -beta) @ a
    assert change == pytest.approx(alpha @ differences, abs=1e-6)
    if upper == math.inf:
        assert change == pytest.approx(least_distance(differences, missing), abs=1e-6)


def test_a_ranking_of_more_right_ones_than_there_are_is_an_error() -> None:
    with pytest.raises(ValueError, match="3 right ones of 2"):
        ranking_hildreth(np.eye(2).ravel(), np.zeros(2), 3, 1.0)


def test_nothing_moves_where_all_holds() -> None:
    assert hildreth(np.eye(3).ravel(), np.array([-1.0, 0.0, -2.0]), math.inf).tolist() == [0, 0, 0]


def test_two_lines_by_hand() -> None:
    """d₁ ≥ 1 and d₁ + d₂ ≥ 3: the nearest point to the origin is (1.5, 1.5), where only the second binds."""
    a = np.array([[1.0, 0.0], [1.0, 1.0]])
    alpha = hildreth((a @ a.T).ravel(), np.array([1.0, 3.0]), math.inf)
    assert alpha == pytest.approx([0, 1.5])


def test_a_gram_matrix_of_another_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="5 numbers for 2 constraints"):
        hildreth(np.zeros(5), np.zeros(2), 1.0)
