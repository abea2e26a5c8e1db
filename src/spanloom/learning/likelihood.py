"""Regularised maximum likelihood by L-BFGS, or OWL-QN where there is an L1 penalty.

    minimise  Σ_s log Z_s − score_s(gold)  +  l2 ‖w‖²  +  l1 ‖w‖₁

The penalties are those of CRFsuite (its ``c2`` and ``c1``), on feature and transition weights alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from spanloom._native import CompressedRows, Lbfgs, LbfgsStep, Likelihood, SparseRows, Structure
from spanloom.learning.records import Iteration
from spanloom.learning.tying import Weighted, shortest
from spanloom.schemes.maps import Tied

Gold = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]

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

    Equal feature columns share a parameter under L2. L1 may prefer one of them, so there they stay apart. Features that
    come along with others are added up once, unless each has its own columns.
    """
    return CompressedRows(rows, merge=settings.l1 == 0, bundles=settings.support == "all")


def maximise_likelihood(
    rows: CompressedRows,
    structure: Structure,
    gold: Gold,
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
    objective = _objective(rows, structure, gold, settings, site_tying, global_tying)
    optimiser = _optimiser(objective, np.zeros(objective.size), settings)
    for number, step in _steps(optimiser, settings):
        seconds = time.perf_counter() - start
        record = Iteration(number, component, step.value, step.gradient_norm, step.x_norm, step.evaluations, seconds)
        yield record, lambda: _weights(objective, structure, optimiser.x())


def along_l2(
    rows: CompressedRows,
    structure: Structure,
    gold: Gold,
    settings: Settings,
    values: Iterable[float],
    *,
    site_tying: Tied | None = None,
    global_tying: Tied | None = None,
) -> Iterator[tuple[float, Weights]]:
    """Train one component for each value of ``l2``, the largest first, each from the optimum of the one before.

    To choose among many values: neighbours on the path are close, so that each takes a fraction of the iterations that
    it would take from zero. The optimum of each is its own; ``settings.l2`` is not used.
    """
    objective = _objective(rows, structure, gold, settings, site_tying, global_tying)
    x = np.zeros(objective.size)
    for l2 in sorted(values, reverse=True):
        optimiser = _optimiser(objective, x, replace(settings, l2=l2))
        for _ in _steps(optimiser, settings):
            pass
        x = optimiser.x()
        yield l2, _weights(objective, structure, x)


def _objective(
    rows: CompressedRows,
    structure: Structure,
    gold: Gold,
    settings: Settings,
    site_tying: Tied | None,
    global_tying: Tied | None,
) -> Likelihood:
    observed = settings.support == "observed"
    sites: Tied | Weighted | None = site_tying
    if site_tying is not None and settings.l1 == 0 and not observed and site_tying[2] > structure.columns:
        sites = shortest(site_tying)
    threads = settings.threads or 0
    return Likelihood(rows, structure, *gold, sites, global_tying, observed=observed, threads=threads)


def _optimiser(objective: Likelihood, x: npt.NDArray[np.float64], settings: Settings) -> Lbfgs:
    return Lbfgs(objective, x, settings.l1, settings.l2, memory=settings.memory, threads=settings.threads or 0)


def _steps(optimiser: Lbfgs, settings: Settings) -> Iterator[tuple[int, LbfgsStep]]:
    """Iterate until the tolerance or the number of iterations says that it is enough."""
    values = [optimiser.state.value]
    for number in range(1, settings.max_iterations + 1):
        step = optimiser.iterate()
        if not step.moved and number > 1:
            return
        values.append(step.value)
        yield number, step
        if step.gradient_norm <= GRADIENT_TOLERANCE * max(1.0, step.x_norm):
            return
        if len(values) > PERIOD and values[-1 - PERIOD] - step.value <= settings.tolerance * abs(step.value):
            return


def _weights(objective: Likelihood, structure: Structure, x: npt.NDArray[np.float64]) -> Weights:
    return Weights(objective.weights(x).reshape(-1, structure.columns), objective.global_weights(x))
