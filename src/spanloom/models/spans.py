"""Sets of segments: every candidate is a mention of a type or not, each decision for itself.

    score(set) = Σ_(i,j,y) w[y] · f(i, j)        P(mention) = 1 / (1 + exp(−score))

The candidates and their features are those of ``models.semimarkov`` and ``models.dgm``; what is missing is the rule
that mentions do not overlap. So mentions may nest, cross and coincide, of one type as of several, and what is found in
one place does not depend on what is found in another. ``dgm-nested`` asks about the valid spans of the dependency tree
only, fewer than e·n on average; ``spans`` asks about all segments up to L. Both cost O(candidates · T).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanloom._native import Lattices, SpanStructure, segment_scores
from spanloom.base.arrays import Floats
from spanloom.corpus.mention import Mention
from spanloom.inference import Independent
from spanloom.models.component import Shapes
from spanloom.models.dgm import Guided
from spanloom.models.segments import LatticeComponent, SegmentModel, lattices_of
from spanloom.schemes.flat import apart, first_discontinuous


class SpanComponent(LatticeComponent):
    """A decision for every candidate and type."""

    kind = SpanStructure

    def over(self, lattices: Lattices) -> SpanStructure:
        return SpanStructure(len(self.columns), lattices)

    def distribution(self, scores: Floats, global_scores: Floats, shapes: Shapes, number: int = 0) -> Independent:
        lattices = lattices_of(shapes)
        spans = lattices.spans(number).reshape(-1, 2).tolist()
        candidates = [Mention(name, ((start, end),)) for start, end in spans for name in self.columns]
        return Independent(candidates, segment_scores(self.over(lattices), scores, number))


@dataclass(frozen=True)
class Spans(SegmentModel):
    """All segments of up to a number of tokens, each for itself."""

    name = "spans"
    holds = "contiguous mentions up to the longest segment, whatever their overlaps"

    def component(self, types: Sequence[str]) -> LatticeComponent:
        return SpanComponent(types)

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return first_discontinuous(mentions)

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        return apart(mentions)


@dataclass(frozen=True)
class NestedGuided(Guided, Spans):
    """The valid spans of the dependency tree of up to a number of tokens, each for itself."""

    name = "dgm-nested"
    holds = "contiguous mentions that are valid spans of the dependency tree, whatever their overlaps"
