"""Online learning of subset scores (McDonald, Crammer & Pereira 2005), with or without averaging.

For each sentence, with y = +1 for its correct subsets and y = −1 for the wrong ones among its k best,

    mira         min ½‖w − w'‖²  subject to  y · score ≥ 1 for all of them (Hildreth's method); with ``all_pairs``
                 subject to  score ≥ score' + 1 of every correct one and every wrong one (figure 4 of the paper)
    perceptron   w += y · f / m          where  y · score ≤ 0, m being how many of the same y are wrong
    loglinear    min ½‖w − w'‖² + limit · Σ log(1 + exp(−y · score)): decisions of their own, of probability σ(score)
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from spanloom._native import PairProgram, Restrictions, SparseRows, SubsetLearner
from spanloom.base.parameters import check_number
from spanloom.learning.follow import Steps
from spanloom.learning.problem import Trainer
from spanloom.learning.records import Iteration

ROLES = ("start", "next_left", "next_right", "skip_left", "skip_right", "end")
"""What a token can be in a subset: its first or last one, or an end of a step to the next token or over a gap."""


@dataclass(frozen=True, slots=True)
class SubsetWeights:
    """What was learned: ``tokens[f, role · types + type]``, ``distances[range · types + type]``, ``pairs[p, type]``.

    ``table`` is the state of the table of pair features.
    """

    tokens: npt.NDArray[np.float32]
    distances: npt.NDArray[np.float32]
    pairs: npt.NDArray[np.float32]
    table: Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Online(Trainer):
    """Learns the scores of subsets, sentence after sentence.

    Parameters
    ----------
    max_iter, patience
        As in ``Trainer``; usually 10 epochs.
    aggressiveness
        How much one sentence may change the weights, relative to what is usual. With 1e9, as much as it takes.
    average
        Whether the mean of the weights after every sentence is what was learned, or the last ones, as the paper has it.
    """

    aggressiveness: float = 1.0
    average: bool = True

    usual = 10
    limit: ClassVar[float]

    @property
    def most(self) -> float:
        return self.limit * self.aggressiveness

    @property
    def averages(self) -> bool:
        return self.average

    def check(self) -> None:
        super().check()
        check_number("aggressiveness", self.aggressiveness, low=0)


@dataclass(frozen=True)
class Mira(Online):
    """Large margins by Hildreth's method.

    Parameters
    ----------
    max_iter, patience, aggressiveness, average
        As in ``Online``.
    all_pairs
        Whether margins are between every correct and every wrong subset of a sentence, instead of 1 on the one side of
        zero and -1 on the other. A sentence without mentions teaches nothing then, and zero is no natural threshold:
        choose it on development data.
    """

    all_pairs: bool = False

    name = "mira"
    limit = 0.01

    @property
    def rule(self) -> str:
        return "ranking" if self.all_pairs else self.name


@dataclass(frozen=True)
class LogLinear(Online):
    """Log loss: every subset is a decision of its own, of probability σ(score)."""

    name = "loglinear"
    limit = 0.1


@dataclass(frozen=True, slots=True)
class SubsetProblem:
    """What to learn subset scores from.

    Attributes
    ----------
    rows
        The features of every token.
    names, columns
        Names and values of what the pair templates read.
    pairs
        The pair templates.
    gold
        Of each sentence, (type, tokens) of its subsets.
    types, max_gap
        How many types there are, and how wide a gap may be.
    k
        How many best subsets to look at; 0: as many as the sentence has tokens.
    restrictions
        Which subsets may stand together.
    """

    rows: SparseRows
    names: Sequence[str]
    columns: Sequence[Sequence[Sequence[str]]]
    pairs: PairProgram
    gold: Sequence[Sequence[tuple[int, list[int]]]]
    types: int
    max_gap: int
    k: int
    restrictions: Sequence[str]


def native_restrictions(names: Collection[str]) -> Restrictions:
    """Return what the native core calls restrictions of these names; ``contiguous`` is one of the lattice."""
    return Restrictions(
        no_overlap="no_overlap" in names,
        no_embedding="no_embedding" in names,
        no_self_embedding="no_self_embedding" in names,
    )


def learn_subsets(trainer: Trainer, problem: SubsetProblem, *, seed: int) -> Steps[SubsetWeights]:
    """Train; yields each epoch's record and a function that returns the weights, averaged if the trainer does so."""
    start = time.perf_counter()
    learner = SubsetLearner(
        problem.rows,
        list(problem.names),
        problem.columns,
        problem.pairs,
        problem.types,
        problem.max_gap,
        problem.gold,
        trainer.rule,
        trainer.most,
        problem.k,
        native_restrictions(problem.restrictions),
        seed,
    )

    def weights() -> SubsetWeights:
        tokens, distances, table, pair_weights = learner.weights(trainer.averages)
        return SubsetWeights(
            tokens.reshape(-1, len(ROLES) * problem.types), distances, pair_weights.reshape(-1, problem.types), table
        )

    for number in range(1, trainer.iterations + 1):
        epoch = learner.epoch()
        seconds = time.perf_counter() - start
        yield Iteration(number, 0, epoch.loss, 0.0, 0.0, 1, seconds), weights
        if epoch.loss == 0:
            return
