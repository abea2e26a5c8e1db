"""Structured multilabel segmentation (McDonald, Crammer & Pereira 2005): every mention is any subset of the tokens.

    score(mention) = Σ w · g(i_{m−1}, i_m)   over its tokens i_1 < i_2 < …, with a start before and an end after them

where g looks at both ends of a step and at what it skips. The k best subsets are looked at, k being the length of the
sentence unless given, and those with a score above a threshold are the mentions. Holds everything: nested, crossing and
discontinuous mentions, and several labels on the same tokens. Costs O(n · gap · k · types) with the widest gap of the
training data. Learning is online: see ``spanloom.learning.online``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spanloom.base.arrays import Arrays
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.parameters import check_choice, check_count
from spanloom.corpus.crossfit import cross_fit
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import ORDERS, Mention
from spanloom.decisions.rescoring import FOLDS, LOOKED_AT, LOWEST, Rescoring
from spanloom.evaluation.score import micro
from spanloom.features import FeatureExtractor, PairFeatures
from spanloom.learning import (
    Interrupted,
    Iteration,
    Online,
    Steps,
    SubsetProblem,
    SubsetWeights,
    Trainer,
    follow,
    learn_subsets,
)
from spanloom.models.base import Mentions, Model, Task
from spanloom.models.subsets import TABLE, Subsets
from spanloom.models.trained import Trained
from spanloom.schemes.subsets import RESTRICTIONS, conflict, encode_subsets, kept_restrictions, widest_gap


@dataclass(frozen=True)
class Multilabel(Model):
    """One score for every typed subset of the tokens.

    Parameters
    ----------
    k
        How many best subsets of a sentence to look at; None for as many as it has tokens.
    max_gap
        The widest gap within a mention, in tokens; None for the widest of the training data.
    restrictions
        Some of ``spanloom.schemes.subsets.RESTRICTIONS``, or ``"auto"`` for those that the training data keep. Of what
        may not stand together, the highest score stays.
    threshold
        A score, or a score by label; or how to choose it on development data: one for all (``"global"``) or one for
        each label (``"label"``). Without such data it is 0.
    rescore
        Whether discontinuous mentions are scored again together with the other candidates of their sentence and the
        words around; see ``spanloom.decisions.rescoring``. It is learned by cross-fitting, so that training takes twice
        the time. Restrictions count after that, and not in learning.
    """

    k: int | None = None
    max_gap: int | None = None
    restrictions: str | Sequence[str] = "auto"
    threshold: float | Mapping[str, float] | str = "global"
    rescore: bool = False

    name = "multilabel"
    holds = "any set of mentions"
    trainers = ("mira", "perceptron", "loglinear")
    penalised = False
    takes_partial = False

    def check(self) -> None:
        if self.k is not None:
            check_count("k", self.k)
        if self.max_gap is not None:
            check_count("max_gap", self.max_gap, low=0)
        if isinstance(self.restrictions, str):
            check_choice("restrictions", self.restrictions, ("auto",))
        else:
            for name in self.restrictions:
                check_choice("restrictions", name, RESTRICTIONS)
        if isinstance(self.threshold, str):
            check_choice("threshold", self.threshold, ("global", "label"))

    # What it holds

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        # With rescoring, restrictions count in tagging only: learning holds all.
        restrictions = () if self.rescore or self.restrictions == "auto" else tuple(self.restrictions)
        limit = 0 if self.restrictions != "auto" and "contiguous" in self.restrictions else self.max_gap
        for i, mention in enumerate(mentions):
            if limit is not None and widest_gap(mention) > limit:
                return i, f"has a gap of {widest_gap(mention)} tokens, and at most {limit} were asked for"
            for j, other in enumerate(mentions[:i]):
                name = conflict(mention, other, restrictions)
                if name is not None:
                    return i, f"breaks the restriction {name!r} with mention {j}: {other.label} {other.parts}"
        return None

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        if not self.rescore or self.restrictions == "auto":
            return []
        kept: list[Mention] = []
        for mention in sorted(mentions, key=ORDERS["longest"]):
            if all(conflict(mention, other, self.restrictions) is None for other in kept):
                kept.append(mention)
        return sorted(set(mentions) - set(kept))

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        kept: list[Mention] = []
        for mention in sorted(mentions, key=ORDERS[keep]):
            if self.misfit([*kept, mention]) is None:
                kept.append(mention)
        return sorted(kept), sorted(set(mentions) - set(kept))

    # Learning

    def fit(self, task: Task) -> tuple[Trained, list[Iteration]]:
        # The perceptron visits sentences more often where it learns structures.
        trainer = task.trainer
        if trainer.max_iter is None:
            trainer = trainer.with_params(max_iter=Online.usual)
        lesson = _Lesson(self, task, trainer)
        rescoring: Rescoring | None = None
        if self.rescore and lesson.gap > 0:
            rescoring = Rescoring.learn(lesson.candidates_apart(), task.sentences, task.gold)

        def dev_f1(learned: SubsetWeights) -> float:
            dev = task.dev or ()
            return micro([s.mentions for s in dev], lesson.made(learned).find(dev, task.threads)).f1

        interrupted: Interrupted | None = None
        try:
            learned, history = follow(
                lesson.steps(task.sentences, task.gold),
                dev_f1=dev_f1 if task.dev is not None and task.watched else None,
                patience=trainer.patience,
                listener=task.listener,
            )
        except Interrupted as stop:
            interrupted, learned, history = stop, stop.learned, stop.history
        trained = lesson.made(learned)
        if task.dev is not None:
            trained.tune_threshold(task.dev, task.threads)
        if rescoring is not None:
            thresholds = dict(zip(trained.types, trained.thresholds.tolist(), strict=True))
            trained.rescoring = replace(rescoring, thresholds=thresholds)
        if interrupted is not None:
            raise Interrupted(trained, history)
        return trained, history

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Arrays, extractor: FeatureExtractor) -> Trained:
        own = {name: arrays[f"model.{name}"] for name in (*TABLE, "tokens", "distances", "pairs")}
        if own["tokens"].ndim != 2 or len(own["tokens"]) != extractor.size:
            raise ValueError(f"there are weights {own['tokens'].shape} for {extractor.size} features")
        weights = SubsetWeights(own["tokens"], own["distances"], own["pairs"], {name: own[name] for name in TABLE})
        try:
            types = [str(label) for label in header["labels"]]
            trained = Subsets(
                cls(header["k"], header["gap"], tuple(header["restrictions"])),
                types,
                extractor,
                PairFeatures(extractor.features),
                weights,
                gap=int(header["gap"]),
                restrictions=tuple(header["restrictions"]),
                probabilities=bool(header["probabilities"]),
            )
            trained.rescoring = None if header["company"] is None else Rescoring.from_json(header["company"])
            trained.set_threshold(dict(zip(types, header["thresholds"], strict=True)))
        except (KeyError, TypeError, AttributeError, ParameterError) as error:
            raise ModelFileError(f"the labels of the multilabel model are damaged: {error}") from None
        return trained


class _Lesson:
    """What is fixed before learning: the types, the widest gap, the restrictions."""

    def __init__(self, model: Multilabel, task: Task, trainer: Trainer) -> None:
        self.model, self.task, self.trainer = model, task, trainer
        counts = Counter(m.label for mentions in task.gold for m in mentions)
        self.types = sorted(counts, key=lambda label: (-counts[label], label))
        if isinstance(model.threshold, Mapping):
            for label in model.threshold.keys() - counts.keys():
                raise ParameterError(f"there is no label {label!r} to set a threshold for; labels: {self.types}")
        auto = model.restrictions == "auto"
        self.restrictions = kept_restrictions(task.gold) if auto else tuple(model.restrictions)
        widest = max((widest_gap(m) for some in task.gold for m in some), default=0)
        self.gap = 0 if "contiguous" in self.restrictions else widest if model.max_gap is None else model.max_gap

    def steps(self, sentences: Sequence[Sentence], gold: Mentions) -> Steps[SubsetWeights]:
        """Learn from sentences."""
        self.extractor = FeatureExtractor(self.task.features)
        rows = self.extractor.fit(sentences, self.task.threads)
        self.pairs = PairFeatures(self.task.features)
        number = {label: i for i, label in enumerate(self.types)}
        problem = SubsetProblem(
            rows,
            self.pairs.columns,
            self.pairs.read(sentences),
            self.pairs.program,
            [encode_subsets(mentions, number) for mentions in gold],
            types=len(self.types),
            max_gap=self.gap,
            k=self.model.k or 0,
            # Rescoring needs candidates that learning has seen, also those that may not stand together.
            restrictions=() if self.model.rescore else self.restrictions,
        )
        return learn_subsets(self.trainer, problem, seed=self.task.seed)

    def made(self, learned: SubsetWeights) -> Subsets:
        """Return a trained model with the features that have a weight."""
        used = learned.tokens.any(axis=1)
        trained = Subsets(
            self.model,
            self.types,
            self.extractor.keep(np.flatnonzero(used)),
            self.pairs,
            replace(learned, tokens=np.ascontiguousarray(learned.tokens[used])),
            gap=self.gap,
            restrictions=self.restrictions,
            probabilities=self.trainer.name == "loglinear",
        )
        threshold = self.model.threshold
        trained.set_threshold(0.0 if isinstance(threshold, str) else threshold)
        return trained

    def candidates_apart(self) -> list[list[tuple[float, Mention]]]:
        """The candidates of each sentence, by a model that has not learned from it."""
        lesson = _Lesson(self.model, self.task, self.trainer)
        pairs = list(zip(self.task.sentences, self.task.gold, strict=True))

        def train(others: Sequence[tuple[Sentence, list[Mention]]]) -> Subsets:
            *_, (_, learned) = lesson.steps([s for s, _ in others], [m for _, m in others])
            return lesson.made(learned())

        def apply(model: Subsets, block: Sequence[tuple[Sentence, list[Mention]]]) -> list[list[tuple[float, Mention]]]:
            return model.unrestricted([s for s, _ in block], LOOKED_AT, LOWEST, self.task.threads)

        return cross_fit(pairs, FOLDS, train, apply, sizes=self.task.sizes)
