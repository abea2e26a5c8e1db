"""How a recogniser learns and finds with a model: by components, by the model itself, or through flat taggers.

An engine has the model, its features and what was learned. ``engine_of`` makes the right one; the recogniser knows no
more of the differences between models than this interface.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from spanloom._native import Decoder
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus import Mention, Sentence
from spanloom.decisions import penalty
from spanloom.evaluation.calibration import Curve
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import Iteration, Listener, Settings, Weights, compress
from spanloom.models import Model, Standalone
from spanloom.models.base import Lesson, best_sets
from spanloom.reductions import Reduction
from spanloom.training import Dev, Gold, Held, Interrupted, decode_all, train_component, train_standalone

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to learn: what ``train_component`` asks for."""

    algorithm: str
    settings: Settings
    seed: int
    patience: int | None
    listener: Listener | None

    def options(self) -> dict[str, Any]:
        """Return all of it by name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Data:
    """What to learn from."""

    sentences: Sequence[Sentence]
    gold: Gold
    """The mentions of each sentence that the model can hold."""
    features: FeatureSet
    dev: Sequence[Sentence] | None


@dataclass(frozen=True, slots=True)
class Stored:
    """What a file has of a model: its features, all arrays, and the model's own part of the header."""

    extractor: FeatureExtractor
    arrays: Arrays
    header: Mapping[str, Any]


