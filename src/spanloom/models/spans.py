"""Sets of segments: every candidate is a mention of a type or not, each decision for itself.

    score(set) = Σ_(i,j,y) w[y] · f(i, j)        P(mention) = 1 / (1 + exp(−score))

The candidates and their features are those of ``models.semimarkov`` and ``models.dgm``; what is missing is the rule
that mentions do not overlap. So mentions may nest, cross and coincide, of one type as of several, and what is found in
one place does not depend on what is found in another. ``dgm-nested`` asks about the valid spans of the dependency tree
only, fewer than e·n on average; ``spans`` asks about all segments up to L. Both cost O(candidates · T).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spanloom._native import SpanStructure
from spanloom.corpus.mention import Mention
from spanloom.models.base import Cells, Shapes
from spanloom.models.dgm import Guided
from spanloom.models.segments import LatticeComponent, SegmentModel, all_segments, lattices_of


class SpanComponent(LatticeComponent):
    """A decision for every candidate and type."""

    kind = SpanStructure

    def decode(self, cells: Cells, n: int) -> list[Mention]:
        """Undo ``encode``."""
        shapes = Shapes([n], all_segments([n], max(n, 1), (1, 1, False)))
        return self.decode_all(cells, np.array([0, len(cells)], np.int64), shapes)[0]

    def decode_all(self, cells: Cells, ptr: npt.NDArray[np.int64], shapes: Shapes) -> list[list[Mention]]:
        lattices, bounds, width = lattices_of(shapes), ptr.tolist(), len(self.columns)
        found = []
        for number in range(len(shapes.lengths)):
            flat = lattices.decode_set(number, cells[bounds[number] : bounds[number + 1]], width).tolist()
            found.append(
                [
                    Mention(self.columns[column], ((start, end),))
                    for start, end, column in zip(flat[::3], flat[1::3], flat[2::3], strict=True)
                ]
            )
        return found


class Spans(SegmentModel):
    """All segments of up to a number of tokens, each for itself."""

    name = "spans"
    holds = "contiguous mentions up to the longest segment, whatever their overlaps"

    def component(self, types: Sequence[str]) -> LatticeComponent:
        return SpanComponent(types)

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        broken = (i for i, m in enumerate(mentions) if m.discontinuous)
        return next(((i, f"has {len(mentions[i].parts)} parts") for i in broken), None)

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        return [m for m in mentions if not m.discontinuous], [m for m in mentions if m.discontinuous]


class NestedGuided(Guided, Spans):
    """The valid spans of the dependency tree of up to a number of tokens, each for itself."""

    name = "dgm-nested"
    holds = "contiguous mentions that are valid spans of the dependency tree, whatever their overlaps"
