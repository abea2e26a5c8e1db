"""What a reduction is: a model that finds nested mentions with one or several flat taggers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Arrays, below
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.corpus.document import Sentence, judgeable
from spanloom.corpus.mention import Mention, reading_order
from spanloom.decisions import penalty
from spanloom.decisions.combine import conflicting
from spanloom.decisions.penalty import Penalty
from spanloom.evaluation.calibration import Curve
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.inference import Distribution, Joint
from spanloom.learning import Iteration, Listener, Trainer
from spanloom.models.base import Mentions, Model, Task, named
from spanloom.models.fitting import Fitted, fit_model
from spanloom.models.trained import Seen, Trained, WeightColumn, probable, restore_trained


class FlatTagger(Protocol):
    """Finds flat mentions: a ``Recognizer``, or an object of yours."""

    def fit(
        self, corpus: Sequence[Sentence], /, *, dev: Sequence[Sentence] | None = None, listener: Listener | None = None
    ) -> object:
        """Learn from sentences with mentions that do not overlap."""

    def predict(self, corpus: Sequence[Sentence], /) -> Sequence[Sentence]:
        """Return the sentences with the mentions that it finds."""


Base = Model | str | Callable[[], FlatTagger]
"""A flat model, its name, or a function that makes a tagger of yours that has learned nothing."""


@dataclass(frozen=True)
class Reduction(Model):
    """A model that is made of flat taggers.

    Parameters
    ----------
    base
        The flat model that they are, or its name; or a function that makes your ``FlatTagger``.
    """

    base: Base = "chain"

    def __post_init__(self) -> None:
        if isinstance(self.base, str):
            object.__setattr__(self, "base", named(self.base, flat=True))
        self.check()

    def check(self) -> None:
        if isinstance(self.base, Model):
            named(self.base, flat=True)
        elif not callable(self.base):
            raise ParameterError(f"the base is a flat model, its name or a function that makes one, got {self.base!r}")

    @property
    def part(self) -> Model:
        """The flat model of a part."""
        return self.base if isinstance(self.base, Model) else _Own(self.base)  # type: ignore[arg-type]

    @property
    def requires(self) -> tuple[str, ...]:
        return self.part.requires

    @property
    def penalised(self) -> bool:
        return self.part.penalised

    @property
    def probabilistic(self) -> bool:
        return self.part.probabilistic

    def trainer(self, given: Trainer | str) -> Trainer:
        return self.part.trainer(given)


def train_part(
    part: Model,
    task: Task,
    number: int,
    gold: Mentions,
    dev: Sequence[Sentence] | None,
    name: str,
    parts: int,
    templates: Sequence[str] = (),
) -> Fitted:
    """Train the part of a number on other mentions than the task's; ``dev`` has its own already.

    ``name`` is for records, and so is ``parts``, the number of all parts.
    """

    def numbered(record: Iteration) -> Iteration:
        return replace(record, component=number, part=name, parts=parts)

    def tell(record: Iteration) -> None:
        if task.listener is not None:
            task.listener(numbered(record))

    sentences = [s.with_mentions(m) for s, m in zip(task.sentences, gold, strict=True)]
    by_label = task.penalty if isinstance(task.penalty, Mapping) else {}
    learned = {m.label for mentions in gold for m in mentions}
    if by_label or (
        isinstance(task.penalty, str) and learned.isdisjoint(m.label for s in dev or () for m in s.mentions)
    ):
        wanted: penalty.Wanted = 0.0  # set below, or nothing to choose it on
    else:
        wanted = task.penalty
    own = replace(
        task,
        sentences=sentences,
        gold=[],
        features=task.features.plus(templates),
        penalty=wanted,
        dev=dev,
        listener=tell,
        start=_part_of(task.start, part.name, number, gold),
    )
    fitted = fit_model(part, own)
    trained = fitted.whole()  # without the other parts, one that was stopped is of no use
    if by_label:
        trained.set_penalty(of_labels(by_label, trained.labels))
    return replace(fitted, history=[numbered(record) for record in fitted.history])


class Parts(Trained):
    """Trained flat taggers, in the order in which they work.

    Parameters
    ----------
    features
        What the task asked for; the parts have the features that they use.
    """

    def __init__(self, model: Model, parts: Sequence[Trained], labels: frozenset[str], features: FeatureSet) -> None:
        self.model, self._parts, self.labels, self.penalty = model, list(parts), labels, {}
        self.extractor = _no_features(parts, features)

    @property
    def parts(self) -> list[Trained]:
        return self._parts

    def union(self, found: Sequence[Mentions], conflicts: Counter[str] | None) -> Mentions:
        """Unite what the parts found in each sentence, and count conflicting mentions.

        ``"crossing"``, or ``"labels"`` for the same tokens under two labels. The union has both.
        """
        united: Mentions = []
        for given in zip(*found, strict=True):
            mentions = sorted(sorted(set().union(*given)), key=reading_order)
            if conflicts is not None and sum(map(bool, given)) > 1:
                conflicts.update(kind for _, _, kind in conflicting(mentions, given))
            united.append(mentions)
        return united

    def distribution(self, sentence: Sentence) -> Distribution:
        return next(self.distributions([sentence], 1))

    def distributions(self, sentences: Sequence[Sentence], threads: int | None = None) -> Iterator[Distribution]:
        seen = self.seen_by_parts(sentences, threads)
        each = [part.distributions(own, threads) for part, own in zip(self.parts, seen, strict=True)]
        return map(Joint, map(list, zip(*each, strict=True)))

    @property
    def belief(self) -> str:
        return "parts" if len(self.parts) > 1 else self.parts[0].belief

    def probabilities(self, sentences: Sequence[Sentence], found: Mentions, threads: int | None = None) -> Mentions:
        """Return mentions with the probability that one of the parts finds them, 1 − Π (1 − P)."""
        probs = [[0.0] * len(own) for own in found]
        for part, seen in zip(self.parts, self.seen_by_parts(sentences, threads), strict=True):
            for known, own in zip(probs, part.probabilities(seen, found, threads), strict=True):
                known[:] = [p + (m.prob or 0.0) * (1 - p) for p, m in zip(known, own, strict=True)]
        return [[*map(probable, *pair)] for pair in zip(found, probs, strict=True)]

    # The mention penalty: each part has its own, which training may have chosen

    @property
    def penalty_in_use(self) -> Penalty:
        """By label; a label whose penalty is not the same in all parts that know it has one for each: ``"2: DNA"``."""
        found: Penalty = {}
        for label in sorted({label for part in self.parts for label in part.penalty}):
            each = {i: part.penalty.get(label, 0.0) for i, part in enumerate(self.parts, 1) if label in part.labels}
            if len(set(each.values())) == 1:
                found[label] = each.popitem()[1]
            else:
                found |= {f"{number}: {label}": value for number, value in each.items()}
        return found

    def set_penalty(self, chosen: Penalty) -> None:
        for part in self.parts:
            part.set_penalty(of_labels(chosen, part.labels))

    def tune_penalty(self, dev: Sequence[Sentence], threads: int | None, *, by_label: bool) -> Curve:
        if by_label:
            raise ParameterError(
                f"the parts of the model {self.model.name!r} may depend on each other, so that penalties of labels are "
                'not chosen apart after training; choose one for all labels, or train with penalty="auto-by-label"'
            )

        def find(chosen: Penalty) -> Mentions:
            self.set_penalty(chosen)
            return judgeable(dev, self.find(dev, threads))

        labels = sorted(self.labels)
        self.penalty_curve = penalty.choose_one(penalty.sweep(find, [s.mentions for s in dev], labels))
        self.set_penalty(penalty.by_label(self.penalty_curve.chosen or 0.0, labels))
        return self.penalty_curve

    def seen_by_parts(self, sentences: Sequence[Sentence], threads: int | None) -> list[Sequence[Sentence]]:
        """Return the sentences as each part gets them."""
        return [sentences] * len(self.parts)

    def responsible(self, sentence: Sentence, mention: Mention) -> tuple[Trained, Seen]:
        """Return the part that believes most in a mention."""
        views = [self.seen_by(i) for i, part in enumerate(self.parts) if mention.label in part.labels]
        owners = [part for part in self.parts if mention.label in part.labels]
        beliefs = [part.distribution(*seen([sentence])).prob(mention) for part, seen in zip(owners, views, strict=True)]
        best = beliefs.index(max(beliefs))
        return owners[best], views[best]

    def seen_by(self, number: int) -> Seen:
        """Return how the part of a number sees sentences: as they are, unless the parts before it say something."""
        return lambda sentences: list(self.seen_by_parts(sentences, None)[number])

    # Keeping

    def pruned(self, least: float) -> Trained:
        smaller = copy(self)
        smaller._parts = [part.pruned(least) for part in self.parts]
        return smaller

    def weight_columns(self) -> Iterator[WeightColumn]:
        for number, part in enumerate(self.parts, 1):
            for column in part.weight_columns():
                name = column.name if len(self.parts) == 1 else f"{number}: {column.name}"
                words = column.words if len(self.parts) == 1 or not column.words else f"{number}: {column.words}"
                yield replace(column, name=name, words=words)

    @property
    def weight_count(self) -> int:
        return sum(part.weight_count for part in self.parts)

    def header(self) -> dict[str, Any]:
        return {"types": sorted(self.labels), "parts": [part.state()[1] for part in self.parts]}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {
            f"model.{i}.{name}": array for i, part in enumerate(self.parts) for name, array in part.state()[0].items()
        }


def _part_of(start: Trained | None, model: str, number: int, gold: Mentions) -> Trained | None:
    """The part to start from: the one of the same number, or if it shares no label, the one that shares most.

    Parts of the same model come first.
    """
    if start is None:
        return None
    labels = {m.label for mentions in gold for m in mentions}
    parts = [part for part in start.parts if not isinstance(part, _OwnTagger)]
    alike = [part for part in parts if part.model.name == model] or parts
    if number < len(parts) and parts[number] in alike and parts[number].labels & labels:
        return parts[number]
    return max(alike, key=lambda part: len(part.labels & labels), default=None)


def of_labels(values: Mapping[str, float], labels: Collection[str]) -> Penalty:
    """Return the penalties of these labels."""
    return {label: float(value) for label, value in values.items() if label in labels and value}


def restore_parts(header: Mapping[str, Any], arrays: Arrays) -> tuple[list[Trained], frozenset[str]]:
    """Return the parts and the labels that ``Parts.header`` and ``Parts.arrays`` stored."""
    try:
        labels = frozenset(str(label) for label in header["types"])
        parts = [restore_trained(below(arrays, f"model.{i}."), one) for i, one in enumerate(header["parts"])]
    except (KeyError, TypeError) as error:
        raise ModelFileError(f"the parts of the model are damaged: {error!r}") from None
    return parts, labels


def _no_features(parts: Sequence[Trained], features: FeatureSet) -> FeatureExtractor:
    """An extractor for a model whose parts have all the features."""
    for part in parts:
        if not isinstance(part, _OwnTagger):
            return part.extractor.keep(np.zeros(0, np.uint32))
    extractor = FeatureExtractor(features)
    extractor.fit([])
    return extractor


@dataclass(frozen=True)
class _Own(Model):
    """Taggers of one's own as a model."""

    make: Callable[[], FlatTagger]

    name = "a tagger of your own"
    holds = "contiguous mentions that do not overlap"
    flat = True
    penalised = False

    @property
    def probabilistic(self) -> bool:
        """Only a recogniser of spanloom, without annotators and the like, shares what it believes."""
        return bool(getattr(self.make(), "will_be_plain", False))

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return None

    def trainer(self, given: Trainer | str) -> Trainer:
        return super().trainer("auto")  # which is not asked for anything

    def fit(self, task: Task) -> tuple[Trained, list[Iteration]]:
        tagger = self.make()
        corpus = [s.with_mentions(m) for s, m in zip(task.sentences, task.gold, strict=True)]
        tagger.fit(corpus, dev=task.dev, listener=task.listener)
        history = list(getattr(tagger, "history_", ()))
        trained = getattr(tagger, "trained_", None)
        if isinstance(trained, Trained) and getattr(tagger, "is_plain", False):
            return trained, history
        return _OwnTagger(self, tagger), history

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Arrays, extractor: FeatureExtractor) -> Trained:
        raise ModelFileError("a tagger of your own cannot be in a model file")


class _OwnTagger(Trained):
    """A tagger of one's own that has learned."""

    def __init__(self, model: _Own, tagger: FlatTagger) -> None:
        self.model, self.tagger, self.penalty = model, tagger, {}
        self.labels = frozenset()  # unknown: it has no penalty to be set by label

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        return [list(s.mentions) for s in self.tagger.predict(list(sentences))]

    def distribution(self, sentence: Sentence) -> Distribution:
        raise ParameterError("a tagger of your own gives no probabilities")

    def weight_columns(self) -> Iterator[WeightColumn]:
        return iter(())

    @property
    def weight_count(self) -> int:
        return 0

    def header(self) -> dict[str, Any]:
        raise self._unstorable()

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        raise self._unstorable()

    def state(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        raise self._unstorable()

    def _unstorable(self) -> ParameterError:
        return ParameterError("a model file holds models of spanloom; taggers of your own cannot be stored in it")