class Engine(ABC):
    """A model at work.

    Attributes
    ----------
    model
        What it learns and finds with.
    extractor
        The features, once it has learned.
    weights
        Those of the model's components.
    """

    penalised: ClassVar[bool] = False
    """Whether it takes a mention penalty itself."""

    model: Model
    extractor: FeatureExtractor
    weights: Sequence[Weights] = ()

    @property
    @abstractmethod
    def labels(self) -> frozenset[str]:
        """The labels of the mentions that it finds."""

    def narrow(self, held: Held, lengths: Sequence[int]) -> Held:
        """Leave out what the whole training corpus shows to be too much."""
        return held

    @abstractmethod
    def train(self, data: Data, plan: Plan) -> list[Iteration]:
        """Learn and return a record of every iteration; ``Interrupted`` if that was stopped and there are weights."""

    @abstractmethod
    def find(self, sentences: Sequence[Sentence], threads: int | None) -> Gold:
        """Return the mentions of each sentence."""

    @abstractmethod
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what was learned besides the features, for a file."""

    @abstractmethod
    def restore(self, file: Stored, threads: int | None) -> None:
        """Undo ``arrays``; ``ModelFileError``, ``ValueError`` or ``KeyError`` if the file does not fit the model."""

    @property
    def untrained(self) -> frozenset[str]:
        """Labels that have learned nothing, because training was stopped before their turn."""
        return frozenset()

    def check_penalty(self, wanted: float | Mapping[str, float] | str) -> None:
        """Raise ``ParameterError`` for a mention penalty that could not be used after the training."""
        return

    def set_penalty(self, chosen: penalty.Penalty) -> None:
        """Use a mention penalty from now on."""
        if chosen:
            raise self._no_penalty()

    def tune_penalty(self, dev: Sequence[Sentence], threads: int | None, *, by_label: bool) -> dict[str, Curve]:
        """Return precision and recall at each mention penalty, by label."""
        raise self._no_penalty()

    def k_best(self, sentence: Sentence, k: int, threads: int | None) -> list[tuple[float, list[Mention]]]:
        """Return the ``k`` most probable mention sets, best first; see ``Recognizer.k_best``."""
        raise ParameterError(
            f"the model {self.model.name!r} does not have one distribution over mention sets; chain, memm, the segment "
            "models, and innermost, outermost and joined over one of these have"
        )

    def recognizers(self, whole: Recognizer) -> list[Recognizer]:
        """Return the recognisers that ``whole``, whose engine this is, is made of."""
        return [whole]

    def _no_penalty(self) -> ParameterError:
        return ParameterError(f"the model {self.model.name!r} takes no mention penalty")


class ComponentEngine(Engine):
    """Learns the weights of a model's components one after the other, and searches all of them at once."""

    penalised = True

    decoder: Decoder

    def __init__(self, model: Model) -> None:
        self.model = model

    @property
    def labels(self) -> frozenset[str]:
        return frozenset().union(*(component.types for component in self.model.components))

    def train(self, data: Data, plan: Plan) -> list[Iteration]:
        model, threads = self.model, plan.settings.threads
        extractor = FeatureExtractor(data.features, model.sites)
        shapes = model.shapes(data.sentences, extractor.layout)
        rows = extractor.fit(data.sentences, threads, shapes.lattices)
        watch = None
        if data.dev is not None:
            dev_shapes = model.shapes(data.dev, extractor.layout)
            dev_rows = extractor.transform(data.dev, threads, dev_shapes.lattices)
            watch = Dev(dev_rows, [s.mentions for s in data.dev], dev_shapes)
        common = {
            **plan.options(),
            "dev": watch,
            "compressed": compress(rows, plan.settings) if plan.algorithm == "lbfgs" else None,
        }
        weights: list[Weights] = []
        history: list[Iteration] = []
        interrupted: Interrupted | None = None
        for number, component in enumerate(model.components):
            try:
                learned, records = train_component(component, rows, data.gold, shapes, number=number, **common)
            except Interrupted as stop:
                interrupted, learned, records = stop, stop.learned, stop.history
            weights.append(learned)
            history.extend(records)
            if interrupted is not None:
                # What was not reached has learned nothing, and finds nothing.
                weights.extend(Weights.zeros(extractor.size, c.structure) for c in model.components[number + 1 :])
                break
        self.install(*_prune(extractor, weights))
        if interrupted is not None:
            raise Interrupted(None, history)
        return history

    def install(self, extractor: FeatureExtractor, weights: Sequence[Weights]) -> None:
        """Find mentions by these features and weights from now on; ``ValueError`` if they do not fit the model."""
        components = self.model.components
        for component, one in zip(components, weights, strict=True):
            shape = (extractor.size, len(component.columns))
            if one.features.shape != shape or one.features.dtype != np.float32 or one.globals.dtype != np.float64:
                raise ValueError(f"weights must be {shape} float32, not {one.features.shape} {one.features.dtype}")
        self.extractor, self.weights = extractor, weights
        self.decoder = Decoder.joined(
            [(c.structure, one.features.ravel(), one.globals) for c, one in zip(components, weights, strict=True)]
        )

    def find(self, sentences: Sequence[Sentence], threads: int | None) -> Gold:
        shapes = self.model.shapes(sentences, self.extractor.layout)
        rows = self.extractor.transform(sentences, threads, shapes.lattices)
        found = decode_all(self.model.components, self.decoder, rows, shapes, threads or 0)
        return found[0] if len(found) == 1 else [self.model.unite(parts) for parts in zip(*found, strict=True)]

    def k_best(self, sentence: Sentence, k: int, threads: int | None) -> list[tuple[float, list[Mention]]]:
        if len(self.model.components) != 1:
            return super().k_best(sentence, k, threads)
        (component,), (weights,) = self.model.components, self.weights
        shapes = self.model.shapes([sentence], self.extractor.layout)
        rows = self.extractor.transform([sentence], threads, shapes.lattices)
        scores = np.concatenate([self.decoder.scores(rows, 1), weights.globals])
        site_cells = rows.rows * len(component.columns)

        def read(cells: npt.NDArray[np.int32]) -> list[Mention]:
            sites = cells[cells < site_cells]
            return component.decode_all(sites, np.array([0, len(sites)], np.int64), shapes)[0]

        return best_sets(component.structure_for(shapes).graph(rows.rows), scores, k, read)

    @property
    def untrained(self) -> frozenset[str]:
        pairs = zip(self.model.components, self.weights, strict=True)
        return frozenset().union(*(c.types for c, one in pairs if not one.features.any() and not one.globals.any()))

    def check_penalty(self, wanted: float | Mapping[str, float] | str) -> None:
        if wanted == "auto-by-label" and any(len(c.types) > 1 for c in self.model.components):
            raise ParameterError(
                f"labels share a component in the model {self.model.name!r}: their penalties cannot be chosen apart; "
                'use mention_penalty="auto"'
            )
        if isinstance(wanted, Mapping):
            penalty.by_label(wanted, sorted(self.labels))

    def set_penalty(self, chosen: penalty.Penalty) -> None:
        untrained = self.untrained if chosen else ()  # would start a mention at every word
        used = {label: value for label, value in chosen.items() if label not in untrained}
        penalty.apply_penalty(self.model.components, self.decoder, used)

    def tune_penalty(self, dev: Sequence[Sentence], threads: int | None, *, by_label: bool) -> dict[str, Curve]:
        if by_label:
            self.check_penalty("auto-by-label")
        known = self.labels - self.untrained
        if not any(mention.label in known for sentence in dev for mention in sentence.mentions):
            raise CorpusError(
                "the development data have no mention of a label that the model finds, so that they say nothing about "
                f"a mention penalty; labels are {', '.join(sorted(known))}"
            )
        shapes = self.model.shapes(dev, self.extractor.layout)
        rows = self.extractor.transform(dev, threads, shapes.lattices)
        gold = [s.mentions for s in dev]
        return penalty.sweep(self.model.components, self.decoder, rows, gold, shapes, threads or 0, sorted(known))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        stored: dict[str, npt.NDArray[Any]] = {}
        for i, weights in enumerate(self.weights):
            stored[f"component.{i}.features"] = weights.features
            stored[f"component.{i}.globals"] = weights.globals
        return stored

    def restore(self, file: Stored, threads: int | None) -> None:
        numbers, arrays = range(len(self.model.components)), file.arrays
        weights = [Weights(arrays[f"component.{i}.features"], arrays[f"component.{i}.globals"]) for i in numbers]
        self.install(file.extractor, weights)


