"""From a decision to the rule that a trained model answers by: thresholds are chosen on data that it has not seen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.corpus.crossfit import blocks, cross_fit
from spanloom.corpus.document import Sentence, judgeable
from spanloom.corpus.mention import Mention
from spanloom.decisions.calibration import Calibration, calibrate
from spanloom.decisions.decision import FLOOR, AtLeast, Best, ByThreshold, Decision, ExpectedF1, OnDev
from spanloom.decisions.penalty import by_label
from spanloom.decisions.rule import FLAT, Exclusive, Rule, among
from spanloom.decisions.thresholds import Scored
from spanloom.evaluation.outcomes import Outcomes
from spanloom.evaluation.reliability import reliability
from spanloom.evaluation.score import Score, micro
from spanloom.evaluation.significance import bootstrap, unit_counts
from spanloom.models.base import Mentions, Task
from spanloom.models.fitting import Fitted, fit_model
from spanloom.models.trained import Trained
from spanloom.schemes.flat import overlapping

FOLDS = 5
"""Into so many blocks development data are cut where decisions are compared."""
ON_DEV = "development data"
ONE_ERROR = 0.6827
"""An interval of this confidence reaches one standard error to both sides."""


def settle(decision: Decision, task: Task, fitted: Fitted) -> tuple[Rule, dict[str, Any]]:
    """Return the rule, and facts for the record of the training.

    ``never``: what mentions of the training data never do, if those of the model can: ``"overlap"``, or have the
    ``"same tokens"``; ``decision``: what the rule gives on the data that it was chosen on, if anything was chosen;
    ``calibration``: how far probabilities are off on data that the model has not seen.
    """
    trained = fitted.trained
    never = _never(trained, task.sentences)
    facts = {"never": never} if never else {}
    best = Rule(None, _exclusive(decision, trained, never))
    if fitted.interrupted is not None or trained.model.makes is not None:
        return best, facts  # what there is can be used, but nothing was chosen
    if isinstance(decision, Best) and decision.calibrate == "none":
        return best, {**facts, **_checked(best, task, trained)}
    rule, chosen = _chosen(decision, best, _seen(task, trained, decision.cross_fit), trained, task.threads)
    return rule, {**facts, **chosen}


def redecide(
    decision: Decision, trained: Trained, dev: Sequence[Sentence], threads: int | None, known: Mapping[str, Any]
) -> tuple[Rule, dict[str, Any]]:
    """Return what ``settle`` does, for a model that has learned, on development data; its mention penalty changes.

    ``known`` are the facts of the training.
    """
    never = str(known.get("never", "")) if known else _never(trained, dev)
    best = Rule(None, _exclusive(decision, trained, never))
    wanted = "auto" if isinstance(decision, OnDev) and trained.model.penalised else decision.penalty_wanted
    if isinstance(wanted, str):
        trained.tune_penalty(dev, threads, by_label=wanted == "auto-by-label")
    elif trained.model.penalised:
        trained.set_penalty(by_label(wanted, sorted(trained.labels)))
    if isinstance(decision, OnDev):
        trained.tune_threshold(dev, threads)
    return _chosen(decision, best, _Seen.on(dev, trained, threads), trained, threads)


def _chosen(
    decision: Decision, best: Rule, seen: _Seen, trained: Trained, threads: int | None
) -> tuple[Rule, dict[str, Any]]:
    calibration, facts = _calibrated(decision.calibrate, best, seen, trained, threads)
    best = replace(best, calibration=calibration)
    if isinstance(decision, Best):
        return best, facts
    if isinstance(decision, OnDev):
        rule, chosen = _best_on_dev(trained, best, seen, threads)
        return rule, {"decision": chosen, **facts}
    if not isinstance(decision, ByThreshold):
        raise TypeError(f"a decision of the kind {type(decision).__name__} is not known")
    thresholds = decision.choose(seen.scored(best, trained), seen.gold, sorted(trained.labels))
    rule = replace(best, thresholds=thresholds)
    score = seen.score(rule, trained, threads)
    chosen = {"name": decision.name, "chosen_on": seen.name, **score.to_json(), "thresholds": thresholds}
    if isinstance(decision, AtLeast):
        chosen |= decision.facts(score)
    return rule, {"decision": chosen, **facts}


OVERLAP, SAME_TOKENS = "overlap", "same tokens"


def _exclusive(decision: Decision, trained: Trained, never: str) -> Exclusive:
    """What mentions exclude each other, where the model gives such at all."""
    auto = decision.exclusive == "auto"
    if trained.may_have(flat=True) and (decision.exclusive == FLAT or (auto and never == OVERLAP)):
        return FLAT
    return trained.may_have(flat=False) and (decision.exclusive is True or (auto and never == SAME_TOKENS))


def _never(trained: Trained, sentences: Sequence[Sentence]) -> str:
    """What mentions of these sentences never do, though the model can."""
    sets = [s.with_mentions(list(own)) for s in sentences for own in _told(s)]
    if trained.may_have(flat=True) and not any(overlapping(s.mentions) for s in sets):
        return OVERLAP
    return SAME_TOKENS if trained.may_have(flat=False) and never_two(sets) else ""


def _told(sentence: Sentence) -> Iterable[Sequence[Mention]]:
    """The mention sets of a sentence that was learned from: one, or those that a teacher believes."""
    return [sentence.mentions] if sentence.believed is None else [own for _, own in sentence.believed.sets]


def never_two(sentences: Sequence[Sentence]) -> bool:
    """Whether no tokens have two labels.

    Examples
    --------
    >>> from spanloom import Mention
    >>> never_two([Sentence(["a"], [Mention("X", ((0, 1),))]), Sentence(["a"], [Mention("Y", ((0, 1),))])])
    True
    """
    return all(len({m.parts for m in own}) == len(own) for own in (set(s.mentions) for s in sentences))


def _best_on_dev(trained: Trained, best: Rule, seen: _Seen, threads: int | None) -> tuple[Rule, dict[str, Any]]:
    """Compare decisions on development data; the mention penalties of the training are one of them.

    Thresholds on probabilities, one for each label, fit the data that they are chosen on more closely than a penalty.
    So each block of neighbouring sentences is decided by thresholds from the others, and if that is better by more than
    a standard error, thresholds from all are taken. They are not tried where probabilities are uncalibrated margins,
    which have a threshold of their own, or bounds, which are slow.
    """
    penalties = [dict(part.penalty) for part in trained.parts]
    counts: dict[str, npt.NDArray[np.int64]] = {}
    if any(penalties):
        counts["penalty"] = seen.counts(best, trained, threads)
        trained.set_penalty({})
        if len(penalties) > 1 and seen.sentences is not None:  # what parts believe may depend on what others find
            seen = _Seen.on(seen.sentences, trained, threads)
    counts["best"] = seen.counts(best, trained, threads)
    by_threshold = best
    if best.calibration is not None or trained.belief not in ("scores", "bound"):
        by_threshold = _thresholds(best, trained, seen)
        counts["f1"] = _elsewhere(best, trained, seen, threads)
    scores = {name: _summed(own) for name, own in counts.items()}
    chosen = max(("best", "penalty"), key=lambda name: scores[name].f1 if name in scores else -1.0)
    if "f1" in counts and bootstrap(counts["f1"], counts[chosen], level=ONE_ERROR).difference["f1"].low > 0:
        chosen = "f1"
    if chosen == "penalty":
        for part, penalty in zip(trained.parts, penalties, strict=True):
            part.set_penalty(penalty)
    facts: dict[str, Any] = {"name": "auto", "chosen": chosen, "chosen_on": seen.name}
    facts["tried"] = {name: score.f1 for name, score in scores.items()}
    if chosen != "f1":
        return best, facts | scores[chosen].to_json()
    score = seen.score(by_threshold, trained, threads)
    return by_threshold, facts | score.to_json() | {"thresholds": dict(by_threshold.thresholds or {})}


def _thresholds(best: Rule, trained: Trained, seen: _Seen) -> Rule:
    return replace(best, thresholds=ExpectedF1().choose(seen.scored(best, trained), seen.gold, sorted(trained.labels)))


def _elsewhere(best: Rule, trained: Trained, seen: _Seen, threads: int | None) -> npt.NDArray[np.int64]:
    """Count the mentions of every sentence, those of each block by thresholds that were chosen on the others."""
    parts = blocks([1] * len(seen.gold), FOLDS)
    if len(parts) < 2:
        return seen.counts(_thresholds(best, trained, seen), trained, threads)
    own = [_thresholds(best, trained, seen.without(block)) for block in parts]
    return np.concatenate([seen.of(b).counts(rule, trained, threads) for b, rule in zip(parts, own, strict=True)])


def _summed(counts: npt.NDArray[np.int64]) -> Score:
    gold, predicted, correct = map(int, counts.sum(axis=0))
    return Score(gold, predicted, correct, correct)


def _checked(best: Rule, task: Task, trained: Trained) -> dict[str, Any]:
    """The calibration error of the answers on development data; not measured where probabilities are bounds."""
    if task.dev is None or trained.belief == "bound" or not trained.model.probabilistic:
        return {}
    found = judgeable(task.dev, best.answers(trained, task.dev, task.threads, probabilities=True))
    return {"calibration": _error([s.mentions for s in task.dev], found, ON_DEV) | {"kind": "none"}}


def _error(gold: Mentions, found: Mentions, where: str) -> dict[str, Any]:
    measured = reliability(Outcomes(gold, found), widths="adaptive")
    return {"measured_on": where, "mentions": measured.count, "error": measured.error}


def _calibrated(
    kind: str, best: Rule, seen: _Seen, trained: Trained, threads: int | None
) -> tuple[Calibration | None, dict[str, Any]]:
    """Learn a calibration from all candidates; measure it on answers, each by a curve from other sentences."""
    p = np.array([m.prob or 0.0 for own in seen.candidates for m in own])
    right = np.array(among(seen.candidates, seen.gold), bool)
    sentence = np.repeat(np.arange(len(seen.candidates)), [len(own) for own in seen.candidates])
    answers = seen.answers(best, trained, threads)
    done = calibrate(kind, p, right, sentence, np.array(among(seen.candidates, seen.best), bool))
    probs = iter(done.probs.tolist())
    after = [{m: next(probs) for m in own} for own in seen.candidates]
    facts = _error(seen.gold, answers, seen.name) | {"kind": "none"}
    if done.calibration is not None:
        changed = [
            [replace(m, prob=own.get(m, m.prob)) for m in found] for found, own in zip(answers, after, strict=True)
        ]
        error = _error(seen.gold, changed, seen.name)["error"]
        facts |= {"kind": done.calibration.kind, "error_calibrated": error}
    return done.calibration, {"calibration": facts}


@dataclass(frozen=True, slots=True)
class _Seen:
    """Held-out data, and every mention of them above a floor of probability.

    ``best``: the mentions of the best structures.
    """

    name: str
    sentences: Sequence[Sentence] | None
    candidates: Mentions
    best: Mentions
    gold: Mentions

    @classmethod
    def on(cls, dev: Sequence[Sentence], trained: Trained, threads: int | None) -> _Seen:
        """Look at development data."""
        found = judgeable(dev, trained.find_above(dev, FLOOR, threads))
        return cls(ON_DEV, dev, found, trained.find(dev, threads), [s.mentions for s in dev])

    def of(self, block: range) -> _Seen:
        """Only the sentences of a block."""
        a, b = block.start, block.stop
        sentences = None if self.sentences is None else self.sentences[a:b]
        return _Seen(self.name, sentences, self.candidates[a:b], self.best[a:b], self.gold[a:b])

    def without(self, block: range) -> _Seen:
        """All sentences but those of a block."""
        one, two = self.of(range(block.start)), self.of(range(block.stop, len(self.gold)))
        sentences = None if self.sentences is None else [*(one.sentences or ()), *(two.sentences or ())]
        found, best = [*one.candidates, *two.candidates], [*one.best, *two.best]
        return _Seen(self.name, sentences, found, best, [*one.gold, *two.gold])

    def counts(self, rule: Rule, trained: Trained, threads: int | None) -> npt.NDArray[np.int64]:
        """Count gold, found and right mentions of every sentence of the development data."""
        sentences = self.sentences or ()
        return unit_counts(self.gold, judgeable(sentences, rule.answers(trained, sentences, threads)))

    def score(self, rule: Rule, trained: Trained, threads: int | None) -> Score:
        """Score the answers by a rule; without development data, by a threshold on held-out probabilities."""
        if self.sentences is not None:
            return micro(self.gold, judgeable(self.sentences, rule.answers(trained, self.sentences, threads)))
        return micro(self.gold, [rule.of_believed(trained, own) for own in rule.calibrated(self.candidates, self.best)])

    def scored(self, rule: Rule, trained: Trained) -> Scored:
        """The candidates with their probabilities under a rule, but for those that a more probable one rules out.

        A threshold for all labels cuts these lists: what is less probable never rules out what is more.
        """
        lowest = replace(rule, thresholds=dict.fromkeys(trained.labels, FLOOR))
        left = [lowest.of_believed(trained, own) for own in rule.calibrated(self.candidates, self.best)]
        return [[(m.prob or 0.0, m) for m in own] for own in left]

    def answers(self, best: Rule, trained: Trained, threads: int | None) -> Mentions:
        """The answers with the model's probabilities; without development data, those that are not too improbable."""
        if self.sentences is not None:
            return judgeable(self.sentences, best.answers(trained, self.sentences, threads, probabilities=True))
        return [[m for m in own if m in known] for own, known in zip(self.candidates, map(set, self.best), strict=True)]


