"""Online learning of subset scores (McDonald, Crammer & Pereira 2005), with averaging.

For each sentence, with y = +1 for its correct subsets and y = −1 for the wrong ones among its k best,

    mira         min ½‖w − w'‖²  subject to  y · score ≥ 1 for all of them (Hildreth's method)
    perceptron   w += y · f / m          where  y · score ≤ 0, m being how many of the same y are wrong
    loglinear    min ½‖w − w'‖² + limit · Σ log(1 + exp(−y · score)): decisions of their own, of probability σ(score)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import PairProgram, SparseRows, SubsetLearner
from spanloom.learning.likelihood import Settings
from spanloom.learning.records import Iteration

RULES = ("mira", "perceptron", "loglinear")
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


def learn_subsets(
    rows: SparseRows,
    columns: tuple[Sequence[str], Sequence[Sequence[Sequence[str]]]],
    pairs: PairProgram,
    gold: Sequence[Sequence[tuple[int, list[int]]]],
    settings: Settings,
    *,
    types: int,
    max_gap: int,
    rule: str,
    limit: float,
    k: int,
    restrictions: Sequence[str],
    seed: int,
) -> Iterator[tuple[Iteration, Callable[[], SubsetWeights]]]:
    """Train; yields each epoch's record and a function that returns the averaged weights.

    Parameters
    ----------
    rows
        The features of every token.
    columns
        Names and values of what the pair templates read.
    gold
        Of each sentence, (type, tokens) of its subsets.
    limit
        How much one subset may move the weights at most.
    k
        How many best subsets to look at; 0: as many as the sentence has tokens.
    """
    start = time.perf_counter()
    learner = SubsetLearner(
        rows,
        list(columns[0]),
        columns[1],
        pairs,
        types,
        max_gap,
        gold,
        rule,
        limit,
        k,
        "no_overlap" in restrictions,
        "no_embedding" in restrictions,
        "no_self_embedding" in restrictions,
        seed,
    )

    def weights() -> SubsetWeights:
        tokens, distances, table, pair_weights = learner.averaged()
        return SubsetWeights(tokens.reshape(-1, len(ROLES) * types), distances, pair_weights.reshape(-1, types), table)

    for number in range(1, settings.max_iterations + 1):
        epoch = learner.epoch()
        seconds = time.perf_counter() - start
        yield Iteration(number, 0, epoch.loss, 0.0, 0.0, 1, seconds), weights
        if epoch.loss == 0:
            return
