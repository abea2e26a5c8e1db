"""``tune``: try settings on held-out data and say which are best."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.corpus import Document, Sentence
from spanloom.evaluation import Score
from spanloom.tuning.folds import folds, others, part_of
from spanloom.tuning.jobs import Settings, TrainingJob, Trainings, run_jobs, score_of

L2_VALUES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""The L2 penalties that are tried unless others are given: ten, as in Cho et al."""

DECODING = ("penalty", "decide__penalty", "threshold", "model__threshold")
"""Parameters that count when predicting: tried after training, without a new one."""

SHARE = "share"
"""The name in a grid of the share of the training documents to learn from."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of some settings.

    ``score`` is over all held-out text, ``seconds`` those of training, ``objective`` its values after each iteration
    (of the first fold).
    """

    settings: Settings
    score: Score
    seconds: float
    objective: list[float]

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        shown = {"settings": self.settings, "seconds": self.seconds, "objective": self.objective}
        return {**shown, **self.score.to_json()}


@dataclass(frozen=True, slots=True)
class Tuning:
    """All trials, in the order of the grid, and the best of them."""

    trials: list[Trial]

    @property
    def best(self) -> Trial:
        """The trial with the highest F1; of equal ones the first."""
        return max(self.trials, key=lambda t: t.score.f1)

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        return {"best": self.best.to_json(), "trials": [t.to_json() for t in self.trials]}


def tune(
    train: Iterable[Sentence | Document],
    dev: Iterable[Sentence | Document] | None = None,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    base: Mapping[str, Any] | None = None,
    k: int = 0,
    seed: int = 1,
    processes: int | None = None,
    state: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    make: Callable[[Settings], Any] | None = None,
    trainings: Trainings | None = None,
) -> Tuning:
    """Train with every combination of settings and score each on held-out text.

    Parameters
    ----------
    train
        What to learn from.
    dev
        What to score on; or give ``k``.
    grid
        For each parameter of the ``Recognizer`` (the last part of a nested name is enough) the values to try;
        ``min_count`` is the cut-off of the feature set.
        Left out: ten values of ``l2``. Those of ``DECODING`` are tried on the trained model, without a new training.
        ``share`` is the share of the training documents that is used, for a learning curve.
    base
        Settings that all trials share.
    k
        Score by cross-validation in so many folds of documents; micro F1 over all folds.
    seed
        Of the folds.
    processes
        How many trainings at a time; one per core if left out.
    state
        A file that keeps finished trainings: the same call goes on where it was interrupted.
    progress
        Called with the number of trainings done and of all trainings.
    make
        Makes a recogniser of settings, for trials of something else than a ``Recognizer``.
    trainings
        Does the trainings, if not processes of this machine: ``spanloom.scale.dask.trainings(client)``.

    Examples
    --------
    >>> from spanloom import read
    >>> found = tune(read("sample:train"), read("sample:dev"), grid={"l2": [0.1, 1.0]}, processes=1,
    ...              base={"keep": "outermost", "max_iter": 5})
    >>> [t.settings["l2"] for t in found.trials]
    [0.1, 1.0]
    """
    grid = dict(grid or {"l2": L2_VALUES})
    _check(grid, dev, k)
    learning = {name: values for name, values in grid.items() if name not in DECODING}
    decoding = _combinations({name: values for name, values in grid.items() if name in DECODING})
    corpus = list(train)
    if dev is None:
        parts = [(others(len(corpus), test), tuple(test)) for test in folds(corpus, k, seed=seed)]
    else:
        n = len(corpus)
        corpus += list(dev)
        parts = [(tuple(range(n)), tuple(range(n, len(corpus))))]
    settings = [{**(base or {}), **values} for values in _combinations(learning)]
    jobs = []
    for one in settings:
        own = {name: value for name, value in one.items() if name != SHARE}
        jobs += [
            TrainingJob(own, decoding, part_of(learn, one.get(SHARE, 1), seed=seed), test) for learn, test in parts
        ]
    results = run_jobs(
        corpus, jobs, processes=processes, state=state, progress=progress, make=make, trainings=trainings
    )
    trials = []
    for i, one in enumerate(settings):
        found = results[i * len(parts) : (i + 1) * len(parts)]
        seconds = round(sum(r["seconds"] for r in found), 3)
        for d, values in enumerate(decoding):
            score = sum((score_of(r["scores"][d]) for r in found), Score(0, 0, 0, 0))
            shown = {name: value for name, value in {**one, **values}.items() if name in grid}
            trials.append(Trial(shown, score, seconds, found[0]["objective"]))
    return Tuning(trials)


def _check(grid: Mapping[str, Sequence[Any]], dev: object, k: int) -> None:
    if (dev is None) == (k == 0):
        raise ParameterError("tune scores either on dev or by cross-validation in k folds: give one of them")
    for name, values in grid.items():
        if isinstance(values, str) or not len(values):
            raise ParameterError(f"the grid needs a list of values for {name}, got {values!r}")


def _combinations(grid: Mapping[str, Sequence[Any]]) -> list[Settings]:
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