def _seen(task: Task, trained: Trained, folds: int) -> _Seen:
    if task.dev is not None:
        return _Seen.on(task.dev, trained, task.threads)

    def train(others: list[Sentence]) -> Trained | None:
        if not any(s.mentions for s in others):
            return None
        # The sizes of documents are not known of a part; without them sentences count as documents. A start that has
        # seen the held-out block would tell on it.
        own = replace(task, sentences=others, sizes=[1] * len(others), gold=[], dev=None, listener=None, start=None)
        return fit_model(trained.model, replace(own, threads=inner)).whole()

    def apply(model: Trained, block: list[Sentence]) -> list[tuple[list[Mention], list[Mention]]]:
        blank = [s.with_mentions([]) for s in block]
        return [*zip(model.find_above(blank, FLOOR, inner), model.find(blank, inner), strict=True)]

    # Who learns from one sentence after the other uses one core: several blocks are learned at once.
    workers = 1 if task.trainer.warm else min(folds, task.threads or os.cpu_count() or 1)
    inner = task.threads if workers == 1 else 1
    with ThreadPoolExecutor(workers) as pool:
        run = map if workers == 1 else pool.map
        fitted: list[tuple[list[Mention], list[Mention]]] = cross_fit(
            task.sentences, folds, train, apply, sizes=task.sizes, default=lambda: ([], []), run=run
        )
    found = judgeable(task.sentences, [likely for likely, _ in fitted])
    best = [answer for _, answer in fitted]
    return _Seen("training data, cross-fitted", None, found, best, [s.mentions for s in task.sentences])
