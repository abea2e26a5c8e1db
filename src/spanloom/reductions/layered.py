"""Layering (Alex, Haddow & Grover 2007): one flat tagger for each level of nesting, and the union of what they find.

The levels are those of :mod:`spanloom.schemes.layers`. As many taggers are trained as the training data have layers, so
that any contiguous mentions can be held, nested to that depth, crossing, or with several labels on the same tokens.
Time and memory are those of the flat tagger times the number of layers. The taggers know nothing of each other.

``innermost`` and ``outermost`` train the first layer of one direction only: simple tagging, the baselines of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from spanloom.base.errors import ModelFileError
from spanloom.base.parameters import check_choice, check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.learning import Iteration, Listener
from spanloom.reductions.base import Gold, Maker, Reduction
from spanloom.schemes.layers import DIRECTIONS, layers_of


class Layered(Reduction):
    """A flat tagger for each layer.

    Parameters
    ----------
    direction
        How layers are counted: ``"inside-out"`` or ``"outside-in"``.
    layers
        At most so many; None for as many as the training data have.
    """

    name = "layered"
    holds = "contiguous mentions, nested, crossing or with several labels on the same tokens"

    def __init__(self, direction: str = "inside-out", layers: int | None = None, make: Maker | None = None) -> None:
        super().__init__(make)
        check_choice("direction", direction, DIRECTIONS)
        if layers is not None:
            check_count("layers", layers)
        self.direction, self.layers = direction, layers

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        for i, mention in enumerate(mentions):
            if mention.discontinuous:
                return i, f"has {len(mention.parts)} parts"
        for level, layer in enumerate(layers_of(mentions, self.direction)):
            if self.layers is not None and level >= self.layers:
                return mentions.index(layer[0]), f"is in layer {level + 1}, and {self.layers} were asked for"
        return None

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        layers = layers_of([m for m in mentions if not m.discontinuous], self.direction)[: self.layers]
        kept = {m for layer in layers for m in layer}
        return sorted(kept), sorted(set(mentions) - kept)

    def train(
        self,
        sentences: Sequence[Sentence],
        gold: Gold,
        *,
        dev: Sequence[Sentence] | None = None,
        listener: Listener | None = None,
    ) -> list[Iteration]:
        layered = [layers_of(mentions, self.direction) for mentions in gold]
        history: list[Iteration] = []
        for level in range(max(map(len, layered), default=0)):
            watched = None if dev is None else [s.with_mentions(self._layer(s.mentions, level)) for s in dev]
            layer = [layers[level] if level < len(layers) else [] for layers in layered]
            history += self.train_part(self.make(), sentences, layer, watched, listener)
        return history

    def find(self, sentences: Sequence[Sentence]) -> Gold:
        return self.union([[s.mentions for s in part.predict(sentences)] for part in self.parts])

    def _layer(self, mentions: Sequence[Mention], level: int) -> list[Mention]:
        layers = layers_of([m for m in mentions if not m.discontinuous], self.direction)
        return layers[level] if level < len(layers) else []

    def facts(self) -> dict[str, Any]:
        return {"layers": len(self.parts)}

    def header(self) -> dict[str, Any]:
        return {"direction": self.direction, "layers": self.layers, **super().header()}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Layered:
        try:
            return cls(header["direction"], header["layers"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the layers of the model are damaged: {error}") from None


class _Simple(Layered):
    """The first layer only; the other mentions are left out without asking, and ``lost_`` has them."""

    way: ClassVar[str]
    holds = "contiguous mentions that do not overlap; of those that do, it takes its choice"

    def __init__(self, make: Maker | None = None) -> None:
        super().__init__(self.way, 1, make)

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> _Simple:
        return cls()


class Innermost(_Simple):
    """One flat tagger, trained on the mentions that contain no other."""

    name = "innermost"
    choice = "innermost"
    way = "inside-out"


class Outermost(_Simple):
    """One flat tagger, trained on the mentions that no other contains."""

    name = "outermost"
    choice = "outermost"
    way = "outside-in"
