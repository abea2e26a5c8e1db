"""Layering (Alex, Haddow & Grover 2007): one flat tagger for each level of nesting, and the union of what they find.

The levels are those of :mod:`spanloom.schemes.layers`. As many taggers are trained as the training data have layers, so
that any contiguous mentions can be held, nested to that depth, crossing, or with several labels on the same tokens.
Time and memory are those of the flat tagger times the number of layers. The taggers know nothing of each other.

``innermost`` and ``outermost`` train the first layer of one direction only: simple tagging, the baselines of the paper.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from spanloom.base.arrays import Arrays
from spanloom.base.errors import ModelFileError
from spanloom.base.parameters import check_choice, check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.features import FeatureExtractor
from spanloom.learning import Iteration
from spanloom.models.base import Mentions, Task
from spanloom.models.reduction import Parts, Reduction, restore_parts, train_part
from spanloom.models.trained import Trained
from spanloom.schemes.flat import first_discontinuous
from spanloom.schemes.layers import DIRECTIONS, layers_of


@dataclass(frozen=True)
class Layers(Reduction):
    """What models of layers share."""

    @property
    @abstractmethod
    def way(self) -> tuple[str, int | None]:
        """How layers are counted, and how many there may be."""

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        found = first_discontinuous(mentions)
        if found is not None:
            return found
        direction, most = self.way
        for level, layer in enumerate(layers_of(mentions, direction)):
            if most is not None and level >= most:
                return mentions.index(layer[0]), f"is in layer {level + 1}, and {most} were asked for"
        return None

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        direction, most = self.way
        layers = layers_of([m for m in mentions if not m.discontinuous], direction)[:most]
        kept = {m for layer in layers for m in layer}
        return sorted(kept), sorted(set(mentions) - kept)

    def fit(self, task: Task) -> tuple[Trained, list[Iteration]]:
        direction, _ = self.way
        layered = [layers_of(mentions, direction) for mentions in task.gold]
        parts: list[Trained] = []
        history: list[Iteration] = []
        levels = max(map(len, layered), default=0)
        for level in range(levels):
            dev = (
                None if task.dev is None else [s.with_mentions(_layer(s.mentions, level, direction)) for s in task.dev]
            )
            layer = [layers[level] if level < len(layers) else [] for layers in layered]
            fitted = train_part(self.part, task, level, layer, dev, f"layer {level + 1}" if levels > 1 else "", levels)
            parts.append(fitted.trained)
            history += fitted.history
        labels = frozenset(m.label for mentions in task.gold for m in mentions)
        return LayeredParts(self, parts, labels, task.features), history

    @classmethod
    def restore(cls, header: Mapping[str, Any], arrays: Arrays, extractor: FeatureExtractor) -> Trained:
        parts, labels = restore_parts(header, arrays)
        return LayeredParts(cls._of(header, parts), parts, labels, extractor.features)

    @classmethod
    def _of(cls, header: Mapping[str, Any], parts: Sequence[Trained]) -> Layers:
        return cls(base=parts[0].model)


@dataclass(frozen=True)
class Layered(Layers):
    """A flat tagger for each layer.

    Parameters
    ----------
    base
        As in ``Reduction``.
    direction
        How layers are counted: ``"inside-out"`` or ``"outside-in"``.
    layers
        At most so many; None for as many as the training data have.
    """

    direction: str = "inside-out"
    layers: int | None = None

    name = "layered"
    holds = "contiguous mentions, nested, crossing or with several labels on the same tokens"

    def check(self) -> None:
        super().check()
        check_choice("direction", self.direction, DIRECTIONS)
        if self.layers is not None:
            check_count("layers", self.layers)

    @property
    def way(self) -> tuple[str, int | None]:
        return self.direction, self.layers

    @classmethod
    def _of(cls, header: Mapping[str, Any], parts: Sequence[Trained]) -> Layers:
        try:
            return cls(parts[0].model, header["direction"], header["layers"])
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelFileError(f"the layers of the model are damaged: {error}") from None


@dataclass(frozen=True)
class Simple(Layers):
    """The first layer only; the other mentions are left out without asking, and ``lost_`` has them."""

    direction_: ClassVar[str]
    holds = "contiguous mentions that do not overlap; of those that do, it takes its choice"

    @property
    def way(self) -> tuple[str, int | None]:
        return self.direction_, 1


@dataclass(frozen=True)
class Innermost(Simple):
    """One flat tagger, trained on the mentions that contain no other."""

    name = "innermost"
    choice = "innermost"
    direction_ = "inside-out"


@dataclass(frozen=True)
class Outermost(Simple):
    """One flat tagger, trained on the mentions that no other contains."""

    name = "outermost"
    choice = "outermost"
    direction_ = "outside-in"


class LayeredParts(Parts):
    """Trained layers."""

    model: Layers

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        return self.union([part.find(sentences, threads) for part in self.parts], conflicts)

    def facts(self) -> dict[str, Any]:
        return {"layers": len(self.parts)}

    def header(self) -> dict[str, Any]:
        direction, layers = self.model.way
        return {"direction": direction, "layers": layers, **super().header()}


def _layer(mentions: Sequence[Mention], level: int, direction: str) -> list[Mention]:
    layers = layers_of([m for m in mentions if not m.discontinuous], direction)
    return layers[level] if level < len(layers) else []
