"""A mixture: the mean of what several models believe.

    P(mention) = Σ_model weight · P_model(mention)

Models that look at a sentence in different ways make different mistakes, and their mean is right more often than any of
them. Each is trained for itself, on all mentions that it can hold, with the same trainer and features, as far as these
are for its sites. Time and memory are those of all of them together.

A mixture finds the mentions that its models believe in more than not. A model that cannot hold a mention beside more
probable ones, as a flat one cannot hold what is inside of another, is not asked about it; P(mention) is the mean of all
of them all the same. Thresholds that are chosen for the highest F1 (``decide="f1"``, or ``"auto"`` with development
data) suit it better.

``weights="fit"`` learns the weights from data that the models have not seen, the development data or by cross-fitting:
those under which it is most probable what is a mention there and what is not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spanloom.base.arrays import Arrays, Floats
from spanloom.base.errors import CorpusError, ModelFileError, ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus.crossfit import cross_fit
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention, reading_order
from spanloom.decisions.penalty import Penalty
from spanloom.evaluation.calibration import Curve
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.inference import Distribution
from spanloom.inference.cases import average
from spanloom.inference.distribution import MISSING
from spanloom.learning import Interrupted, Iteration, Trainer
from spanloom.models.base import Mentions, Model, Task, named
from spanloom.models.fitting import Fitted
from spanloom.models.holding import hold
from spanloom.models.mixing import judged, learn_weights
from spanloom.models.reduction import Parts, Reduction, restore_parts, train_part
from spanloom.models.trained import Seen, Trained, WeightColumn, probable

HALF = 0.5


@dataclass(frozen=True)
class Mixture(Model):
    """Several models.

    Parameters
    ----------
    models
        The models, their names, or their settings as in files, ``{"name": "chain", "scheme": "BILOU"}``; names alone
        also as text, ``"state+chain"``.
    weights
        How much each counts: ``"equal"``, ``"fit"``, or a number each.
    folds
        Without development data, ``weights="fit"`` trains each model so many times more.
    """

    models: str | Sequence[Model | str | Mapping[str, Any]] = "state+chain"
    weights: str | Sequence[float] = "equal"
    folds: int = 3

    name = "mixture"

    def __post_init__(self) -> None:
        given: Any = self.models.split("+") if isinstance(self.models, str) else self.models
        if not isinstance(given, Sequence):
            raise ParameterError(f"models are names or models, such as 'state+chain'; got {given!r}")
        if not (isinstance(given, tuple) and all(isinstance(one, Model) for one in given)):
            object.__setattr__(self, "models", tuple(_model(one) for one in given))
        if not isinstance(self.weights, str):
            object.__setattr__(self, "weights", _numbers(self.weights))
        self.check()

    def check(self) -> None:
        check_count("folds", self.folds, low=2)
        if not self.parts:
            raise ParameterError("a mixture needs models, such as 'state+chain'; none are given")
        for one in self.parts:
            if isinstance(one, Mixture | Reduction) or one.makes is not None or not one.probabilistic:
                raise ParameterError(
                    f"{one.name!r} cannot be part of a mixture; take models that have probabilities and are not made "
                    "of others"
                )
        if self.weights not in ("equal", "fit"):
            self._check_numbers()
        self.trainer("auto")

    def _check_numbers(self) -> None:
        given = self.weights
        if isinstance(given, str):
            raise ParameterError(
                f"weights are 'equal', 'fit' or a number for each model, such as [2, 1]; got {given!r}"
            )
        if len(given) != len(self.parts) or min(given) < 0 or not 0 < sum(given) < math.inf:
            raise ParameterError(
                f"there are {len(self.parts)} models and {len(given)} weights; give one for each, at least 0, and one "
                f"above 0: got {given!r}"
            )

    @property
    def parts(self) -> tuple[Model, ...]:
        """The models."""
        return self.models  # type: ignore[return-value]

    @property
    def requires(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column for one in self.parts for column in one.requires))

    @property
    def takes_partial(self) -> bool:
        return all(one.takes_partial for one in self.parts)

    @property
    def takes_beliefs(self) -> bool:
        return all(one.takes_beliefs for one in self.parts)

    @property
    def penalised(self) -> bool:
        return False

    # What it holds: what one of its models does

    @property
    def holds(self) -> str:
        return f"what one of its models does ({', '.join(f'{one.name}: {one.holds}' for one in self.parts)})"

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        found = [one.misfit(mentions) for one in self.parts]
        return None if None in found else max((one for one in found if one is not None), key=lambda one: one[0])

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        return min((one.reduce(mentions, keep) for one in self.parts), key=lambda split: len(split[1]))

    def unreachable(self, mentions: Sequence[Mention], sentence: Sentence, number: int) -> list[tuple[int, str]]:
        each = [dict(one.unreachable(mentions, sentence, number)) for one in self.parts]
        return [(index, why) for index, why in each[0].items() if all(index in other for other in each)]

    # Learning

    def trainer(self, given: Trainer | str) -> Trainer:
        found = [one.trainer(given) for one in self.parts]  # what a part does not learn by, it says
        if any(one.name != found[0].name for one in found):
            learned = ", ".join(f"{one.name} by {own.name}" for one, own in zip(self.parts, found, strict=True))
            raise ParameterError(f"the models of a mixture learn by one trainer, and these do not: {learned}")
        return found[0]

    def fit(self, task: Task) -> tuple[Trained, list[Iteration]]:
        done: list[Fitted] = []

        def made(model: Mixture, shares: list[float]) -> tuple[Trained, list[Iteration]]:
            labels = frozenset().union(*(one.trained.labels for one in done))
            trained = MixedParts(model, [one.trained for one in done], labels, task.features, shares)
            return trained, [record for one in done for record in one.history]

        try:
            for one in self._train(task):
                done.append(one)
            return made(self, self._weights(task, done))
        except KeyboardInterrupt:
            if not done:
                raise
            left = self._first(len(done))  # those that are there are of use
            raise Interrupted(*made(left, left._given(len(done)))) from None

    def _first(self, count: int) -> Mixture:
        """The first models alone, with their weights."""
        some = () if isinstance(self.weights, str) else tuple(self.weights[:count])
        return replace(self, models=self.parts[:count], weights=some if sum(some) > 0 else "equal")

    def _given(self, count: int) -> list[float]:
        """How much each counts by the settings; what is to be learned counts the same."""
        if isinstance(self.weights, str):
            return [1 / count] * count
        return [float(one) / sum(self.weights) for one in self.weights]

    def _train(self, task: Task) -> Iterator[Fitted]:
        tasks = [self._task_of(one, task) for one in self.parts]  # what is wrong with one is said before any training
        for i, (one, own) in enumerate(zip(self.parts, tasks, strict=True)):
            yield train_part(one, own, i, task.gold, own.dev, one.name, len(self.parts))

    def _task_of(self, one: Model, task: Task) -> Task:
        """What a part learns from: of overlapping mentions a flat model takes the longest, unless others are wanted."""
        try:
            features = task.features.at(one.sites).for_sites(one.sites)
        except ParameterError:
            raise ParameterError(
                f"the model {one.name!r} of the mixture looks at {one.sites}, and no template of the features does; "
                "add one, 'bias' is the smallest"
            ) from None
        keep = "longest" if task.keep == "raise" else task.keep
        if not self._holds_some(one, task.shown[0]):
            raise CorpusError(
                f"the model {one.name!r} of the mixture holds {one.holds}; no training mention is such, leave it out"
            )
        dev = None
        if task.dev is not None:
            held = hold(one, task.dev, keep).mentions
            dev = [s.with_mentions(own) for s, own in zip(task.dev, held, strict=True)]
        return replace(task, features=features, keep=keep, penalty=0.0, dev=dev)

    @staticmethod
    def _holds_some(one: Model, sets: Mentions) -> bool:
        """Whether a part has something to learn from mention sets."""
        return any(one.reduce(mentions, "longest")[0] for mentions in sets if mentions)

    def _weights(self, task: Task, done: Sequence[Fitted]) -> list[float]:
        if self.weights != "fit":
            return self._given(len(done))
        if task.dev is not None:
            return learn_weights(*judged([one.trained for one in done], task.dev, task.threads))

        def train(others: list[Sentence]) -> list[Trained] | None:
            gold = [s.mentions for s in others]
            if not all(self._holds_some(one, gold) for one in self.parts):
                return None
            own = replace(task, sentences=others, sizes=[1] * len(others), gold=gold, listener=None, start=None)
            return [one.trained for one in self._train(own)]

        def apply(models: list[Trained], block: list[Sentence]) -> list[tuple[Floats, Floats]]:
            return [judged(models, [one], task.threads) for one in block]

        known = [s.with_mentions(m) for s, m in zip(task.sentences, task.gold, strict=True)]
        nothing = np.zeros((len(done), 0)), np.zeros(0)
        found = cross_fit(known, self.folds, train, apply, sizes=task.sizes, default=lambda: nothing)
        return learn_weights(np.hstack([p for p, _ in found]), np.concatenate([y for _, y in found]))

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Arrays, extractor: FeatureExtractor) -> Trained:
        parts, labels = restore_parts(header, arrays)
        try:
            asked = header["weights"]
            model = cls([part.model for part in parts], asked, int(header["folds"]))
            shares = [float(share) for share in header["shares"]]
            if len(shares) != len(parts) or min(shares) < 0 or abs(sum(shares) - 1) > 1e-6:
                raise ValueError(f"{len(parts)} models have the weights {shares}")
            return MixedParts(model, parts, labels, extractor.features, shares)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the parts of the mixture are damaged: {error}") from None


class MixedParts(Parts):
    """Trained models, and how much each counts."""

    model: Mixture

    def __init__(
        self,
        model: Mixture,
        parts: Sequence[Trained],
        labels: frozenset[str],
        features: FeatureSet,
        shares: Sequence[float],
    ) -> None:
        super().__init__(model, parts, labels, features)
        self.shares = list(shares)
        self.extractor = FeatureExtractor.empty(features)  # each part looks at its own share of the set

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        return [[replace(m, prob=None) for m in own] for own in self.find_with_probabilities(sentences, threads)]

    def find_with_probabilities(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        some = self._candidates(sentences, HALF, threads)
        beliefs = [part.probabilities(sentences, some, threads) for part in self.parts]
        return [self._believed_in([*zip(*own, strict=True)]) for own in zip(*beliefs, strict=True)]

    def _believed_in(self, candidates: Sequence[Sequence[Mention]]) -> list[Mention]:
        """Choose from mentions, each with the probability that every model gives it, the most probable first."""
        found: list[Mention] = []
        kept = [_Kept() for _ in self.parts]
        ordered = sorted(((self._mean(same), same) for same in candidates), key=lambda pair: -(pair[0].prob or 0.0))
        for mention, same in ordered:
            asked = [i for i, part in enumerate(self.parts) if part.model.misfit(kept[i].with_one(mention)) is None]
            weight = sum(self.shares[i] for i in asked)
            if not weight or sum(self.shares[i] * (same[i].prob or 0.0) for i in asked) < HALF * weight:
                continue
            found.append(mention)
            for i in asked:
                kept[i].add(mention)
        return sorted(found, key=reading_order)

    def _mean(self, same: Sequence[Mention]) -> Mention:
        mean = sum(w * (m.prob or 0.0) for w, m in zip(self.shares, same, strict=True))
        return probable(same[0], min(1.0, mean))

    def find_above(self, sentences: Sequence[Sentence], above: float, threads: int | None = None) -> Mentions:
        found = self.probabilities(sentences, self._candidates(sentences, above, threads), threads)
        return [[m for m in own if (m.prob or 0.0) >= above] for own in found]

    def _candidates(self, sentences: Sequence[Sentence], above: float, threads: int | None) -> Mentions:
        """Return what one of the models believes in so much: a mean reaches ``above`` only if one of them does."""
        each = [part.find_above(sentences, above * (1 - MISSING), threads) for part in self.parts]
        return [sorted(set().union(*own), key=reading_order) for own in zip(*each, strict=True)]

    def probabilities(self, sentences: Sequence[Sentence], found: Mentions, threads: int | None = None) -> Mentions:
        """Return mentions with the mean of their probabilities."""
        each = [part.probabilities(sentences, found, threads) for part in self.parts]
        return [[self._mean(same) for same in zip(*own, strict=True)] for own in zip(*each, strict=True)]

    def distributions(self, sentences: Sequence[Sentence], threads: int | None = None) -> Iterator[Distribution]:
        each = [part.distributions(sentences, threads) for part in self.parts]
        return (average(own, self.shares) for own in zip(*each, strict=True))

    @property
    def belief(self) -> str:
        """That of the model whose probabilities say least."""
        order = ("exact", "bound", "parts", "candidates", "scores")
        return max((part.belief for part in self.parts), key=order.index)

    def responsible(self, sentence: Sentence, mention: Mention) -> tuple[Trained, Seen]:
        """Return the model that adds most to the probability of a mention."""
        owners = [
            (share, part) for share, part in zip(self.shares, self.parts, strict=True) if mention.label in part.labels
        ]
        best = max(owners, key=lambda pair: pair[0] * pair[1].distribution(sentence).prob(mention))
        return best[1], list

    # It has no mention penalty: a threshold does the same

    def set_penalty(self, chosen: Penalty) -> None:
        Trained.set_penalty(self, chosen)

    def tune_penalty(self, dev: Sequence[Sentence], threads: int | None, *, by_label: bool) -> Curve:
        raise self._no_penalty()

    # Keeping

    def weight_columns(self) -> Iterator[WeightColumn]:
        for part in self.parts:
            for column in part.weight_columns():
                words = column.words and f"{part.model.name}: {column.words}"
                yield replace(column, name=f"{part.model.name}: {column.name}", words=words)

    def facts(self) -> dict[str, Any]:
        names = [part.model.name for part in self.parts]
        told = [name if names.count(name) == 1 else f"{name} {i}" for i, name in enumerate(names, 1)]
        return {"weights": dict(zip(told, self.shares, strict=True))}

    def header(self) -> dict[str, Any]:
        own = {"weights": self.model.weights, "folds": self.model.folds, "shares": self.shares}
        return {**own, **super().header()}


class _Kept:
    """Mentions of a sentence that a model holds together; a further one is held against those beside it only."""

    def __init__(self) -> None:
        self._all: list[Mention] = []
        self._at: dict[int, list[Mention]] = {}  # by token
        self._broken = False

    def add(self, mention: Mention) -> None:
        self._all.append(mention)
        self._broken = self._broken or mention.discontinuous
        for token in range(mention.start, mention.end):
            self._at.setdefault(token, []).append(mention)

    def with_one(self, mention: Mention) -> list[Mention]:
        """Return the mentions that this one may not go with, and the mention; all, where parts may belong together."""
        if self._broken or mention.discontinuous:
            return [*self._all, mention]
        return [*dict.fromkeys(m for t in range(mention.start, mention.end) for m in self._at.get(t, ())), mention]


def _numbers(given: Any) -> tuple[float, ...]:
    try:
        made = tuple(float(one) for one in given)
    except (TypeError, ValueError, OverflowError):
        made = ()
    if not made or not all(map(math.isfinite, made)):
        raise ParameterError(
            f"weights are 'equal', 'fit' or a number for each model, such as [2, 1]; got {given!r:.80}"
        )
    return given if type(given) is tuple and made == given else made  # what scikit-learn copies stays the same object


def _model(given: Model | str | Mapping[str, Any]) -> Model:
    if not isinstance(given, Mapping):
        return named(given)
    kind = type(named(str(given.get("name"))))
    try:
        return kind(**{name: value for name, value in given.items() if name != "name"})
    except TypeError:
        known = ", ".join(kind.parameters()) or "none"
        raise ParameterError(f"{dict(given)!r} is no model: the settings of {kind.name!r} are {known}") from None
