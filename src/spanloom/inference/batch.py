"""The probabilities of given mentions of many sentences at once, natively and on several threads.

Only the starts of the given mentions are followed, so that tagging with probabilities costs little more than tagging.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spanloom._native import (
    ChainStructure,
    MentionReader,
    SegmentalStructure,
    SegmentStructure,
    SpanStructure,
    TreeStructure,
    chain_reader,
    segment_probabilities,
)
from spanloom.base.arrays import Floats, Ints32, Pointers
from spanloom.corpus.mention import Mention
from spanloom.inference.readings import Reading
from spanloom.inference.trellis import Trellis


class Reader(NamedTuple):
    """How mentions are read off structures natively, and the labels of its types."""

    native: MentionReader
    types: tuple[str, ...]


class ReadChain(NamedTuple):
    """A chain, its transition scores ``[from * to]``, and how its columns are read."""

    structure: ChainStructure
    transitions: Floats
    reading: Reading

    def reader(self) -> Reader:
        """Return how mentions are read off it, with their probabilities, natively."""
        return Reader(chain_reader(self.structure, self.transitions, self.reading.native), self.reading.types)

    def trellis(self, scores: Floats) -> Trellis:
        """Return the distribution of one sentence with these scores ``[site * column]``."""
        return Trellis.of(self.structure, scores, self.transitions, self.reading)


@dataclass(frozen=True, slots=True)
class Batch:
    """Mentions of many sentences, and the scores that say how probable they are.

    Parameters
    ----------
    scores
        ``[site * column]`` of all sentences, without mention penalty.
    ptr
        The sites of sentence ``s`` are rows ``ptr[s]`` to ``ptr[s + 1]`` of the scores.
    global_scores
        Of the global cells.
    mentions
        Of each sentence, those whose probabilities are wanted.
    threads
        0 for all cores.
    """

    scores: Floats
    ptr: Pointers
    global_scores: Floats
    mentions: Sequence[Sequence[Mention]]
    threads: int = 0

    def by_reader(self, reader: Reader) -> list[list[float]]:
        """Return the probability of each mention by what reads the structures."""
        numbers = {label: i for i, label in enumerate(reader.types)}
        first, starts, ends, types = mention_places(self.mentions, numbers)
        given = (self.scores, self.ptr, first, starts, ends, types, self.threads)
        return _lists(reader.native.probabilities(*given), first)

    def by_segments(
        self,
        structure: SegmentStructure | SpanStructure | SegmentalStructure | TreeStructure,
        columns: Mapping[str, int],
    ) -> list[list[float]]:
        """Return the probability of each mention as a segment with its label as column."""
        first, starts, ends, types = mention_places(self.mentions, columns)
        given = (self.scores, self.ptr, first, starts, ends, types, self.threads)
        return _lists(segment_probabilities(structure, self.global_scores, *given), first)

    def scores_of(self, sentence: int, columns: int) -> Floats:
        """Return the scores ``[site * column]`` of one sentence."""
        first, last = self.ptr[sentence : sentence + 2].tolist()
        return self.scores[first * columns : last * columns]


def mention_places(
    mentions: Sequence[Sequence[Mention]], numbers: Mapping[str, int]
) -> tuple[Pointers, Ints32, Ints32, Ints32]:
    """Where the mentions of each sentence begin; starts, ends and numbers of labels, −1 for what cannot be."""
    first = np.zeros(len(mentions) + 1, np.int64)
    np.cumsum([len(own) for own in mentions], out=first[1:])
    flat = (m for own in mentions for m in own)
    rows = [(m.start, m.end, -1 if m.discontinuous else numbers.get(m.label, -1)) for m in flat]
    starts, ends, types = np.ascontiguousarray(np.array(rows, np.int32).reshape(-1, 3).T)
    return first, starts, ends, types


def _lists(probs: Floats, first: Pointers) -> list[list[float]]:
    flat, bounds = np.minimum(probs, 1.0).tolist(), first.tolist()
    return [flat[bounds[s] : bounds[s + 1]] for s in range(len(bounds) - 1)]
