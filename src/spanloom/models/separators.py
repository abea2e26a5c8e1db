"""What STATE and EDGE share: one separator at every gap, one component per type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from spanloom._native import ChainStructure
from spanloom.base.arrays import Cells, Floats, Pointers
from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention, Parts
from spanloom.inference import ReadChain, Trellis, separator_reading
from spanloom.models.component import Component, Shapes
from spanloom.schemes.partial import Mask, allowed_separators
from spanloom.schemes.separators import SEPARATORS, START, encode_separators, inside_left, inside_right, read_separators
from spanloom.schemes.words import LEFT, RIGHT, separator_words


class SeparatorComponent(Component):
    """Sites are gaps, columns the eight separators; exactly one of them is used at each gap."""

    columns = SEPARATORS

    def __init__(self, type_: str) -> None:
        self.type = type_
        self.types = frozenset({type_})
        self._reading = separator_reading(type_)
        self._chain = separator_chain()

    def separators(self, mentions: Sequence[Mention], n: int) -> npt.NDArray[np.int32]:
        """Return the separator of each gap."""
        return encode_separators([m.parts[0] for m in mentions], n)

    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        return np.arange(n + 1, dtype=np.int32) * np.int32(8) + self.separators(mentions, n)

    def allowed(self, mentions: Sequence[Mention], known: Known, n: int) -> Mask:
        return allowed_separators([m.parts[0] for m in mentions], known, self.type, n)

    def decode(self, cells: Cells, n: int) -> list[Mention]:
        return self.decode_all(cells, np.array([0, n + 1], np.int64), Shapes([n]))[0]

    def decode_all(self, cells: Cells, ptr: Pointers, shapes: Shapes) -> list[list[Mention]]:
        found: list[list[Mention]] = [[] for _ in shapes.lengths]
        for number, start, end in read_separators(cells & 7, ptr[:-1]):
            found[number].append(Mention(self.type, ((start, end),)))
        return found

    def chain(self, global_scores: Floats) -> ReadChain:
        """EDGE is the chain of STATE without transition scores."""
        transitions = global_scores if len(global_scores) else np.zeros(len(SEPARATORS) ** 2)
        return ReadChain(self._chain, transitions, self._reading)

    def distribution(self, scores: Floats, global_scores: Floats, shapes: Shapes, number: int = 0) -> Trellis:
        return self.chain(global_scores).trellis(scores)

    def located(self, mentions: Sequence[Mention], shapes: Shapes, number: int) -> list[tuple[int, Parts]]:
        """Sites are gaps; the k-th global cell joins the gaps around token k."""
        size = 8 * (shapes.lengths[number] + 1)
        cells = self.encode(mentions, shapes.lengths[number]).tolist()
        gaps = [(c, ((c // 8, c // 8),)) for c in cells if c < size]
        return [*gaps, *((c, ((t, t + 1),)) for t, c in enumerate(c for c in cells if c >= size))]

    def words(self, column: int, left: str = "", right: str = "") -> str:
        return separator_words(column, self.type, left or LEFT, right or RIGHT)

    def starts(self) -> list[str | None]:
        return [self.type if separator & START else None for separator in range(8)]


@cache
def separator_chain() -> ChainStructure:
    """Return the chain in which neighbouring separators agree on whether the token between them is in a mention."""
    legal = np.array([[inside_right(a) == inside_left(b) for b in range(8)] for a in range(8)], np.uint8)
    start = np.array([not inside_left(a) for a in range(8)], np.uint8)
    end = np.array([not inside_right(a) for a in range(8)], np.uint8)
    return ChainStructure(8, legal.ravel(), start, end)
