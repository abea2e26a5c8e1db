"""Semi-Markov conditional random field (Sarawagi & Cohen 2004): a sentence is cut into segments, each with a type or O.

    score(segments) = Σ_(i,j,y) w[y] · f(i, j) + Σ transition[y', y]

Sites are segments of up to L tokens; what stands outside of mentions are segments of one token with the column ``O``.
Features may look at a whole segment, which a chain cannot. Holds contiguous mentions that do not overlap, up to L long.

Features of a segment that it shares with others (all that begin at i, all that end at j, all that are longer than k)
are scored once, and transitions see no lengths, so that sums over the types before a boundary are taken once:
training and decoding cost O(n T² + n L T), not O(n L T²); see ``models.weak``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanloom._native import Lattices, SegmentStructure
from spanloom.base.arrays import Floats
from spanloom.corpus.mention import Mention
from spanloom.inference import Segmentation
from spanloom.models.component import Shapes, pair_names
from spanloom.models.segments import LatticeComponent, SegmentModel, lattices_of
from spanloom.schemes import first_misfit


class SegmentComponent(LatticeComponent):
    """Segmentations with the types of all mentions."""

    kind = SegmentStructure
    outside = ("O",)

    def over(self, lattices: Lattices) -> SegmentStructure:
        return SegmentStructure(len(self.columns), lattices)

    def distribution(self, scores: Floats, global_scores: Floats, shapes: Shapes, number: int = 0) -> Segmentation:
        lattices = lattices_of(shapes)
        spans = lattices.spans(number).reshape(-1, 2)
        return Segmentation(self.over(lattices), scores, global_scores, self.columns, spans, number)

    def global_names(self) -> list[str]:
        return pair_names(self.columns)


@dataclass(frozen=True)
class SemiMarkov(SegmentModel):
    """Segmentations into segments of up to a number of tokens."""

    name = "semimarkov"
    holds = "contiguous mentions that do not overlap, up to the longest segment"
    flat = True

    def component(self, types: Sequence[str]) -> LatticeComponent:
        return SegmentComponent(types)

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return first_misfit(mentions)