class StandaloneEngine(Engine):
    """Lets a model learn and search by itself."""

    model: Standalone

    def __init__(self, model: Standalone) -> None:
        self.model = model

    @property
    def labels(self) -> frozenset[str]:
        return self.model.types

    def train(self, data: Data, plan: Plan) -> list[Iteration]:
        try:
            history = train_standalone(
                self.model,
                Lesson(data.sentences, data.gold, data.features, plan.settings, plan.algorithm, plan.seed),
                dev=data.dev,
                patience=plan.patience,
                listener=plan.listener,
            )
        except Interrupted:
            self.extractor = self.model.extractor
            raise
        self.extractor = self.model.extractor
        return history

    def find(self, sentences: Sequence[Sentence], threads: int | None) -> Gold:
        return self.model.find(sentences, threads or 0)

    def k_best(self, sentence: Sentence, k: int, threads: int | None) -> list[tuple[float, list[Mention]]]:
        found = self.model.k_best(sentence, k)
        return super().k_best(sentence, k, threads) if found is None else found

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {f"model.{name}": array for name, array in self.model.arrays().items()}

    def restore(self, file: Stored, threads: int | None) -> None:
        self.extractor = file.extractor
        self.model.restore(file.extractor, below(file.arrays, "model."))


class ReductionEngine(Engine):
    """Lets flat taggers learn and search."""

    model: Reduction

    def __init__(self, model: Reduction) -> None:
        self.model = model

    @property
    def labels(self) -> frozenset[str]:
        return self.model.types

    def narrow(self, held: Held, lengths: Sequence[int]) -> Held:
        kept, gone = self.model.narrow(held.mentions, lengths)
        return Held(kept, held.lost + gone, held.misread)

    def train(self, data: Data, plan: Plan) -> list[Iteration]:
        try:
            history = self.model.train(data.sentences, data.gold, dev=data.dev, listener=plan.listener)
        except Interrupted as stop:  # a part was; without the others it is of no use
            raise KeyboardInterrupt(*stop.args) from None
        self.extractor = _no_features(self.model, data.features)
        return history

    def find(self, sentences: Sequence[Sentence], threads: int | None) -> Gold:
        return self.model.find(sentences)

    def k_best(self, sentence: Sentence, k: int, threads: int | None) -> list[tuple[float, list[Mention]]]:
        if len(self.model.parts) != 1:
            return super().k_best(sentence, k, threads)
        (part,) = self.model.recognizers
        return [(prob, self.model.read(found, len(sentence))) for prob, found in part.k_best(sentence, k)]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {f"model.{name}": array for name, array in self.model.arrays().items()}

    def restore(self, file: Stored, threads: int | None) -> None:
        self.extractor = file.extractor
        self.model.restore(file.header, below(file.arrays, "model."), threads)

    def recognizers(self, whole: Recognizer) -> list[Recognizer]:
        return self.model.recognizers


def engine_of(model: Model) -> Engine:
    """Return the engine that a model needs; it has learned nothing yet."""
    if isinstance(model, Standalone):
        return StandaloneEngine(model)
    if isinstance(model, Reduction):
        return ReductionEngine(model)
    return ComponentEngine(model)


def below(arrays: Arrays, prefix: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays whose names begin with ``prefix``, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _no_features(model: Reduction, features: FeatureSet) -> FeatureExtractor:
    """An extractor for a model whose parts have all the features."""
    for part in model.parts:
        extractor = getattr(part, "extractor_", None)
        if isinstance(extractor, FeatureExtractor):
            return extractor.keep(np.zeros(0, np.uint32))
    extractor = FeatureExtractor(features)
    extractor.fit([])
    return extractor


def _prune(extractor: FeatureExtractor, weights: list[Weights]) -> tuple[FeatureExtractor, list[Weights]]:
    """Drop the features that no component uses; with an L1 penalty that is most of them."""
    used = np.zeros(extractor.size, np.bool_)
    for one in weights:
        used |= one.features.any(axis=1)
    if used.all():
        return extractor, weights
    smaller = [Weights(np.ascontiguousarray(one.features[used]), one.globals) for one in weights]
    return extractor.keep(np.flatnonzero(used)), smaller
