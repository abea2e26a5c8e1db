"""From a decision to the rule that a trained model answers by: thresholds are chosen on data that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from spanloom.corpus.crossfit import cross_fit
from spanloom.corpus.document import Sentence
from spanloom.decisions.best import Decision, OnDev
from spanloom.decisions.rule import Rule
from spanloom.decisions.thresholds import Scored
from spanloom.decisions.wanted import FLOOR, AtLeast, ByThreshold, ExpectedF1
from spanloom.evaluation.score import Score, micro
from spanloom.models.base import Mentions, Task
from spanloom.models.fitting import Fitted, fit_model
from spanloom.models.trained import Trained

FOLDS = 5
"""Without development data, thresholds are chosen by so many further trainings."""


def settle(decision: Decision, task: Task, fitted: Fitted) -> tuple[Rule, dict[str, Any] | None]:
    """Return the rule, and what it gives on the data that it was chosen on; None if nothing was chosen."""
    trained = fitted.trained
    exclusive = decision.exclusive is True or (decision.exclusive == "auto" and never_two(task.sentences))
    best = Rule(None, exclusive)
    if fitted.interrupted is not None:
        return best, None  # what there is can be used, but nothing was chosen
    if isinstance(decision, ByThreshold):
        seen = _seen(task, trained, exclusive)
        thresholds = decision.choose(seen.believed, seen.gold, sorted(trained.labels))
        rule = Rule(thresholds, exclusive)
        score = seen.score(rule, trained, task.threads)
        facts = {"name": decision.name, "chosen_on": seen.name, **score.to_json(), "thresholds": thresholds}
        if isinstance(decision, AtLeast):
            facts["reached"] = decision.reached(score.precision, score.recall)
        return rule, facts
    if isinstance(decision, OnDev):
        return _best_on_dev(task, trained, exclusive)
    return best, None


def never_two(sentences: Sequence[Sentence]) -> bool:
    """Whether no tokens have two labels.

    Examples
    --------
    >>> from spanloom import Mention
    >>> never_two([Sentence(["a"], [Mention("X", ((0, 1),))]), Sentence(["a"], [Mention("Y", ((0, 1),))])])
    True
    """
    return all(len({m.parts for m in own}) == len(own) for own in (set(s.mentions) for s in sentences))


def _best_on_dev(task: Task, trained: Trained, exclusive: bool) -> tuple[Rule, dict[str, Any]]:
    """The training has chosen a mention penalty, if the model takes one; it stays if it is best."""
    seen = _seen(task, trained, exclusive)
    best, penalty = Rule(None, exclusive), dict(trained.penalty)
    scores: dict[str, Score] = {}
    if penalty:
        scores["penalty"] = seen.score(best, trained, task.threads)
        trained.set_penalty({})
    scores["best"] = seen.score(best, trained, task.threads)
    by_threshold = Rule(ExpectedF1().choose(seen.believed, seen.gold, sorted(trained.labels)), exclusive)
    scores["f1"] = seen.score(by_threshold, trained, task.threads)
    chosen = max(("best", "penalty", "f1"), key=lambda name: scores[name].f1 if name in scores else -1.0)
    if chosen == "penalty":
        trained.set_penalty(penalty)
    rule = by_threshold if chosen == "f1" else best
    facts: dict[str, Any] = {"name": "auto", "chosen": chosen, "chosen_on": seen.name, **scores[chosen].to_json()}
    facts["tried"] = {name: score.f1 for name, score in scores.items()}
    return rule, facts if rule.thresholds is None else {**facts, "thresholds": dict(rule.thresholds)}


@dataclass(frozen=True, slots=True)
class _Seen:
    """Data that the model has not learned from, and what it believes of them."""

    name: str
    sentences: Sequence[Sentence] | None
    believed: Scored
    gold: Mentions

    def score(self, rule: Rule, trained: Trained, threads: int | None) -> Score:
        """Score the answers by a rule; without development data, what was believed of them is cut."""
        if self.sentences is not None:
            return micro(self.gold, rule.answers(trained, self.sentences, threads))
        return micro(self.gold, [rule.of_believed(trained, [m for _, m in own]) for own in self.believed])


def _seen(task: Task, trained: Trained, exclusive: bool) -> _Seen:
    if task.dev is not None:
        believed = _known(_believed(trained, task.dev, task.threads, exclusive), task.dev)
        return _Seen("development data", task.dev, believed, [s.mentions for s in task.dev])

    def train(others: list[Sentence]) -> Trained | None:
        if not any(s.mentions for s in others):
            return None
        # The sizes of documents are not known of a part; without them sentences count as documents.
        own = replace(task, sentences=others, sizes=[1] * len(others), gold=[], dev=None, listener=None)
        return fit_model(trained.model, own).whole()

    def apply(model: Trained, block: list[Sentence]) -> Scored:
        return _believed(model, [s.with_mentions([]) for s in block], task.threads, exclusive)

    believed = _known(cross_fit(task.sentences, FOLDS, train, apply, sizes=task.sizes, default=list), task.sentences)
    return _Seen("training data, cross-fitted", None, believed, [s.mentions for s in task.sentences])


def _known(believed: Scored, sentences: Sequence[Sentence]) -> Scored:
    """Leave out mentions of which a partial annotation does not say whether they are right."""
    return [
        own if s.known is None else [(p, m) for p, m in own if s.known.covers(m) or m in s.mentions]
        for own, s in zip(believed, sentences, strict=True)
    ]


def _believed(trained: Trained, sentences: Sequence[Sentence], threads: int | None, exclusive: bool) -> Scored:
    """Every mention that is not too improbable, with its probability, but for those that a more probable one rules out.

    A threshold for all labels cuts these lists: what is less probable never rules out what is more.
    """
    rule = Rule(dict.fromkeys(trained.labels, FLOOR), exclusive)
    return [[(m.prob or 0.0, m) for m in own] for own in rule.answers(trained, sentences, threads)]
