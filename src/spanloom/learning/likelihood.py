"""Regularised maximum likelihood by L-BFGS, or OWL-QN where there is an L1 penalty.

    minimise  Σ_s log Z_s − score_s(gold)  +  l2 ‖w‖²  +  l1 ‖w‖₁

The penalties are those of CRFsuite (its ``c2`` and ``c1``), on feature and transition weights alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spanloom._native import CompressedRows, Lbfgs, Likelihood, SparseRows, Structure
from spanloom.learning.records import Iteration
from spanloom.learning.tying import Weighted, shortest
from spanloom.schemes.maps import Tied

PERIOD = 10
"""The objective must fall by the tolerance, relatively, over this many iterations."""

GRADIENT_TOLERANCE = 1e-5
"""Training also stops when the gradient's norm is below this share of the weights' norm."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a component has learned: ``features[f, column]`` and one weight per global cell."""

    features: npt.NDArray[np.float32]
    globals: npt.NDArray[np.float64]

    @classmethod
    def zeros(cls, features: int, structure: Structure) -> Weights:
        """Return weights that say nothing."""
        return cls(np.zeros((features, structure.columns), np.float32), np.zeros(structure.global_cells))


@dataclass(frozen=True, slots=True)
class Settings:
    """How to minimise; see the module's formula."""

    l1: float = 0.0
    l2: float = 0.1
    max_iterations: int = 500
    tolerance: float = 1e-5
    memory: int = 6
    threads: int | None = None
    support: str = "all"
    """``"all"``: a weight for every feature and column; ``"observed"``: for those that the gold has together."""


def compress(rows: SparseRows, settings: Settings) -> CompressedRows:
    """Prepare rows for training; the components of a model share them.

    Equal feature columns share a parameter under L2. L1 may prefer one of them, so there they stay apart.
    """
    return CompressedRows(rows, merge=settings.l1 == 0)


def maximise_likelihood(
    rows: CompressedRows,
    structure: Structure,
    gold: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]],
    settings: Settings,
    *,
    site_tying: Tied | None = None,
    global_tying: Tied | None = None,
    component: int = 0,
) -> Iterator[tuple[Iteration, Callable[[], Weights]]]:
    """Train one component; yields each iteration's record and a function that returns the weights at that point.

    Parameters
    ----------
    rows
        The features of every site; see ``compress``.
    structure
        The graph over cells.
    gold
        ``(ptr, cells)``: the cells of sentence ``s`` are ``cells[ptr[s]:ptr[s + 1]]``.
    site_tying, global_tying
        ``(ptr, params, width)``: which parameters add up to each score column and each global cell.
    """
    start = time.perf_counter()
    threads = settings.threads or 0
    observed = settings.support == "observed"
    sites: Tied | Weighted | None = site_tying
    if site_tying is not None and settings.l1 == 0 and not observed and site_tying[2] > structure.columns:
        sites = shortest(site_tying)
    objective = Likelihood(rows, structure, *gold, sites, global_tying, observed=observed, threads=threads)
    optimiser = Lbfgs(
        objective, np.zeros(objective.size), settings.l1, settings.l2, memory=settings.memory, threads=threads
    )

    def weights() -> Weights:
        x = optimiser.x()
        features = objective.weights(x).reshape(-1, structure.columns)
        return Weights(features, objective.global_weights(x))

    values = [optimiser.state.value]
    for number in range(1, settings.max_iterations + 1):
        step = optimiser.iterate()
        if not step.moved and number > 1:
            return
        values.append(step.value)
        seconds = time.perf_counter() - start
        record = Iteration(number, component, step.value, step.gradient_norm, step.x_norm, step.evaluations, seconds)
        yield record, weights
        if step.gradient_norm <= GRADIENT_TOLERANCE * max(1.0, step.x_norm):
            return
        if len(values) > PERIOD and values[-1 - PERIOD] - step.value <= settings.tolerance * abs(step.value):
            return
