"""Entity trees (Finkel & Manning 2009): a conditional random field over the parse trees of a grammar of mentions.

    score(tree) = Σ_(i,j,y) w[y] · f(i, j) + Σ_(i,j,y) rule[c, y],   c what stands above the mention (i, j, y)

The sum is over mentions. A tree has the mentions of a sentence as its nodes, the sentence at the top and the words at
the bottom: the mention right above another is the smallest that has all of its tokens, and labels of the same tokens
stand within each other in a fixed order of labels. So each set of mentions of which no two cross is exactly one tree,
log Z is over mention sets, and probabilities are exact. Holds nested mentions, also of one label if their tokens
differ, and several labels of the same tokens, up to L tokens; none that cross or have several parts.

A rule sees the label above, and with ``ancestors=2`` also the one above that, where the training data nest them
(``schemes.nested.Contexts``); its score is a global cell. Features see the whole segment with what stands beside it,
as those of ``models.semimarkov``; those of a word count for each mention that covers it.

The grammar is binarised to the left: siblings are added one by one to those before them, and only up to L tokens,
since no mention is longer. What stands at the top is one more pass over the sentence. So inside and outside sums cost
O(n L² C + n L C T) time and O(n L C) memory for C contexts of T labels, not O(n³), with no tree of mentions up to L
left out. Differences from the paper: words have no part of speech nor a node with features of its own, and rules do
not see the sibling before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from spanloom._native import Lattices, TreeStructure
from spanloom.base.arrays import Cells, Floats
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.corpus.mention import Mention, Parts
from spanloom.inference import Nesting
from spanloom.models.base import Mentions
from spanloom.models.component import Component, Shapes
from spanloom.models.segments import LatticeComponent, SegmentModel, lattices_of
from spanloom.schemes.nested import Contexts, first_crossing, seen_pairs, with_parents, without_crossing

if TYPE_CHECKING:
    from typing_extensions import Self


class TreeComponent(LatticeComponent):
    """Trees with the labels of all mentions; ``pairs`` are those of ``Contexts``."""

    kind = TreeStructure

    def __init__(self, types: Sequence[str], pairs: Sequence[tuple[str, str]] = ()) -> None:
        self.contexts = Contexts(types, pairs)
        super().__init__(types)

    def over(self, lattices: Lattices) -> TreeStructure:
        return TreeStructure(len(self.columns), lattices, self.contexts.next.ravel())

    def _encode(self, mentions: Sequence[Mention], lattices: Lattices, number: int) -> Cells:
        spans = super()._encode(mentions, lattices, number)
        rules = [cell for cell, _ in self._rules(mentions, lattices, number)]
        return np.concatenate([spans, np.array(rules, np.int32)])

    def _rules(self, mentions: Sequence[Mention], lattices: Lattices, number: int) -> list[tuple[int, Parts]]:
        """The global cell of each mention, and its place."""
        placed = with_parents(mentions, self._index)
        width, first = len(self.columns), lattices.rows_in(number) * len(self.columns)
        contexts = self.contexts.of(placed, self._index)
        return [
            (first + context * width + self._index[m.label], m.parts)
            for (m, _), context in zip(placed, contexts, strict=True)
        ]

    def located(self, mentions: Sequence[Mention], shapes: Shapes, number: int) -> list[tuple[int, Parts]]:
        return super().located(mentions, shapes, number) + self._rules(mentions, lattices_of(shapes), number)

    def distribution(self, scores: Floats, global_scores: Floats, shapes: Shapes, number: int = 0) -> Nesting:
        lattices = lattices_of(shapes)
        spans = lattices.spans(number).reshape(-1, 2)
        return Nesting(self.over(lattices), scores, global_scores, self.columns, spans, number)

    def starts(self) -> list[str | None]:
        return list(self.columns)

    def global_names(self) -> list[str]:
        return [f"{label} in {context}" for context in self.contexts.names for label in self.columns]


@dataclass(frozen=True)
class Tree(SegmentModel):
    """Entity trees with mentions of up to a number of tokens.

    Parameters
    ----------
    longest
        L, the number of tokens that a mention may have. None: as many as the longest training mention.
    ancestors
        How many labels above a mention its rule sees: 1 or 2.
    """

    ancestors: int = 2

    name = "tree"
    holds = "contiguous mentions up to the longest segment that may nest, but not cross"
    penalised = True

    def check(self) -> None:
        super().check()
        if self.ancestors not in (1, 2):
            raise ParameterError(f"The 'ancestors' parameter must be 1 or 2. Got {self.ancestors!r} instead.")

    def component(self, types: Sequence[str]) -> TreeComponent:
        return TreeComponent(types)

    def components(self, gold: Mentions, lengths: Sequence[int]) -> list[Component]:
        (plain,) = super().components(gold, lengths)
        order = {label: y for y, label in enumerate(plain.columns)}
        return [TreeComponent(plain.columns, seen_pairs(gold, order) if self.ancestors == 2 else ())]

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return first_crossing(mentions)

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        return without_crossing(mentions, keep)

    def header(self, components: Sequence[Component]) -> dict[str, Any]:
        (component,) = components
        pairs = cast(TreeComponent, component).contexts.pairs
        return {**super().header(components), "ancestors": self.ancestors, "pairs": [list(pair) for pair in pairs]}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> tuple[Self, list[Component]]:
        try:
            model = cls(int(header["longest"]), int(header["ancestors"]))
            pairs = [(str(above), str(below)) for above, below in header["pairs"]]
            return model, [TreeComponent([str(name) for name in header["types"]], pairs)]
        except (KeyError, TypeError, ValueError, ParameterError) as error:
            raise ModelFileError(f"the labels of the {cls.name} model are damaged: {error}") from None
