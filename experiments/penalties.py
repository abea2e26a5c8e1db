"""Choose the L2 penalty of a line, on data that it is not tested on.

Trainings that differ in the penalty alone follow each other from the largest on, each from where those before lead to
(``spanloom.tuning.jobs``), and stop a little earlier than the one that is tested. What is done is kept in a file, so
that lines with the same training data share it, and an interrupted line goes on where it stopped.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.settings import SEARCH_TOL, recognizer
from spanloom import Document, Sentence
from spanloom.evaluation import Score
from spanloom.tuning import folds
from spanloom.tuning.folds import others
from spanloom.tuning.jobs import TrainingJob, run_jobs

WIDER = 3
"""So often is the grid made wider, where the best value stands at its edge."""

Part = tuple[Sequence[int], Sequence[int]]
"""Numbers of what to learn from, and of what to score."""


@dataclass(frozen=True)
class Chosen:
    """The best value, and F1 by value."""

    l2: float
    tried: dict[float, float]

    @property
    def at_edge(self) -> bool:
        """Whether no larger, or no smaller one was tried."""
        return len(self.tried) > 1 and self.l2 in (max(self.tried), min(self.tried))

    def to_json(self) -> dict[str, Any]:
        """Return what a result keeps of it."""
        tried = {f"{value:g}": f1 for value, f1 in sorted(self.tried.items())}
        return {"l2": self.l2, "tried": tried, "l2_at_edge": self.at_edge}


def crossed(corpus: Sequence[Document | Sentence], k: int) -> list[Part]:
    """Return the parts of a cross-validation by document."""
    return [(others(len(corpus), part), tuple(part)) for part in folds(corpus, k, seed=1)]


def choose(
    corpus: Sequence[Document | Sentence],
    parts: Sequence[Part],
    settings: Mapping[str, Any],
    *,
    state: str | os.PathLike[str] | None = None,
    processes: int | None = None,
) -> Chosen:
    """Return the value of ``settings["l2"]``, a list, with the best F1 on all parts together.

    Where it stands at the edge of the list, further values are tried beyond it, at most ``WIDER`` times. Of equals, the
    largest is taken. Without a list there is no choice.
    """
    if not isinstance(settings["l2"], Sequence):
        return Chosen(settings["l2"], {})
    tried: dict[float, float] = {}
    wanted = sorted(settings["l2"], reverse=True)
    for _ in range(1 + WIDER):
        jobs = [
            TrainingJob({**settings, "l2": value, "tol": SEARCH_TOL}, [{}], tuple(learn), tuple(test))
            for value in wanted
            for learn, test in parts
        ]
        results = run_jobs(corpus, jobs, state=state, processes=processes, make=recognizer)
        for i, value in enumerate(wanted):
            tried[value] = _f1(results[i * len(parts) : (i + 1) * len(parts)])
        best = max(tried, key=lambda value: (tried[value], value))
        wanted = _beyond(best, sorted(tried))
        if not wanted:
            break
    return Chosen(best, tried)


def _beyond(best: float, values: Sequence[float]) -> list[float]:
    """Return the value that follows where the best one is the last on its side."""
    if len(values) < 2 or values[0] < best < values[-1]:
        return []
    return [values[0] ** 2 / values[1] if best == values[0] else values[-1] ** 2 / values[-2]]


def _f1(results: Sequence[Mapping[str, Any]]) -> float:
    gold, predicted, correct = (sum(result["scores"][0][i] for result in results) for i in range(3))
    return Score(gold, predicted, correct, correct).f1
