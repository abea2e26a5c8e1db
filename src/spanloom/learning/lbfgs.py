"""Regularised maximum likelihood by L-BFGS, or OWL-QN where there is an L1 penalty.

    minimise  Σ_s log Z_s − log Z_s(allowed)  +  l2 ‖w‖²  +  l1 ‖w‖₁

where Z_s(allowed) sums the structures that agree with what is known of the sentence: the gold one alone if all is.

The penalties are those of CRFsuite (its ``c2`` and ``c1``), on feature and transition weights alike.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spanloom._native import CompressedRows, Lbfgs, LbfgsStep, Likelihood, Objective, SparseRows, Structure, Tying
from spanloom.base.arrays import Floats, Tied
from spanloom.base.errors import ParameterError
from spanloom.base.memory import check_memory, in_words
from spanloom.base.parameters import check_choice, check_count, check_number
from spanloom.learning.follow import Learned, Steps
from spanloom.learning.problem import ROUGH, LearningProblem, StructureTrainer, Weights
from spanloom.learning.records import Iteration
from spanloom.learning.sharing import SharedObjective
from spanloom.learning.tying import shortest, untied

_log = logging.getLogger(__name__)
_TOLD = 1 << 30
"""Bytes from which on the need of memory is told."""
PERIOD = 10
"""Iterations over which the objective must fall by a share of the tolerance."""
STANDSTILL = 0.1
"""That share."""
BUNDLES_PAY = 15
"""From so many iterations on there are bundles; ``benchmarks/bundles.py`` has what they save and cost. The number of
labels does not count, so that labels do not change each other's last bits."""

STEEPEST = 1e8
"""The norm of a gradient along which even the shortest step may lead too far."""

GRADIENT_TOLERANCE = 1e-5
"""Training also stops when the gradient's norm is below this share of the weights' norm."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Several problems as one: its objective, where to start, what parameters stand for, and whether it is convex."""

    objective: SharedObjective
    start: Floats
    weights: Callable[[Floats], list[Weights]]
    convex: bool


