"""Averaged structured perceptron (Collins 2002)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from spanloom._native import Perceptron, SparseRows, Structure
from spanloom.learning.likelihood import Settings, Weights
from spanloom.learning.records import Iteration


def averaged_perceptron(
    rows: SparseRows,
    structure: Structure,
    gold: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]],
    settings: Settings,
    *,
    seed: int,
    component: int = 0,
) -> Iterator[tuple[Iteration, Callable[[], Weights]]]:
    """Train one component; yields each epoch's record and a function that returns the averaged weights.

    Sentences are visited in an order drawn anew from ``seed`` for every epoch. Training stops after
    ``settings.max_iterations`` epochs or the first without a mistake. Updates follow each other, so one thread works.
    """
    start = time.perf_counter()
    learner = Perceptron(rows, structure, *gold, seed)

    def weights() -> Weights:
        features, global_weights = learner.averaged()
        return Weights(features.reshape(-1, structure.columns), global_weights)

    for number in range(1, settings.max_iterations + 1):
        mistakes = learner.epoch()
        seconds = time.perf_counter() - start
        yield Iteration(number, component, float(mistakes), 0.0, 0.0, 1, seconds), weights
        if mistakes == 0:
            return
