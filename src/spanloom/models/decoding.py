"""From feature rows to mentions by components, and development data that are tagged after every iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spanloom._native import Decoder, SparseRows
from spanloom.evaluation.score import micro
from spanloom.learning import Weights
from spanloom.models.base import Mentions
from spanloom.models.component import Component, Shapes


@dataclass(frozen=True, slots=True)
class Dev:
    """Development data, ready to be tagged after every iteration."""

    rows: SparseRows
    mentions: Mentions
    shapes: Shapes
    threads: int

    def f1_of(self, component: Component) -> Callable[[Weights], float]:
        """Return what gives micro F1 on the mentions of the component's own types for weights."""
        gold = [[m for m in mentions if m.label in component.types] for mentions in self.mentions]

        def f1(weights: Weights) -> float:
            decoder = Decoder(component.structure, weights.features.ravel(), weights.globals)
            (found,) = decode_all([component], decoder, self.rows, self.shapes, self.threads)
            return micro(gold, found).f1

        return f1

    def f1_of_all(self, components: Sequence[Component]) -> Callable[[Sequence[Weights]], float]:
        """Return what gives micro F1 on all mentions for the weights of all components."""

        def f1(weights: Sequence[Weights]) -> float:
            pairs = zip(components, weights, strict=True)
            decoder = Decoder.joined([(c.structure, one.features.ravel(), one.globals) for c, one in pairs])
            parts = decode_all(components, decoder, self.rows, self.shapes, self.threads)
            return micro(self.mentions, [[m for part in own for m in part] for own in zip(*parts, strict=True)]).f1

        return f1


def decode_all(
    components: Sequence[Component], decoder: Decoder, rows: SparseRows, shapes: Shapes, threads: int
) -> list[Mentions]:
    """Find the best structures of every sentence and read them; one list of mentions per component and sentence."""
    best = decoder.best(rows, threads, [component.structure_for(shapes) for component in components])
    return [component.decode_all(cells, ptr, shapes) for component, (ptr, cells) in zip(components, best, strict=True)]
