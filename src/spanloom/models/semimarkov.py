"""Semi-Markov conditional random field (Sarawagi & Cohen 2004): a sentence is cut into segments, each with a type or O.

    score(segments) = Σ_(i,j,y) w[y] · f(i, j) + Σ transition[y', y]

Sites are segments of up to L tokens; what stands outside of mentions are segments of one token with the column ``O``.
Features may look at a whole segment, which a chain cannot. Holds contiguous mentions that do not overlap, up to L long.

Features of a segment that it shares with others (all that begin at i, all that end at j, all that are longer than k)
are scored once, and transitions see no lengths, so that type and length are chosen apart, as in the weak semi-Markov
model of Muis & Lu (2016): training and decoding cost O(n T² + n L T), not O(n L T²).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spanloom._native import Lattices, SegmentStructure
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.errors import ModelFileError
from spanloom.models.base import Cells, Component, Model, Shapes
from spanloom.parameters import check_count
from spanloom.schemes import first_misfit

OUTSIDE = "O"


class SegmentComponent(Component):
    """Segmentations with the types of all mentions."""

    def __init__(self, types: Sequence[str]) -> None:
        self.columns = (OUTSIDE, *types)
        self.types = frozenset(types)
        self._index = {name: column for column, name in enumerate(self.columns)}
        self._structure = SegmentStructure(len(self.columns), all_segments([], 1, (1, 1, False)))

    @property
    def structure(self) -> SegmentStructure:
        return self._structure

    def structure_for(self, shapes: Shapes) -> SegmentStructure:
        return SegmentStructure(len(self.columns), lattices_of(shapes))

    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        """Encode one sentence by the lattice of all segments, each with the rows that every segment has."""
        return self._encode(mentions, all_segments([n], max(n, 1), (1, 1, False)), 0)

    def encode_all(self, gold: Sequence[Sequence[Mention]], shapes: Shapes) -> list[Cells]:
        lattices = lattices_of(shapes)
        return [self._encode(mentions, lattices, number) for number, mentions in enumerate(gold)]

    def decode(self, cells: Cells, n: int) -> list[Mention]:
        # The first n rows are those of the segments' first tokens, the next n those of their last ones; both ascend.
        rows, columns = np.divmod(cells[: np.searchsorted(cells, 2 * n * len(self.columns))], len(self.columns))
        half = len(rows) // 2
        return [
            Mention(self.columns[column], ((start, last - n + 1),))
            for start, last, column in zip(
                rows[:half].tolist(), rows[half:].tolist(), columns[:half].tolist(), strict=True
            )
            if column
        ]

    def global_names(self) -> list[str]:
        return [f"{a} → {b}" for a in self.columns for b in self.columns]

    def _encode(self, mentions: Sequence[Mention], lattices: Lattices, number: int) -> Cells:
        ordered = sorted(mentions, key=lambda m: m.start)
        bounds = np.array([(m.start, m.end, self._index[m.label]) for m in ordered], np.int32).reshape(-1, 3)
        starts, ends, columns = np.ascontiguousarray(bounds.T)
        return lattices.encode(number, starts, ends, columns, len(self.columns))


class SemiMarkov(Model):
    """All segments of up to a number of tokens.

    Parameters
    ----------
    longest
        L, the number of tokens that a mention may have. None: as many as the longest training mention.
    """

    name = "semimarkov"
    sites = "segments"
    holds = "contiguous mentions that do not overlap, up to the longest segment"

    def __init__(self, longest: int | None = None) -> None:
        if longest is not None:
            check_count("longest", longest)
        self.longest = longest

    def component(self, types: Sequence[str]) -> Component:
        """Make the component for these types."""
        return SegmentComponent(types)

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> None:
        counts: dict[str, int] = {}
        longest = 1
        for mentions, _ in sentences:
            for mention in mentions:
                counts[mention.label] = counts.get(mention.label, 0) + 1
                longest = max(longest, len(mention))
        if self.longest is None:
            self.longest = longest
        self.components = [self.component(sorted(counts, key=lambda label: (-counts[label], label)))]

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return first_misfit(mentions)

    def unreachable(self, mentions: Sequence[Mention], sentence: Sentence, number: int) -> list[tuple[int, str]]:
        limit = self.longest
        if limit is None:
            return []
        return [
            (i, f"has {len(m)} tokens, more than longest={limit}")
            for i, m in enumerate(mentions)
            if not m.discontinuous and len(m) > limit
        ]

    def shapes(self, sentences: Sequence[Sentence], layout: tuple[int, int, bool]) -> Shapes:
        lengths = [len(s) for s in sentences]
        return Shapes(lengths, all_segments(lengths, self.longest or 1, layout))

    def header(self) -> dict[str, Any]:
        (component,) = self.components
        # A column for what is outside comes first, if there is one.
        return {"longest": self.longest, "types": list(component.columns[-len(component.types) :])}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> SemiMarkov:
        try:
            model = cls(int(header["longest"]))
            model.components = [model.component([str(name) for name in header["types"]])]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the types of the {cls.name} model are damaged: {error}") from None
        return model


def all_segments(lengths: Sequence[int], longest: int, layout: tuple[int, int, bool]) -> Lattices:
    """Return the lattices of sentences with all segments of up to ``longest`` tokens."""
    return Lattices.up_to(np.asarray(lengths, np.int64), longest, layout)


def lattices_of(shapes: Shapes) -> Lattices:
    """Return the lattices of shapes that a segment model made."""
    if shapes.lattices is None:
        raise ValueError("segments need lattices; get the shapes from Model.shapes")
    return shapes.lattices
