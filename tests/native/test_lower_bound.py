"""The lower bound that L-BFGS gives: below the minimum, above what the last gradient says, and near in the end."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom._native import Lbfgs, Objective

L2 = 1.0


class Squares(Objective):
    """Least squares |A x - b|^2 / 2, whose minimum with the penalty l2 |x|^2 is known in closed form."""

    def __init__(self, seed: int, n: int = 40, size: int = 60) -> None:
        super().__init__(size)
        random = np.random.default_rng(seed)
        self.a = random.standard_normal((n, size)) * np.logspace(0, 0.5, n)[:, None]
        self.b = random.standard_normal(n)

    def evaluate(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        rest = self.a @ x - self.b
        return 0.5 * float(rest @ rest), self.a.T @ rest

    def minimum(self) -> float:
        x = np.linalg.solve(self.a.T @ self.a + 2 * L2 * np.eye(self.size), self.a.T @ self.b)
        return self.evaluate(x)[0] + L2 * float(x @ x)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("memory", [1, 6, 15])
def test_the_bound_is_below_the_minimum_and_comes_near(seed: int, memory: int) -> None:
    objective = Squares(seed)
    lowest = objective.minimum()
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=L2, memory=memory)
    before = -np.inf
    for _ in range(400):
        step = optimiser.iterate()
        alone = step.value - step.gradient_norm**2 / (4 * L2)
        assert step.lower_bound <= lowest * (1 + 1e-6)
        assert step.lower_bound >= max(before, alone) - 1e-9 * abs(step.value)
        before = step.lower_bound
        if step.value - step.lower_bound <= 1e-4 * step.value:
            break
    assert lowest <= step.value <= lowest * (1 + 1.1e-4)
    assert step.value - step.lower_bound <= 1e-4 * step.value


def test_more_points_give_a_better_bound() -> None:
    """At half way, the bound from several points is nearer than that from the last gradient alone."""
    objective = Squares(1)
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=L2, memory=15)
    for _ in range(15):
        step = optimiser.iterate()
    alone = step.gradient_norm**2 / (4 * L2)
    assert step.value - step.lower_bound < 0.75 * alone


def test_with_an_l1_penalty_the_bound_holds_too() -> None:
    """Against the minimum that a long run finds."""
    objective = Squares(2)
    found = []
    for iterations in (10, 3000):
        optimiser = Lbfgs(objective, np.zeros(objective.size), l1=0.5, l2=L2)
        for _ in range(iterations):
            step = optimiser.iterate()
            if not step.moved:
                break
        found.append(step)
    assert found[0].lower_bound <= found[1].value * (1 + 1e-6)
    assert found[1].lower_bound == pytest.approx(found[1].value, rel=1e-2)


def test_without_an_l2_penalty_there_is_none() -> None:
    objective = Squares(3)
    optimiser = Lbfgs(objective, np.zeros(objective.size))
    assert optimiser.iterate().lower_bound == -np.inf
