"""Stochastic maximum likelihood with a step for every weight (Duchi, Hazan & Singer 2011).

The objective is that of :mod:`spanloom.learning.likelihood`. A few passes over the sentences come near its minimum,
where L-BFGS takes a hundred or more; they do not reach it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from spanloom._native import Adagrad, SparseRows, Structure
from spanloom.base.errors import ParameterError
from spanloom.learning.likelihood import Settings, Weights
from spanloom.learning.records import Iteration

EPOCHS = 10
"""How often every sentence is visited, unless told otherwise."""
RATE = 0.2
"""How far a weight goes at first for a gradient of one."""
DAMPING = 0.1
"""Where the sums of squared gradients start: without it, the first step would be as long for the smallest gradient."""


def stochastic_likelihood(
    rows: SparseRows,
    structure: Structure,
    gold: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]],
    settings: Settings,
    *,
    seed: int,
    component: int = 0,
) -> Iterator[tuple[Iteration, Callable[[], Weights]]]:
    """Train one component; yields each epoch's record and a function that returns the weights.

    The objective in the records is the sum of the sentences' losses, each before its step. Steps follow each other, so
    one thread works.
    """
    if settings.l1 or settings.support != "all":
        raise ParameterError(
            f'algorithm="adagrad" takes l1=0 and support="all", got l1={settings.l1} and support={settings.support!r}; '
            'algorithm="lbfgs" takes others'
        )
    start = time.perf_counter()
    learner = Adagrad(rows, structure, *gold, settings.l2, RATE, DAMPING, seed)

    def weights() -> Weights:
        features, global_weights = learner.weights()
        return Weights(features.reshape(-1, structure.columns), global_weights)

    for number in range(1, settings.max_iterations + 1):
        loss = learner.epoch()
        yield Iteration(number, component, loss, 0.0, 0.0, 1, time.perf_counter() - start), weights
