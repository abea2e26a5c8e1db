"""A mention penalty without development data: chosen by cross-fitting on the training data, which are then all used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spanloom.corpus import Document
from spanloom.corpus.document import as_documents
from spanloom.evaluation.calibration import Curve

FOLDS = 5
SMALL = 2000
"""Below so many sentences every fold is held out once, else one tenth of the documents: that is enough, and quicker."""
TENTH = 10


def folds(documents: Sequence[Document]) -> list[tuple[list[Document], list[Document]]]:
    """Return what to train on and what to hold out, once or several times; documents are cut only where they are few.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> many = [Document([Sentence(["a"], [Mention("X", ((0, 1),))])], str(i)) for i in range(12)]
    >>> [[doc.id for doc in held] for _, held in folds(many)]
    [['0', '5', '10'], ['1', '6', '11'], ['2', '7'], ['3', '8'], ['4', '9']]
    """
    units = list(documents)
    if len(units) < 2 * FOLDS:
        units = as_documents(sentence for document in units for sentence in document.sentences)
    if len(units) < 2 * FOLDS:
        return []
    small = sum(len(unit.sentences) for unit in units) < SMALL
    step, times = (FOLDS, FOLDS) if small else (TENTH, 1)
    made = [([u for i, u in enumerate(units) if i % step != k], units[k::step]) for k in range(times)]
    return [(kept, held) for kept, held in made if _mentions(kept) and _mentions(held)]


def _mentions(documents: Sequence[Document]) -> bool:
    return any(sentence.mentions for document in documents for sentence in document.sentences)


def cross_fitted(
    documents: Sequence[Document], train: Callable[[list[Document], list[Document]], Any]
) -> tuple[Curve | None, Any]:
    """Return scores by penalty, added up over what was held out, and a training that was interrupted, if one was.

    Parameters
    ----------
    train
        Trains on the first documents and chooses a penalty on the second.
    """
    total: Curve | None = None
    for kept, held in folds(documents):
        done = train(kept, held)
        if done.fitted.interrupted is not None:
            return None, done
        own = done.fitted.trained.penalty_curve
        if own is not None:
            scores = own.scores if total is None else [a + b for a, b in zip(total.scores, own.scores, strict=True)]
            total = Curve(own.name, own.values, scores)
    if total is None:
        return None, None
    alike = len({score.f1 for score in total.scores}) == 1
    return Curve(total.name, total.values, total.scores, 0.0 if alike else total.best), None
