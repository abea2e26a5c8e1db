"""Averaged structured perceptron (Collins 2002)."""

from __future__ import annotations

import time
from dataclasses import dataclass

from spanloom._native import Perceptron as NativePerceptron
from spanloom.learning.follow import Steps
from spanloom.learning.problem import LearningProblem, StructureTrainer, Weights
from spanloom.learning.records import Iteration


@dataclass(frozen=True)
class Perceptron(StructureTrainer):
    """The averaged perceptron. It has no probabilities.

    Parameters
    ----------
    max_iter, patience
        As in ``Trainer``; usually at most 500 epochs for structures, and 10 for ``multilabel``.
    """

    name = "perceptron"
    usual = 500

    def steps(
        self, problem: LearningProblem, *, seed: int, threads: int | None = None, component: int = 0
    ) -> Steps[Weights]:
        """Yield each epoch's record and a function that returns the averaged weights.

        Sentences are visited in an order drawn anew from ``seed`` for every epoch. Training stops after ``max_iter``
        epochs or the first without a mistake. Updates follow each other, so one thread works.
        """
        self.refuse_tying(problem)
        start = time.perf_counter()
        learner = NativePerceptron(problem.rows, problem.structure, problem.supervision, seed)

        def weights() -> Weights:
            features, global_weights = learner.averaged()
            return Weights.learned(features.reshape(-1, problem.structure.columns), global_weights)

        for number in range(1, self.iterations + 1):
            mistakes = learner.epoch()
            seconds = time.perf_counter() - start
            yield Iteration(number, component, float(mistakes), 0.0, 0.0, 1, seconds), weights
            if mistakes == 0:
                return
