"""A recogniser from what is known of a project, and its score on text that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spanloom.configuration import configure
from spanloom.corpus.crossfit import cross_fit
from spanloom.corpus.document import Document
from spanloom.corpus.mention import Mention
from spanloom.evaluation.score import Score, micro
from spanloom.learning import Iteration
from spanloom.recognizer import Recognizer
from spanloom.workbench.errors import Refused
from spanloom.workbench.gold import complete

FOLDS = 3
STEPS = 60
"""Iterations of one training, where the next one goes on from its weights: near the optimum, and soon."""
Listener = Callable[[Iteration], None]


@dataclass(frozen=True)
class Fitted:
    """A recogniser, and how many sentences it learned from; ``left_out``: those known in part, which it cannot use."""

    ner: Recognizer
    sentences: int
    left_out: int


def fit(
    docs: Sequence[Document],
    settings: dict[str, Any],
    start: Recognizer | None = None,
    listener: Listener | None = None,
    threads: int | None = None,
    *,
    believed: bool = True,
) -> Fitted:
    """Train on all that is known; raises ``Refused`` if that is nothing.

    Parameters
    ----------
    settings
        ``model`` and ``features``, by name. ``"auto"`` is ``multilabel`` with calibrated probabilities where mentions
        are discontinuous.
    start
        The last recogniser, whose weights training starts from.
    believed
        Whether probabilities are wanted, which may take more trainings.
    """
    if not any(s.mentions for doc in docs for s in doc.sentences):
        raise Refused("there is nothing to learn from yet; annotate or confirm a few mentions")
    ner = _recognizer(docs, settings, threads, believed)
    sentences = sum(len(doc.sentences) for doc in docs)
    model = ner.model_for(docs)
    if not model.takes_partial:
        docs = complete(docs)
        if not any(s.mentions for doc in docs for s in doc.sentences):
            raise Refused(f"the model {model.name} learns from confirmed sentences only; confirm some with mentions")
    used = sum(len(doc.sentences) for doc in docs)
    trainer = ner.check_model(model)
    if trainer.warm:
        ner.trainer = trainer.at_most(STEPS)
    warm = start if start is not None and start.model_.name == model.name and trainer.warm else None
    ner.fit(docs, listener=listener, start=warm)
    return Fitted(ner, used, sentences - used)


def held_out_score(ner: Recognizer, docs: Sequence[Document]) -> Score | None:
    """Return the score on sentences that are known completely; None if there are none with mentions."""
    known = complete(docs)
    gold = [s.mentions for doc in known for s in doc.sentences]
    if not any(gold):
        return None
    found = [s.mentions for doc in ner.predict(known, probabilities=False) for s in doc.sentences]
    return micro(gold, found)


def cross_fitted_score(
    docs: Sequence[Document], settings: dict[str, Any], listener: Listener | None = None, threads: int | None = None
) -> Score | None:
    """Return the score of models on sentences that they did not learn from; None if there is too little.

    Documents are dealt to the folds in turn, since neighbours in a corpus are often of one kind.
    """
    docs = [doc for fold in range(FOLDS) for doc in docs[fold::FOLDS]]
    sizes = [len(doc.sentences) for doc in docs]
    items = [(doc, k) for doc in docs for k in range(len(doc.sentences))]
    if len(items) < 2 * FOLDS:
        return None

    def train(rest: list[tuple[Document, int]]) -> Recognizer | None:
        try:
            known = [Document([doc.sentences[k]], doc.id) for doc, k in rest]
            return fit(known, settings, None, listener, threads, believed=False).ner
        except Refused:
            return None

    def apply(ner: Recognizer, block: list[tuple[Document, int]]) -> list[list[Mention]]:
        plain = [doc.sentences[k].with_mentions([]) for doc, k in block]
        return [one.mentions for one in ner.predict(plain, probabilities=False)]

    found: list[list[Mention]] = cross_fit(items, FOLDS, train, apply, sizes=sizes, default=list)
    gold = [doc.sentences[k] for doc, k in items]
    pairs = [(s.mentions, mentions) for s, mentions in zip(gold, found, strict=True) if s.known is None]
    if not any(mentions for mentions, _ in pairs):
        return None
    return micro([one for one, _ in pairs], [other for _, other in pairs])


def _recognizer(docs: Sequence[Document], settings: dict[str, Any], threads: int | None, believed: bool) -> Recognizer:
    own: dict[str, Any] = {"model": settings["model"], "features": settings["features"], "threads": threads}
    broken = any(m.discontinuous for doc in docs for s in doc.sentences for m in s.mentions)
    if own["model"] == "auto" and broken:
        calibrated = {"calibrate": "platt", "cross_fit": FOLDS} if believed else {}
        return configure({**own, "model": "multilabel", **calibrated, "keep": "longest"})
    return configure({**own, "keep": "longest"})