@dataclass(frozen=True)
class LBFGS(StructureTrainer):
    """Regularised maximum likelihood, to the optimum.

    Parameters
    ----------
    max_iter, patience
        As in ``Trainer``; usually at most 500 iterations.
    l1, l2
        Penalties ``l1·‖w‖₁ + l2·‖w‖²``.
    support
        Which (feature, label) pairs get a weight: ``"all"``, or those ``"observed"`` in the training data, as CRFsuite
        does by default. All pairs cost more with many labels, and know what a feature speaks against.
    tol
        Training stops when the objective is known to be within this share of its optimum, by a lower bound that the
        L2 penalty gives. It also stops when ten iterations lower it by less than a tenth of this share: the bound
        may be far off, and without an L2 penalty or with partial annotation there is none.
    memory
        How many steps the optimiser remembers.
    """

    l1: float = 0.0
    l2: float = 0.1
    support: str = "all"
    tol: float = 1e-4
    memory: int = 6

    name = "lbfgs"
    usual = 500
    warm = True
    sooner = True

    def check(self) -> None:
        super().check()
        check_number("l1", self.l1, low=0)
        check_number("l2", self.l2, low=0)
        check_choice("support", self.support, ("all", "observed"))
        check_number("tol", self.tol, low=0)
        check_count("memory", self.memory)

    @property
    def shares(self) -> bool:
        return self.l1 == 0 and self.support == "all"

    def roughly(self) -> LBFGS:
        return replace(self, tol=max(self.tol, ROUGH))

    def prepare(self, rows: SparseRows, threads: int | None = None) -> CompressedRows:
        """Prepare rows for training; the components of a model share them.

        Equal feature columns share a parameter under L2. L1 may prefer one of them, so there they stay apart. Features
        that come along with others are added up once, unless each has its own columns, or so few iterations follow
        that it does not pay.
        """
        bundles = self.support == "all" and self.iterations >= BUNDLES_PAY
        return CompressedRows(rows, merge=self.l1 == 0, bundles=bundles, threads=threads or 0)

    def steps(
        self, problem: LearningProblem, *, seed: int = 0, threads: int | None = None, component: int = 0
    ) -> Steps[Weights]:
        objective = self._objective(problem, threads)
        x = self._start(objective, problem)
        return self.minimise(
            objective,
            x,
            lambda x: weights_of(objective, problem.structure, x),
            convex=objective.convex,
            threads=threads,
            component=component,
        )

    def minimise(
        self,
        objective: Objective,
        x: Floats,
        weights: Callable[[Floats], Learned],
        *,
        convex: bool,
        threads: int | None = None,
        component: int = 0,
        known: float = -math.inf,
    ) -> Steps[Learned]:
        """Minimise an objective from ``x`` on; ``weights`` says what the parameters stand for. See ``steps``.

        ``known`` is a lower bound of the minimum, where there is one already.
        """
        start = time.perf_counter()
        self._check_memory(objective.size)
        optimiser = self._optimiser(objective, x, threads)
        for number, step in self._iterate(optimiser, convex, known):
            record = Iteration(
                number,
                component,
                step.value,
                step.gradient_norm,
                step.x_norm,
                step.evaluations,
                time.perf_counter() - start,
                bound=max(step.lower_bound, known) if convex and self.l2 > 0 else None,
            )
            yield record, lambda: weights(optimiser.x())

    def shared_steps(
        self, problems: Sequence[LearningProblem], share: float, *, seed: int = 0, threads: int | None = None
    ) -> Steps[list[Weights]]:
        shared = self.shared(problems, share, threads)
        return self.minimise(shared.objective, shared.start, shared.weights, convex=shared.convex, threads=threads)

    def shared(self, problems: Sequence[LearningProblem], share: float, threads: int | None) -> Shared:
        """Return several problems as one, whose weights have something in common; see ``SharedObjective``."""
        if not self.shares:
            raise ParameterError(
                f"weights are shared under an L2 penalty, by all pairs of features and labels, got l1={self.l1:g} and "
                f"support={self.support!r}; leave them out, or use share=0"
            )
        parts = [self._objective(problem, threads) for problem in problems]
        objective = SharedObjective(parts, share)
        starts = np.array([self._start(part, problem) for part, problem in zip(parts, problems, strict=True)])

        def weights(x: Floats) -> list[Weights]:
            rows = objective.weights(x)
            return [weights_of(part, p.structure, row) for part, p, row in zip(parts, problems, rows, strict=True)]

        return Shared(objective, objective.parameters(starts), weights, all(part.convex for part in parts))

    def along_l2(
        self, problem: LearningProblem, values: Iterable[float], *, threads: int | None = None
    ) -> Iterator[tuple[float, Weights]]:
        """Train for each value of ``l2``, the largest first, each from the optimum of the one before.

        To choose among many values: neighbours on the path are close, so that each takes a fraction of the iterations
        that it would take from zero. The optimum of each is its own; ``self.l2`` is not used.
        """
        objective = self._objective(problem, threads)
        x = self._start(objective, problem)
        for l2 in sorted(values, reverse=True):
            optimiser = replace(self, l2=l2)._optimiser(objective, x, threads)
            for _ in self._iterate(optimiser, objective.convex):
                pass
            x = optimiser.x()
            yield l2, weights_of(objective, problem.structure, x)

    def _objective(self, problem: LearningProblem, threads: int | None) -> Likelihood:
        rows = problem.compressed or self.prepare(problem.rows, threads)
        observed = self.support == "observed"
        return Likelihood(
            rows,
            problem.structure,
            problem.supervision,
            native_tying(self.site_tying(problem.site_tying, problem.structure.columns)),
            native_tying(problem.global_tying),
            observed=observed,
            threads=threads or 0,
        )

    def site_tying(self, tied: Tied | None, columns: int) -> Tied | None:
        """Return the tying that is trained: with an L2 penalty alone, one with no more parameters than columns."""
        if tied is not None and self.l1 == 0 and self.support == "all" and tied.width > columns:
            return shortest(tied)
        return tied

    def _start(self, objective: Likelihood, problem: LearningProblem) -> Floats:
        if problem.start is None:
            return np.zeros(objective.size)
        weights = untied(problem.start.features, self.site_tying(problem.site_tying, problem.structure.columns)).astype(
            np.float32
        )
        return objective.parameters(weights.ravel(), untied(problem.start.globals, problem.global_tying))

    def bytes_for(self, parameters: int) -> int:
        """Return how much memory a training takes beside the features.

        Point, gradient, their successors and, with L1, the pseudo-gradient are double; direction and history, two
        vectors a step, are float, and so are the weights that the gradient reads and those that come out.

        Examples
        --------
        >>> LBFGS(memory=6).bytes_for(1_000_000)
        92000000
        """
        doubles = 5 if self.l1 > 0 else 4
        return parameters * (8 * doubles + 4 * (1 + 2 * self.memory) + 2 * 4)

    def _check_memory(self, parameters: int) -> None:
        needed = self.bytes_for(parameters)
        if needed >= _TOLD:
            _log.info("training takes about %s of memory beside the features", in_words(needed))
        check_memory(
            needed,
            f"training of {parameters:,} weights",
            "leave out rare features (min_count=2), use fewer or smaller templates, memory=2, or features in files "
            "(docs/scale.md)",
        )

    def _optimiser(self, objective: Objective, x: Floats, threads: int | None) -> Lbfgs:
        return Lbfgs(objective, x, self.l1, self.l2, memory=self.memory, threads=threads or 0)

    def _iterate(self, optimiser: Lbfgs, convex: bool, known: float = -math.inf) -> Iterator[tuple[int, LbfgsStep]]:
        """Iterate until the tolerance or the number of iterations says that it is enough."""
        values = [optimiser.state.value]
        for number in range(1, self.iterations + 1):
            step = optimiser.iterate()
            if not step.moved and number == 1 and step.gradient_norm > STEEPEST:
                raise ParameterError(
                    f"no step lowers the objective: its gradient has the norm {step.gradient_norm:.1e}. Values of "
                    "features are too large; scale them to about 1"
                )
            if not step.moved and number > 1:
                return
            values.append(step.value)
            yield number, step
            if step.gradient_norm <= GRADIENT_TOLERANCE * max(1.0, step.x_norm):
                return
            near = self.tol * abs(step.value)
            if convex and step.value - max(step.lower_bound, known) <= near:
                return
            if len(values) > PERIOD and values[-1 - PERIOD] - step.value <= STANDSTILL * near:
                return


def weights_of(objective: Likelihood, structure: Structure, x: Floats) -> Weights:
    return Weights.learned(objective.weights(x).reshape(-1, structure.columns), objective.global_weights(x))


def native_tying(tied: Tied | None) -> Tying | None:
    """Return a tying as the native core takes it."""
    return None if tied is None else Tying(*tied)
