"""A mention penalty without development data: chosen by cross-fitting on the training data, which are then all used."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spanloom.corpus import Document
from spanloom.corpus.document import as_documents
from spanloom.evaluation.calibration import Curve

FOLDS, ENOUGH = 5, 400
"""A fifth of the documents is held out, then another one, until so many sentences were: more would say little more."""
SMALL, TENTH = 2000, 10
"""From so many sentences on, one tenth of the documents is held out once: that is enough, and quicker."""


def folds(documents: Sequence[Document]) -> list[tuple[list[Document], list[Document]]]:
    """Return what to train on and what to hold out, once or several times; documents are cut only where they are few.

    Only sentences that are annotated completely are held out: others would make right answers wrong.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> many = [Document([Sentence(["a"], [Mention("X", ((0, 1),))])], str(i)) for i in range(12)]
    >>> [[doc.id for doc in held] for _, held in folds(many)]
    [['0', '5', '10'], ['1', '6', '11'], ['2', '7'], ['3', '8'], ['4', '9']]
    """
    units = [document for document in documents if any(s.known is None for s in document.sentences)]
    always = [document for document in documents if all(s.known is not None for s in document.sentences)]
    if len(units) < 2 * FOLDS:
        cut = as_documents(sentence for document in units for sentence in document.sentences)
        units = [one for one in cut if one.sentences[0].known is None]
        always += [one for one in cut if one.sentences[0].known is not None]
    if len(units) < 2 * FOLDS:
        return []
    sentences = sum(len(unit.sentences) for unit in units)
    step, times = (FOLDS, min(FOLDS, math.ceil(ENOUGH * FOLDS / sentences))) if sentences < SMALL else (TENTH, 1)
    made = [
        ([*(u for i, u in enumerate(units) if i % step != k), *always], [_complete(u) for u in units[k::step]])
        for k in range(times)
    ]
    return [(kept, held) for kept, held in made if _mentions(kept) and _mentions(held)]


def _complete(document: Document) -> Document:
    kept = [s for s in document.sentences if s.known is None]
    return document if len(kept) == len(document.sentences) else Document(kept, document.id, meta=document.meta)


def _mentions(documents: Sequence[Document]) -> bool:
    return any(sentence.mentions for document in documents for sentence in document.sentences)


def added(total: Curve | None, more: Curve | None) -> Curve | None:
    """Add the scores of held-out data to those of others; the chosen penalty is the best of all."""
    if total is None or more is None:
        return more if total is None else total
    scores = [a + b for a, b in zip(total.scores, more.scores, strict=True)]
    alike = len({score.f1 for score in scores}) == 1
    summed = Curve(total.name, total.values, scores)
    return Curve(total.name, total.values, scores, 0.0 if alike else summed.best)
