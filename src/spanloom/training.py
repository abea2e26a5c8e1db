"""Training of a recogniser: annotate, choose the model, train, say what happened."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import spanloom
from spanloom.annotators import Pipeline
from spanloom.annotators.base import Fitting
from spanloom.base.errors import CorpusError
from spanloom.corpus import Document, Sentence
from spanloom.corpus.document import as_documents
from spanloom.deciding import settle
from spanloom.decisions.best import OnDev
from spanloom.decisions.named import decision
from spanloom.decisions.rule import Rule
from spanloom.evaluation.score import micro
from spanloom.learning import Interrupted, Iteration, Listener
from spanloom.models import Model, Task
from spanloom.models.fitting import Fitted, fit_model
from spanloom.models.holding import hold
from spanloom.models.trained import Trained

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer


@dataclass(frozen=True, slots=True)
class Training:
    """What a training gives."""

    fitted: Fitted
    pipeline: Pipeline
    rule: Rule
    facts: dict[str, Any]


def train(
    ner: Recognizer,
    corpus: Iterable[Sentence | Document],
    dev: Iterable[Sentence | Document] | None,
    listener: Listener | None,
) -> Training:
    """Train with the settings of a recogniser, which stays as it is."""
    ner.check(dev is not None)
    features = ner.feature_set()
    pipeline = Pipeline.of(ner.annotators, open_model=type(ner).load)
    start = time.perf_counter()
    documents = as_documents(corpus)
    if not any(len(s) for document in documents for s in document.sentences):
        raise CorpusError("there is nothing to learn from: the training corpus has no tokens")
    model = ner.model_for(documents)
    trainer = ner.check_model(model)
    documents = learned(model, documents)
    pipeline.use_threads(ner.threads)
    wanted = (*features.columns(), *model.requires)

    def like(most: int, templates: tuple[str, ...]) -> Recognizer:
        """Make a recogniser like this one that has learned nothing: without annotators, at most so many iterations."""
        return type(ner)(
            model, features=features.plus(templates), trainer=trainer.at_most(most), keep=ner.keep, seed=ner.seed,
            threads=ner.threads,
        )  # fmt: skip

    pipeline, documents = pipeline.fit(documents, Fitting(like, listener, wanted))
    features = features.plus(pipeline.templates)
    wanted = (*features.columns(), *model.requires)
    documents = pipeline.annotate(documents, wanted)
    dev_sentences: list[Sentence] | None = None
    if dev is not None:
        watched = pipeline.annotate(learned(model, as_documents(dev)), wanted)
        dev_sentences = [s for document in watched for s in document.sentences]
    decide = decision(ner.decide)
    task = Task(
        [s for document in documents for s in document.sentences],
        [len(document.sentences) for document in documents],
        features,
        trainer,
        penalty="auto" if isinstance(decide, OnDev) and model.penalised else decide.penalty_wanted,
        keep=ner.keep,
        dev=dev_sentences,
        seed=ner.seed,
        threads=ner.threads,
        listener=listener,
    )
    fitted = fit_model(model, task)
    try:
        rule, chosen = settle(decide, task, fitted)
    except KeyboardInterrupt:  # the model is there, only the decision is not
        fitted = replace(fitted, interrupted=Interrupted(fitted.trained, fitted.history))
        rule, chosen = Rule(), None
    facts = _facts(task, fitted, rule, start)
    return Training(fitted, pipeline, rule, facts if chosen is None else {**facts, "decision": chosen})


def learned(model: Model, documents: list[Document]) -> list[Document]:
    """Return documents whose mentions are what the model is to learn."""
    return [document.with_sentences(model.before(document.sentences)) for document in documents]


def _facts(task: Task, fitted: Fitted, rule: Rule, start: float) -> dict[str, Any]:
    trained, held, history = fitted.trained, fitted.held, fitted.history
    facts = {
        "sentences": len(task.sentences),
        "tokens": sum(task.lengths),
        "mentions": sum(map(len, held.mentions)),
        "lost": len(held.lost),
        "misread": len(held.misread),
        "ceiling": held.ceiling,
        "untrained": sorted(trained.untrained),
        "iterations": len(history),
        "objective": sum(record.objective for record in _last_of_each(history)),
        "dev_ceiling": None if task.dev is None else _ceiling(trained, task),
        "dev_f1": None if task.dev is None else _dev_f1(trained, rule, task),
        "seconds": round(time.perf_counter() - start, 3),
        "interrupted": fitted.interrupted is not None,
        "spanloom": spanloom.__version__,
        "python": platform.python_version(),
    }
    if trained.penalty_curve is not None:
        facts["penalty_curve"] = trained.penalty_curve.to_json()
    return facts


def _ceiling(trained: Trained, task: Task) -> float:
    """The share of development mentions that the model, as it is now, could find."""
    return hold(trained.holder, task.dev or (), "longest" if task.keep == "raise" else task.keep).ceiling


def _dev_f1(trained: Trained, rule: Rule, task: Task) -> float:
    """Micro F1 of the whole model on the development data, as it decides."""
    dev = task.dev or ()
    return micro([s.mentions for s in dev], rule.answers(trained, dev, task.threads)).f1


def _last_of_each(history: list[Iteration]) -> list[Iteration]:
    return list({record.component: record for record in history}.values())
