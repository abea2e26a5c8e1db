"""Stochastic maximum likelihood with a step for every weight (Duchi, Hazan & Singer 2011).

The objective is that of :mod:`spanloom.learning.lbfgs`. A few passes over the sentences come near its minimum, where
L-BFGS takes a hundred or more; they do not reach it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from spanloom._native import Adagrad as NativeAdagrad
from spanloom.base.parameters import check_number
from spanloom.learning.follow import Steps
from spanloom.learning.problem import LearningProblem, StructureTrainer, Weights
from spanloom.learning.records import Iteration

RATE = 0.2
"""How far a weight goes at first for a gradient of one."""
DAMPING = 0.1
"""Where the sums of squared gradients start: without it, the first step would be as long for the smallest gradient."""


@dataclass(frozen=True)
class Adagrad(StructureTrainer):
    """Regularised likelihood in a few passes, for many labels or little time; near its maximum, on one core.

    Parameters
    ----------
    max_iter, patience
        As in ``Trainer``; usually 10 passes.
    l2
        The penalty ``l2·‖w‖²``.
    """

    l2: float = 0.1

    name = "adagrad"
    usual = 10

    def check(self) -> None:
        super().check()
        check_number("l2", self.l2, low=0)

    def steps(
        self, problem: LearningProblem, *, seed: int, threads: int | None = None, component: int = 0
    ) -> Steps[Weights]:
        """Yield each epoch's record and a function that returns the weights.

        The objective in the records is the sum of the sentences' losses, each before its step. Steps follow each other,
        so one thread works.
        """
        self.refuse_tying(problem)
        start = time.perf_counter()
        learner = NativeAdagrad(problem.rows, problem.structure, problem.supervision, self.l2, RATE, DAMPING, seed)

        def weights() -> Weights:
            features, global_weights = learner.weights()
            return Weights.learned(features.reshape(-1, problem.structure.columns), global_weights)

        for number in range(1, self.iterations + 1):
            loss = learner.epoch()
            yield Iteration(number, component, loss, 0.0, 0.0, 1, time.perf_counter() - start), weights
