"""The mention hypergraph (Lu & Roth 2015), one hypergraph per type.

    score(y) = Σ_e w[kind of e] · f(token of e)   over the hyperedges e of y

Sites are tokens, columns the five choices at a token (``schemes.hypergraph``). Holds what EDGE holds. Its Z also sums
"spurious structures", in which a token's choice differs between the two ways to reach it (Muis & Lu 2017, theorem 3.1),
so that it is larger than the sum over mention sets: probabilities from it are not those of mention sets. O(n T).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanloom._native import HypergraphStructure, hypergraph_reader
from spanloom.base.arrays import Cells, Floats, Pointers
from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention
from spanloom.inference import Reader, Trellis, unfolded_trellis
from spanloom.models.component import Component, Shapes
from spanloom.models.per_type import PerType
from spanloom.schemes.hypergraph import BEGIN, EDGES, decode_hypergraph, encode_hypergraph
from spanloom.schemes.partial import Mask, allowed_edges, allowed_separators
from spanloom.schemes.separators import encode_separators, read_separators
from spanloom.schemes.words import TOKEN, hypergraph_words


class HypergraphComponent(Component):
    """The hypergraph of one type."""

    columns = EDGES

    def __init__(self, type_: str) -> None:
        self.type = type_
        self.types = frozenset({type_})
        self._structure = HypergraphStructure()

    @property
    def structure(self) -> HypergraphStructure:
        return self._structure

    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        pairs = encode_hypergraph(encode_separators([m.parts[0] for m in mentions], n))
        return np.array([k * len(EDGES) + edge for k, edge in pairs], np.int32)

    def allowed(self, mentions: Sequence[Mention], known: Known, n: int) -> Mask:
        return allowed_edges(allowed_separators([m.parts[0] for m in mentions], known, self.type, n))

    def decode(self, cells: Cells, n: int) -> list[Mention]:
        return self.decode_all(cells, np.array([0, len(cells)], np.int64), Shapes([n]))[0]

    def decode_all(self, cells: Cells, ptr: Pointers, shapes: Shapes) -> list[list[Mention]]:
        lengths = shapes.lengths
        # The gaps of all sentences one after the other: sentence s begins at gap first[s].
        first = np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64) + 1)])
        sentence = np.repeat(np.arange(len(lengths)), np.diff(ptr))
        tokens = cells // len(EDGES) + first[sentence]
        gaps = decode_hypergraph(tokens, cells % len(EDGES), int(first[-1]))
        found: list[list[Mention]] = [[] for _ in lengths]
        for number, start, end in read_separators(gaps[:-1], first[:-1]):
            found[number].append(Mention(self.type, ((start, end),)))
        return found

    def distribution(self, scores: Floats, global_scores: Floats, shapes: Shapes, number: int = 0) -> Trellis:
        """Return the distribution over mention sets, without the spurious structures; see ``inference.unfolded``."""
        return unfolded_trellis(scores, self.type)

    def reader(self, global_scores: Floats) -> Reader:
        return Reader(hypergraph_reader(), (self.type,))

    def words(self, column: int, left: str = "", right: str = "") -> str:
        return hypergraph_words(column, self.type, left or TOKEN)

    def starts(self) -> list[str | None]:
        return [self.type if edge == BEGIN else None for edge in range(len(EDGES))]


@dataclass(frozen=True)
class Hypergraph(PerType):
    """One hypergraph per type."""

    name = "hypergraph"
    sites = "tokens"
    holds = "contiguous mentions that may nest; those of one type that cross are read as nested"

    def component(self, type_: str) -> HypergraphComponent:
        return HypergraphComponent(type_)
