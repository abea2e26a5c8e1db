"""Training of a recogniser: annotate, choose the model, train, say what happened."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import spanloom
from spanloom.annotators import Pipeline
from spanloom.annotators.base import Fitting
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.choosing import added, folds
from spanloom.corpus import Document, Sentence
from spanloom.corpus.document import as_documents, judgeable, to_choose_on
from spanloom.corpus.retokenizing import choose_rules, compare_rules
from spanloom.corpus.token_rules import DEFAULT_RULES, TokenRules
from spanloom.deciding import settle
from spanloom.decisions.decision import ByThreshold, Decision, OnDev, decision
from spanloom.decisions.penalty import Wanted
from spanloom.decisions.rule import Rule
from spanloom.encoders import encoder
from spanloom.evaluation.calibration import Curve
from spanloom.evaluation.score import micro
from spanloom.features import FeatureSet
from spanloom.learning import Interrupted, Iteration, Listener, Trainer
from spanloom.learning.shares import Retold
from spanloom.models import Model, Task
from spanloom.models.fitting import Fitted, fit_model
from spanloom.models.holding import hold
from spanloom.models.learner import ComponentLearner
from spanloom.models.trained import Trained
from spanloom.models.warm import share_known

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer

TELLING = 5
"""Sentences of fewer tokens may well be in several texts."""


@dataclass(frozen=True, slots=True)
class Training:
    """What a training gives."""

    fitted: Fitted
    pipeline: Pipeline
    rule: Rule
    facts: dict[str, Any]
    token_rules: TokenRules


@dataclass(frozen=True, slots=True)
class Given:
    """What settings name and files hold: features with their tables, annotators that have learned nothing."""

    features: FeatureSet
    pipeline: Pipeline

    @classmethod
    def of(cls, ner: Recognizer) -> Given:
        """Read them."""
        return cls(ner.feature_set(), Pipeline.of(ner.annotators, open_model=type(ner).load))


def train(
    ner: Recognizer,
    corpus: Iterable[Sentence | Document],
    dev: Iterable[Sentence | Document] | None,
    listener: Listener | None,
    start_from: Trained | None = None,
    learner: Callable[..., ComponentLearner] | None = None,
) -> Training:
    """Train with the settings of a recogniser, which stays as it is."""
    ner.check(dev is not None)
    given = Given.of(ner)  # before the corpus is read: what is wrong with them is said before any work
    start = time.perf_counter()
    documents = as_documents(corpus)
    if not any(len(s) for document in documents for s in document.sentences):
        raise CorpusError("there is nothing to learn from: the training corpus has no tokens")
    if any(s.mentions and s.believed is not None for document in documents for s in document.sentences):
        raise CorpusError(
            "a sentence lists mentions and has what a teacher believes (known.believed), and only one of the two can "
            "be learned from; remove its mentions, or its field known"
        )
    if learner is not None and ner.encoder is not None:
        raise ParameterError("an encoder learns in one process; leave out learner=…")
    model = ner.model_for(documents, alone=learner is None)
    trainer = ner.trainer_for(model, documents, alone=learner is None)
    decide = decision(ner.decide)
    if dev is not None:
        dev = as_documents(dev)
        _check_dev(decide, documents, dev)
    if dev is None and decide.penalty_wanted == "auto" and model.penalised:
        hold(model, [s for document in learned(model, documents) for s in document.sentences], ner.keep)
        return _with_own_penalty(ner, model, trainer, documents, listener, start_from, learner)
    if start_from is not None and not trainer.warm:
        raise ParameterError(
            f"the trainer {trainer.name!r} starts from nothing, so that start=… has no meaning; leave it out, or use "
            'trainer="lbfgs" where the model takes it'
        )
    task, pipeline = _task(ner, model, trainer, documents, dev, listener, given)
    task = replace(task, start=start_from, learner=learner)
    return _finished(ner, task, pipeline, fit_model(model, task), documents, start)


def _task(
    ner: Recognizer,
    model: Model,
    trainer: Trainer,
    documents: list[Document],
    dev: Iterable[Sentence | Document] | None,
    listener: Listener | None,
    given: Given | None = None,
) -> tuple[Task, Pipeline]:
    """Annotate the data; return what to learn from, and what has learned to annotate."""
    given = Given.of(ner) if given is None else given
    features, pipeline = given.features.at(model.sites), given.pipeline
    documents = learned(model, documents)
    pipeline.use_threads(ner.threads)
    wanted = (*features.columns(), *model.requires)

    # Without the encoder, which would be trained again and again.
    quick = trainer if ner.encoder is None else model.trainer("auto")

    def like(most: int, templates: tuple[str, ...]) -> Recognizer:
        """Make a recogniser like this one that has learned nothing: without annotators, at most so many iterations."""
        return type(ner)(
            model, features=features.plus(templates), trainer=quick.at_most(most), keep=ner.keep, seed=ner.seed,
            threads=ner.threads,
        )  # fmt: skip

    pipeline, documents = pipeline.fit(documents, Fitting(like, listener, wanted))
    features = features.plus(pipeline.templates)
    wanted = (*features.columns(), *model.requires)
    documents = pipeline.annotate(documents, wanted)
    dev_sentences: list[Sentence] | None = None
    if dev is not None:
        watched = pipeline.annotate(learned(model, as_documents(dev)), wanted)
        dev_sentences = to_choose_on([s for document in watched for s in document.sentences])
    task = Task(
        [s for document in documents for s in document.sentences],
        [len(document.sentences) for document in documents],
        features,
        trainer,
        penalty=_penalty(decision(ner.decide), model),
        keep=ner.keep,
        dev=dev_sentences,
        seed=ner.seed,
        threads=ner.threads,
        listener=listener,
        encoder=encoder(ner.encoder),
    )
    return task, pipeline


def _check_dev(decide: Decision, documents: list[Document], dev: list[Document]) -> None:
    """Before any training: what is chosen on development data must have something to go by there."""
    chooses = isinstance(decide, OnDev | ByThreshold) or isinstance(decide.penalty_wanted, str)
    labels, there = ({m.label for d in docs for s in d.sentences for m in s.mentions} for docs in (documents, dev))
    if chooses and labels and not labels & there:
        raise CorpusError(
            "the development data have no mention of a label of the training data, so that nothing can be chosen on "
            f"them; labels are {', '.join(sorted(labels))}. Give other ones, none, or decide for the best structure "
            '(decide="best", --decide best)'
        )


def _finished(
    ner: Recognizer, task: Task, pipeline: Pipeline, fitted: Fitted, documents: list[Document], start: float
) -> Training:
    """Decide how the trained model answers and how text is cut, and say what happened."""
    try:
        rule, chosen = settle(decision(ner.decide), task, fitted)
    except KeyboardInterrupt:  # the model is there, only the decision is not
        fitted = replace(fitted, interrupted=Interrupted(fitted.trained, fitted.history))
        rule, chosen = Rule(), {}
    facts = _facts(task, fitted, rule, start)
    facts |= chosen
    if ner.cuts_itself:
        return Training(fitted, pipeline, rule, facts, DEFAULT_RULES)
    own = [s for document in documents for s in document.sentences]
    rules = ner.token_rules()
    made = choose_rules(own, ner.threads) if rules is None else compare_rules(own, rules, ner.threads)
    return Training(fitted, pipeline, rule, facts | {"tokenizer": made.to_json()}, made.rules)


def _penalty(decide: Decision, model: Model) -> Wanted:
    """The mention penalty that the parts of a model are trained with, or how they choose it."""
    if isinstance(decide, OnDev):
        return "auto" if model.penalised else 0.0
    return 0.0 if decide.penalty_wanted == "auto" and not model.penalised else decide.penalty_wanted


def _with_own_penalty(
    ner: Recognizer,
    model: Model,
    trainer: Trainer,
    documents: list[Document],
    listener: Listener | None,
    start_from: Trained | None,
    learner: Callable[..., ComponentLearner] | None,
) -> Training:
    """Choose the penalty by cross-fitting, then train on all documents, from the weights of the last of these models
    if that brings the trainer to its end sooner.

    What a choice goes by need not be at its optimum, and is not watched; held-out data never meet a start that has seen
    them.
    """
    start = time.perf_counter()
    parts = folds(documents)
    tell = Retold(listener, len(parts) + 1)
    curve: Curve | None = None
    known = start_from
    best: tuple[Task, Pipeline, Fitted] | None = None

    def stopped(task: Task, pipeline: Pipeline, fitted: Fitted) -> Training:
        """What an interruption leaves before the training on all documents has a model."""
        fitted = replace(fitted, interrupted=fitted.interrupted or Interrupted(fitted.trained, fitted.history))
        done = _finished(ner, replace(task, dev=None), pipeline, fitted, documents, start)
        sentences = sum(len(document.sentences) for document in documents)
        return replace(done, facts={**done.facts, "cross_fitting": {"trainings": len(parts), "sentences": sentences}})

    for number, (kept, held) in enumerate(parts):
        try:
            task, pipeline = _task(ner, model, trainer.roughly(), kept, held, tell.of(number))
            task = replace(task, watched=False, start=start_from, learner=learner)
            fitted = fit_model(model, task)
        except KeyboardInterrupt:
            if best is None:
                raise
            return stopped(*best)
        if fitted.interrupted is not None:
            return stopped(*(best or (task, pipeline, fitted)))
        best = task, pipeline, fitted
        curve = added(curve, fitted.trained.penalty_curve)
        known = fitted.trained if trainer.sooner and start_from is None and learner is None else start_from
    fixed = replace(decision(ner.decide), penalty=0.0 if curve is None else curve.chosen)  # type: ignore[call-arg]
    settings = {**ner.get_params(deep=False), "model": model, "trainer": trainer, "decide": fixed}
    try:
        done = train(type(ner)(**settings), documents, None, tell.of(len(parts)), known, learner)
    except KeyboardInterrupt:
        if best is None:
            raise
        return stopped(*best)
    if start_from is None:
        done.facts.pop("start", None)  # which nobody has asked for
    if curve is not None:
        done.fitted.trained.penalty_curve = curve
        done.facts["penalty_curve"] = curve.to_json()
    done.facts["seconds"] = round(time.perf_counter() - start, 3)
    return done


def learned(model: Model, documents: list[Document]) -> list[Document]:
    """Return documents whose mentions are what the model is to learn."""
    return [document.with_sentences(model.before(document.sentences)) for document in documents]


def _facts(task: Task, fitted: Fitted, rule: Rule, start: float) -> dict[str, Any]:
    trained, held, history = fitted.trained, fitted.held, fitted.history
    facts: dict[str, Any] = {
        "trainer": task.trainer.to_json(),
        "sentences": len(task.sentences),
        "tokens": sum(task.lengths),
        "mentions": sum(map(len, held.mentions)),
        "lost": len(held.lost),
        "misread": len(held.misread),
        "ceiling": held.ceiling,
        "untrained": sorted(trained.untrained),
        "iterations": len(history),
        "objective": sum(record.objective for record in _last_of_each(history)),
        "gap": _gap(history),
        "converged": task.trainer.warm and all(r.number < task.trainer.iterations for r in _last_of_each(history)),
        "dev_ceiling": None if task.dev is None else _ceiling(trained, task),
        "dev_f1": None if task.dev is None else _dev_f1(trained, rule, task),
        "dev_known": None if task.dev is None else _share_seen(task.dev, task.sentences),
        "seconds": round(time.perf_counter() - start, 3),
        "interrupted": fitted.interrupted is not None,
        **({} if task.start is None else {"start": share_known(task.start, trained)}),
        "spanloom": spanloom.__version__,
        "python": platform.python_version(),
    }
    if trained.penalty_curve is not None:
        facts["penalty_curve"] = trained.penalty_curve.to_json()
    return facts


def _share_seen(dev: Sequence[Sentence], sentences: Sequence[Sentence]) -> float:
    """The share of development sentences, but short ones, that are training sentences too."""
    known = {tuple(s.tokens) for s in sentences}
    own = [tuple(s.tokens) in known for s in dev if len(s) >= TELLING]
    return sum(own) / max(len(own), 1)


def _ceiling(trained: Trained, task: Task) -> float:
    """The share of development mentions that the model, as it is now, could find."""
    return hold(trained.holder, task.dev or (), "longest" if task.keep == "raise" else task.keep).ceiling


def _dev_f1(trained: Trained, rule: Rule, task: Task) -> float:
    """Micro F1 of the whole model on the development data, as it decides."""
    dev = task.dev or ()
    return micro([s.mentions for s in dev], judgeable(dev, rule.answers(trained, dev, task.threads))).f1


def _gap(history: list[Iteration]) -> float | None:
    """How far the objective is above its optimum at most, relatively; None if nothing is known."""
    last = _last_of_each(history)
    bounds = [record.bound for record in last if record.bound is not None]
    if not last or len(bounds) < len(last):
        return None
    total = sum(record.objective for record in last)
    return float(f"{max(total - sum(bounds), 0.0) / max(abs(total), 1e-300):.3g}")


def _last_of_each(history: list[Iteration]) -> list[Iteration]:
    return list({record.component: record for record in history}.values())
