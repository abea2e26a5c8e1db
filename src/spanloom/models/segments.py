"""What all models of segments share: candidates up to a length, their rows and types, the way through a file.

A candidate is a segment of a sentence; its features are those of the rows that it reads (``Lattices``). A model says
which segments are candidates (``lattices``), its component which of them go together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spanloom._native import (
    Decoder,
    Lattices,
    SegmentLayout,
    SegmentStructure,
    SpanStructure,
    SparseRows,
    TreeStructure,
    find_segments,
)
from spanloom.base.arrays import Cells, Pointers
from spanloom.base.errors import ModelFileError
from spanloom.base.parameters import check_count
from spanloom.corpus.document import Sentence
from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention, Parts
from spanloom.inference import Batch
from spanloom.models.base import Mentions
from spanloom.models.believing import gathered
from spanloom.models.component import Component, Shapes
from spanloom.models.structured import StructuredModel
from spanloom.schemes.partial import Mask, allowed_segments, allowed_spans
from spanloom.schemes.words import article

if TYPE_CHECKING:
    from typing_extensions import Self

PLAIN = SegmentLayout()
"""The rows that every segment has, whatever the features."""

LatticeStructure = SegmentStructure | SpanStructure | TreeStructure


class LatticeComponent(Component):
    """Candidates with a column each.

    ``kind`` is the native structure, ``outside`` the columns that come before those of the types.
    """

    kind: ClassVar[type[SegmentStructure] | type[SpanStructure] | type[TreeStructure]]
    outside: ClassVar[tuple[str, ...]] = ()

    def __init__(self, types: Sequence[str]) -> None:
        self.columns = (*self.outside, *types)
        self.types = frozenset(types)
        self._index = {name: column for column, name in enumerate(self.columns)}
        self._structure = self.over(all_segments([], 1, PLAIN))

    @abstractmethod
    def over(self, lattices: Lattices) -> LatticeStructure:
        """Return the structure of sentences with these candidates."""

    @property
    def structure(self) -> LatticeStructure:
        return self._structure

    def structure_for(self, shapes: Shapes) -> LatticeStructure:
        return self.over(lattices_of(shapes))

    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        """Encode one sentence by the lattice of all segments, each with the rows that every segment has."""
        return self._encode(mentions, all_segments([n], max(n, 1), PLAIN), 0)

    def encode_all(self, gold: Sequence[Sequence[Mention]], shapes: Shapes) -> list[Cells]:
        lattices = lattices_of(shapes)
        return [self._encode(mentions, lattices, number) for number, mentions in enumerate(gold)]

    def allowed(self, mentions: Sequence[Mention], known: Known, n: int) -> Mask:
        """Return what is allowed in the lattice of ``encode``."""
        return self.allowed_in(mentions, known, Shapes([n], all_segments([n], max(n, 1), PLAIN)), 0)

    def allowed_in(self, mentions: Sequence[Mention], known: Known, shapes: Shapes, number: int) -> Mask:
        flat = lattices_of(shapes).spans(number).tolist()
        candidates = list(zip(flat[::2], flat[1::2], strict=True))
        if self.kind is SegmentStructure:
            return allowed_segments(candidates, self.columns, len(self.outside), mentions, known)
        return allowed_spans(candidates, self.columns, mentions, known)

    def decode(self, cells: Cells, n: int) -> list[Mention]:
        """Undo ``encode``; only ``decode_all`` knows the candidates of other cells."""
        shapes = Shapes([n], all_segments([n], max(n, 1), PLAIN))
        return self.decode_all(cells, np.array([0, len(cells)], np.int64), shapes)[0]

    def decode_all(self, cells: Cells, ptr: Pointers, shapes: Shapes) -> list[list[Mention]]:
        return read_segments(lattices_of(shapes), cells, ptr, self.columns, len(self.outside))

    def probabilities(self, batch: Batch, shapes: Shapes) -> list[list[float]]:
        columns = {name: y for name, y in self._index.items() if y >= len(self.outside)}
        return batch.by_segments(self.structure_for(shapes), columns)

    def believed(
        self, decoder: Decoder, rows: SparseRows, shapes: Shapes, threads: int, above: float = 0
    ) -> list[list[Mention]]:
        names = sorted(self.types)
        labels = np.array([names.index(c) if c in self.types else -1 for c in self.columns], np.int32)
        structure = self.structure_for(shapes)
        found = find_segments(decoder, structure, labels, rows, threads, probabilities=True, above=above)
        return gathered(names, *found)

    def located(self, mentions: Sequence[Mention], shapes: Shapes, number: int) -> list[tuple[int, Parts]]:
        """The cells of a candidate stand at its span; global cells join neighbouring candidates."""
        lattices, width, path = lattices_of(shapes), len(self.columns), bool(self.outside)
        segments = [(m.start, m.end, self._index[m.label]) for m in mentions]
        if path:
            covered = {t for start, end, _ in segments for t in range(start, end)}
            segments += [(t, t + 1, 0) for t in range(shapes.lengths[number]) if t not in covered]
        segments.sort()
        cells: list[tuple[int, Parts]] = []
        for start, end, column in segments:
            rows = lattices.rows_of(number, start, end).tolist()
            cells += [(row * width + column, ((start, end),)) for row in rows]
        if path:
            first = lattices.rows_in(number)
            for (_, end, before), (_, _, after) in pairwise(segments):
                cells.append(((first + before) * width + after, ((end, end),)))
        return cells

    def words(self, column: int, left: str = "", right: str = "") -> str:
        if column < len(self.outside):
            return f"{left or 'the token'} is in no mention"
        return f"{left or 'the candidate'} is {article(self.columns[column])}"

    def _encode(self, mentions: Sequence[Mention], lattices: Lattices, number: int) -> Cells:
        ordered = sorted(mentions, key=lambda m: m.start)
        bounds = np.array([(m.start, m.end, self._index[m.label]) for m in ordered], np.int32).reshape(-1, 3)
        starts, ends, columns = np.ascontiguousarray(bounds.T)
        encode = lattices.encode if self.kind is SegmentStructure else lattices.encode_set
        return encode(number, starts, ends, columns, len(self.columns))


@dataclass(frozen=True)
class UpToLongest(StructuredModel):
    """A model whose candidates are segments of up to a number of tokens.

    Parameters
    ----------
    longest
        L, the number of tokens that a mention may have. None: as many as the longest training mention.
    """

    longest: int | None = None

    def check(self) -> None:
        super().check()
        if self.longest is not None:
            check_count("longest", self.longest)

    def lattices(self, sentences: Sequence[Sentence], layout: SegmentLayout) -> Lattices:
        """Return the candidates of sentences: all segments that are not too long, unless a model has fewer."""
        return all_segments([len(s) for s in sentences], self.longest or 1, layout)

    def shapes(self, sentences: Sequence[Sentence], layout: SegmentLayout) -> Shapes:
        return Shapes([len(s) for s in sentences], self.lattices(sentences, layout))

    def resolve(self, gold: Mentions, lengths: Sequence[int]) -> Self:
        return self if self.longest is not None else replace(self, longest=longest_of(gold))

    def unreachable(self, mentions: Sequence[Mention], sentence: Sentence, number: int) -> list[tuple[int, str]]:
        return too_long(mentions, self.longest)

    def facts(self) -> dict[str, Any]:
        return {"longest": self.longest}


@dataclass(frozen=True)
class SegmentModel(UpToLongest):
    """A model with one component, whose columns are labels of segments; its parameters are those of ``UpToLongest``."""

    sites = "segments"
    penalised = False  # no column starts a mention

    @abstractmethod
    def component(self, types: Sequence[str]) -> LatticeComponent:
        """Make the component for these types."""

    def components(self, gold: Mentions, lengths: Sequence[int]) -> list[Component]:
        counts = Counter(m.label for mentions in gold for m in mentions)
        return [self.component(sorted(counts, key=lambda label: (-counts[label], label)))]

    def header(self, components: Sequence[Component]) -> dict[str, Any]:
        (component,) = components
        # A column for what is outside comes first, if there is one.
        return {"longest": self.longest, "types": list(component.columns[-len(component.types) :])}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> tuple[Self, list[Component]]:
        try:
            model = cls(int(header["longest"]))
            return model, [model.component([str(name) for name in header["types"]])]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the types of the {cls.name} model are damaged: {error}") from None


def all_segments(lengths: Sequence[int], longest: int, layout: SegmentLayout) -> Lattices:
    """Return the lattices of sentences with all segments of up to ``longest`` tokens."""
    return Lattices.up_to(np.asarray(lengths, np.int64), longest, layout)


def read_segments(
    lattices: Lattices, cells: Cells, ptr: Pointers, columns: Sequence[str], first: int
) -> list[list[Mention]]:
    """Return the segments of each sentence that have a column from ``first`` on, as mentions of its name."""
    bounds, places = lattices.decode_sets(cells, ptr, len(columns), first)
    flat = iter(places.tolist())
    made = [Mention(columns[column], ((start, end),)) for start, end, column in zip(flat, flat, flat, strict=True)]
    return [made[a:b] for a, b in pairwise(bounds.tolist())]


def longest_of(gold: Mentions) -> int:
    """Return how many tokens the longest mention has."""
    return max((len(m) for mentions in gold for m in mentions), default=1)


def too_long(mentions: Sequence[Mention], longest: int | None) -> list[tuple[int, str]]:
    """Return the numbers of contiguous mentions with more than ``longest`` tokens, and why they are too long."""
    return [
        (i, f"has {len(m)} tokens, more than longest={longest}")
        for i, m in enumerate(mentions)
        if longest is not None and not m.discontinuous and len(m) > longest
    ]


def lattices_of(shapes: Shapes) -> Lattices:
    """Return the lattices of shapes that a segment model made."""
    if shapes.lattices is None:
        raise ValueError("segments need lattices; get the shapes from Model.shapes")
    return shapes.lattices
