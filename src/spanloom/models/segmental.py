"""Segmental hypergraph: whether mentions start at a gap, and a chain of decisions about their ends; one graph per type.

    score(y) = Σ_g w[c_g] · f(g)  +  Σ_(i,j) in y  (w[mention] + [i is inside] · w[nested]) · (f(j) + h(i, j))
             + shorter · #(mentions that are not the longest from their start)
             + common end · #(starts inside whose furthest end is M)  +  crossing · #(… lies beyond M)

After Wang & Lu (2018), "Neural segmental hypergraphs for overlapping mention recognition": for every start, each gap
further on is an end or not (their I → I, I → X and I → (I, X)), so that every mention set is exactly one structure.
f are the features of a gap, h those of a whole mention: its words, its length, what stands at both of its ends.
P(mention) is a marginal of its own.

Theirs decides about each start for itself. Here a start sees M, the furthest end of all that has started before it:
c_g is X, S (one starts), E (the last one ends here, M = g), ES, C (one goes on, M > g) or CS. So neighbouring starts
compete, and a gap knows whether it is inside of a mention, as with separators. With one weight for X, E and C, one for
S, ES and CS, and none for nested, common end and crossing, the model is theirs. States are the values of M, and sums
over them run along, so that training and decoding still cost O(n L T). ``SegmentalStructure`` has every cell.

Holds every contiguous mention up to L tokens: nested, nested in one type, crossing, with common starts and ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spanloom._native import SegmentalStructure, SegmentLayout
from spanloom.base.arrays import Cells, Floats, Pointers
from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention, Parts
from spanloom.inference import Batch, SegmentSets
from spanloom.models.component import Component, Shapes
from spanloom.models.per_type import PerType
from spanloom.models.segments import UpToLongest, all_segments, lattices_of, read_segments
from spanloom.schemes.partial import Mask, allowed_spans
from spanloom.schemes.segmental import COLUMNS, GLOBALS, MENTION, NESTED, STARTS, decide
from spanloom.schemes.words import LEFT, RIGHT, article, separator_words

if TYPE_CHECKING:
    pass

WIDTH = len(COLUMNS)
PLAIN = SegmentLayout(gaps=True)
"""The rows that every sentence has, whatever the features."""


class SegmentalComponent(Component):
    """The graph of one type."""

    columns = COLUMNS

    def __init__(self, type_: str) -> None:
        self.type = type_
        self.types = frozenset({type_})
        self._structure = SegmentalStructure(all_segments([], 1, PLAIN))

    @property
    def structure(self) -> SegmentalStructure:
        return self._structure

    def structure_for(self, shapes: Shapes) -> SegmentalStructure:
        return SegmentalStructure(lattices_of(shapes))

    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        """Encode one sentence by the lattice of all segments, each with the rows that every segment has."""
        return self.encode_all([mentions], alone(n))[0]

    def encode_all(self, gold: Sequence[Sequence[Mention]], shapes: Shapes) -> list[Cells]:
        return [
            np.array([cell for cell, _ in self.located(mentions, shapes, number)], np.int32)
            for number, mentions in enumerate(gold)
        ]

    def located(self, mentions: Sequence[Mention], shapes: Shapes, number: int) -> list[tuple[int, Parts]]:
        """The cells of gaps, those of every mention, and those of relations at the gap where mentions end."""
        lattices = lattices_of(shapes)
        n = shapes.lengths[number]
        made = decide([m.parts[0] for m in mentions], n)
        cells: list[tuple[int, Parts]] = [(g * WIDTH + column, ((g, g),)) for g, column in enumerate(made.gaps)]
        for span, inside in made.mentions:
            rows = lattices.rows_of(number, *span).tolist()
            cells += [(row * WIDTH + MENTION, (span,)) for row in rows]
            cells += [(row * WIDTH + NESTED, (span,)) for row in rows if inside]
        cells.sort()
        first = lattices.rows_in(number) * WIDTH
        return [*cells, *((first + relation, ((gap, gap),)) for relation, gap in made.relations)]

    def decode(self, cells: Cells, n: int) -> list[Mention]:
        """Undo ``encode``; only ``decode_all`` knows the candidates of other cells."""
        return self.decode_all(cells, np.array([0, len(cells)], np.int64), alone(n))[0]

    def decode_all(self, cells: Cells, ptr: Pointers, shapes: Shapes) -> list[list[Mention]]:
        return read_segments(lattices_of(shapes), cells, ptr, [*COLUMNS[:MENTION], self.type], MENTION)

    def allowed(self, mentions: Sequence[Mention], known: Known, n: int) -> Mask:
        """Return what is allowed in the lattice of ``encode``."""
        return self.allowed_in(mentions, known, alone(n), 0)

    def allowed_in(self, mentions: Sequence[Mention], known: Known, shapes: Shapes, number: int) -> Mask:
        spans = [(start, end) for start, end in lattices_of(shapes).spans(number).reshape(-1, 2).tolist()]
        mask = np.ones((len(spans), WIDTH), np.uint8)
        mask[:, MENTION] = allowed_spans(spans, (self.type,), mentions, known)[:, 0]
        return mask

    def distribution(self, scores: Floats, global_scores: Floats, shapes: Shapes, number: int = 0) -> SegmentSets:
        lattices = lattices_of(shapes)
        spans = lattices.spans(number).reshape(-1, 2)
        return SegmentSets(SegmentalStructure(lattices), scores, global_scores, self.type, spans, number)

    def probabilities(self, batch: Batch, shapes: Shapes) -> list[list[float]]:
        return batch.by_segments(self.structure_for(shapes), {self.type: MENTION})

    def words(self, column: int, left: str = "", right: str = "") -> str:
        if column < NESTED:
            return separator_words(column, self.type, left or LEFT, right or RIGHT)
        what = f"{left or 'the candidate'} is {article(self.type)}"
        return what if column == MENTION else f"{what} inside of another"

    def global_names(self) -> list[str]:
        return [f"{self.type} {name}" for name in GLOBALS]

    def starts(self) -> list[str | None]:
        return [self.type if column < NESTED and column & STARTS else None for column in range(WIDTH)]


@dataclass(frozen=True)
class Segmental(UpToLongest, PerType):
    """One segmental hypergraph per type; its parameters are those of ``UpToLongest`` and ``PerType``."""

    name = "segmental"
    sites = "mentions"
    holds = "contiguous mentions up to the longest segment, whatever their overlaps"

    def component(self, type_: str) -> SegmentalComponent:
        return SegmentalComponent(type_)

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        return []


def alone(n: int) -> Shapes:
    """Return the shapes of one sentence with all segments."""
    return Shapes([n], all_segments([n], max(n, 1), PLAIN))
