"""``cross_validate``: every document is predicted by a model that did not see it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation import Evaluation, Score, evaluate
from spanloom.tuning.folds import folds, others
from spanloom.tuning.jobs import Result, Settings, TrainingJob, Trainings, mentions_of, run_jobs, score_of


class CrossValidation:
    """What came of a cross-validation.

    Attributes
    ----------
    report
        On the whole corpus, every document predicted by the model of its fold: micro scores are over all folds.
    predicted
        The corpus with these predictions, in its order.
    folds
        The score of each fold.
    seconds
        Of training, for each fold.
    """

    def __init__(self, corpus: list[Sentence | Document], parts: list[list[int]], results: list[Result]) -> None:
        self.folds: list[Score] = [score_of(r["scores"][0]) for r in results]
        self.seconds: list[float] = [r["seconds"] for r in results]
        found: dict[int, Sentence | Document] = {}
        for part, result in zip(parts, results, strict=True):
            for i, mentions in zip(part, mentions_of(result), strict=True):
                found[i] = _with(corpus[i], mentions)
        self.predicted = [found[i] for i in range(len(corpus))]
        predicting = sum(r["scores"][0][3] for r in results)
        self.report: Evaluation = evaluate(corpus, self.predicted, seconds=predicting)

    @property
    def spread(self) -> float:
        """The standard deviation of F1 over the folds."""
        values = [s.f1 for s in self.folds]
        mean = sum(values) / len(values)
        return float((sum((v - mean) ** 2 for v in values) / (len(values) - 1)) ** 0.5)

    def to_json(self) -> dict[str, Any]:
        """Return the report on the whole corpus with the folds' scores as a plain dict."""
        folds = [{**s.to_json(), "seconds": t} for s, t in zip(self.folds, self.seconds, strict=True)]
        return {**self.report.to_json(), "folds": folds, "f1_standard_deviation": self.spread}


def cross_validate(
    corpus: Iterable[Sentence | Document],
    k: int = 5,
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int = 1,
    processes: int | None = None,
    state: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    make: Callable[[Settings], Any] | None = None,
    trainings: Trainings | None = None,
) -> CrossValidation:
    """Train on all folds but one and predict that one, for each fold (Alex et al. 2007: five, by document).

    Parameters
    ----------
    corpus
        Documents, which are never parted, or sentences.
    k, seed
        How many folds, and the seed of the shuffle.
    settings
        Of the ``Recognizer``.
    processes, state, progress, make, trainings
        As in :func:`spanloom.tuning.tune`.

    Examples
    --------
    >>> from spanloom import read
    >>> settings = {"keep": "outermost", "max_iter": 5}
    >>> found = cross_validate(read("sample:dev"), 2, settings=settings, processes=1)
    >>> sum(s.gold for s in found.folds) == found.report.micro.gold
    True
    """
    items = list(corpus)
    parts = folds(items, k, seed=seed)
    jobs = [TrainingJob(dict(settings or {}), [{}], others(len(items), part), tuple(part), keep=True) for part in parts]
    results = run_jobs(items, jobs, processes=processes, state=state, progress=progress, make=make, trainings=trainings)
    return CrossValidation(items, parts, results)


def _with(item: Sentence | Document, mentions: list[list[Mention]]) -> Sentence | Document:
    if isinstance(item, Sentence):
        return item.with_mentions(mentions[0])
    sentences = [s.with_mentions(m) for s, m in zip(item.sentences, mentions, strict=True)]
    return Document(sentences, item.id, item.text, item.starts, item.meta)
