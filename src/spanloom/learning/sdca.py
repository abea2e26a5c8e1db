"""Regularised maximum likelihood by stochastic dual coordinate ascent, finished by L-BFGS.

The objective is that of :mod:`spanloom.learning.lbfgs` with an L2 penalty alone, and so is its optimum. Coordinate
ascent (Le Priol, Piché & Lacoste-Julien 2018) comes near it in a fraction of the time: it goes to the sentences that
are not settled yet, where L-BFGS walks over all of them. Its dual is a lower bound of the optimum. Near the end L-BFGS
is as fast, and smoother: it takes over.

Where the penalty is small for the number of sentences, a round of it is about the objective with ``pull·‖w − y‖²``
more, and y goes ahead of the weights from round to round, as in Nesterov's method (Lin, Mairal & Harchaoui 2015).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spanloom._native import CompressedRows, DualAscent, Likelihood, Objective, SparseRows
from spanloom.base.arrays import Floats
from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_number
from spanloom.learning.follow import Learned, Steps
from spanloom.learning.lbfgs import LBFGS, weights_of
from spanloom.learning.problem import ROUGH, LearningProblem, StructureTrainer, Weights
from spanloom.learning.records import Iteration

SLOW = 1.0
"""L-BFGS takes over when a round raises the dual by less than so many times the tolerance."""
ROUNDS = 200
"""It does so after this number of rounds at the latest."""
PER_PULL = 10_000
"""Penalties below one for so many sentences are small: weights are pulled as if there were so much of it."""
LATEST, SLOW_PULLED = 3, 3.0
"""With a pull, L-BFGS takes over when the latest rounds lower the objective by less than so many times the tolerance
each."""


@dataclass(frozen=True)
class SDCA(StructureTrainer):
    """Regularised maximum likelihood, to the same optimum as ``LBFGS`` with an L2 penalty, and sooner.

    Each problem is learned on one core; the labels of ``edge`` and its like at the same time.

    Parameters
    ----------
    max_iter, patience
        As in ``Trainer``; an iteration is a round of passes, or one of L-BFGS.
    l2
        The penalty ``l2·‖w‖²``, above 0.
    tol
        As in ``LBFGS``.
    """

    l2: float = 0.1
    tol: float = 1e-4

    name = "sdca"
    usual = 500
    warm = True
    one_core = True

    @property
    def shares(self) -> bool:
        return True

    def check(self) -> None:
        super().check()
        check_number("l2", self.l2, low=0)
        if self.l2 == 0:
            raise ParameterError("The 'l2' parameter of trainer='sdca' must be above 0. Without a penalty use 'lbfgs'.")
        check_number("tol", self.tol, low=0)

    def roughly(self) -> SDCA:
        return replace(self, tol=max(self.tol, ROUGH))

    def prepare(self, rows: SparseRows, threads: int | None = None) -> CompressedRows:
        """Prepare rows for training: equal columns share a parameter. Bundles do not pay in so few passes."""
        return CompressedRows(rows, bundles=False, threads=threads or 0)

    def steps(
        self, problem: LearningProblem, *, seed: int, threads: int | None = None, component: int = 0
    ) -> Steps[Weights]:
        """Yield the rounds of coordinate ascent, on one thread, then the iterations of L-BFGS.

        With weights to start from, which have no dual, there are only the latter.
        """
        self.refuse_tying(problem)
        rows = problem.compressed or self.prepare(problem.rows, threads)
        objective = Likelihood(rows, problem.structure, problem.supervision, threads=threads or 0)
        start = problem.start
        x = None if start is None else objective.parameters(start.features.ravel(), start.globals)
        yield from self._ascend(
            objective,
            _Dual(rows, [problem], lambda found: found[0]),
            x,
            lambda x: weights_of(objective, problem.structure, x),
            convex=objective.convex,
            seed=seed,
            threads=threads,
            component=component,
        )

    def shared_steps(
        self, problems: Sequence[LearningProblem], share: float, *, seed: int, threads: int | None = None
    ) -> Steps[list[Weights]]:
        rows = problems[0].compressed or self.prepare(problems[0].rows, threads)
        problems = [replace(problem, compressed=rows) for problem in problems]
        for problem in problems:
            self.refuse_tying(problem)
        shared = LBFGS(l2=self.l2).shared(problems, share, threads)
        started = any(problem.start is not None for problem in problems)
        yield from self._ascend(
            shared.objective,
            _Dual(rows, problems, lambda found: shared.objective.parameters(np.array(found)), share),
            shared.start if started else None,
            shared.weights,
            convex=shared.convex,
            seed=seed,
            threads=threads,
        )

    def _ascend(
        self,
        objective: Objective,
        dual: _Dual,
        x: Floats | None,
        weights: Callable[[Floats], Learned],
        *,
        convex: bool,
        seed: int,
        threads: int | None,
        component: int = 0,
    ) -> Steps[Learned]:
        """Yield rounds on the dual, unless there are parameters to start from, then iterations of L-BFGS."""
        start = time.perf_counter()
        if not convex:
            raise ParameterError(
                "trainer='sdca' takes full annotation: with masks the loss is not convex; use trainer='lbfgs'"
            )
        bound, number, steps, rounds = -math.inf, 0, 0, 0
        lowest = [math.inf]
        if x is None:
            x, rounds = np.zeros(objective.size), min(self.iterations, ROUNDS)
            ascent = dual.ascent(self.l2, seed)
            before, pull = x, dual.pull(self.l2)
            if pull > 0:
                ascent.pull(pull, x)
        while number < rounds:
            number += 1
            raised = ascent.round()
            found = dual.parameters([ascent.x(t) for t in range(len(dual.problems))])
            value, gradient = objective.evaluate(found)
            value += self.l2 * float(found @ found)
            gradient += 2 * self.l2 * found
            square = float(gradient @ gradient)
            rise = raised - bound
            bound = max(bound, raised, value - square / (4 * self.l2))
            if value < lowest[-1]:
                x = found
            lowest.append(min(value, lowest[-1]))
            best = lowest[-1]
            passes = 1 + round((ascent.steps - steps) / dual.sentences)
            steps = ascent.steps
            norm, seconds = float(np.linalg.norm(x)), time.perf_counter() - start
            record = Iteration(number, component, best, math.sqrt(square), norm, passes, seconds, bound=bound)
            yield record, lambda x=x: weights(x)  # type: ignore[misc]
            near = self.tol * abs(best)
            if best - bound <= near:
                return
            slow = rise <= SLOW * near
            if pull > 0:
                slow = number > LATEST and lowest[-1 - LATEST] - best <= LATEST * SLOW_PULLED * near
                root = math.sqrt(self.l2 / (self.l2 + pull))
                ascent.pull(pull, found + (1 - root) / (1 + root) * (found - before))
                before = found
            if slow:
                break
        if number >= self.iterations:
            return
        rest = LBFGS(max_iter=self.iterations - number, l2=self.l2, tol=self.tol)
        spent = time.perf_counter() - start
        for record, learned in rest.minimise(
            objective, x, weights, convex=True, threads=threads, component=component, known=bound
        ):
            yield replace(record, number=number + record.number, seconds=spent + record.seconds), learned


@dataclass(frozen=True, slots=True)
class _Dual:
    """The dual of problems over the same rows; ``parameters`` makes those of the objective from the weights of each."""

    rows: CompressedRows
    problems: Sequence[LearningProblem]
    parameters: Callable[[list[Floats]], Floats]
    share: float = 0.0

    def ascent(self, l2: float, seed: int) -> DualAscent:
        return DualAscent(
            self.rows,
            [problem.structure for problem in self.problems],
            [problem.supervision for problem in self.problems],
            l2,
            seed,
            share=self.share,
        )

    def pull(self, l2: float) -> float:
        """How strongly weights are pulled; 0 where the penalty is not small, or several problems share weights."""
        return 0.0 if self.share > 0 else max(0.0, self.sentences / PER_PULL - l2)

    @property
    def sentences(self) -> int:
        return max(sum(len(problem.supervision) for problem in self.problems), 1)
