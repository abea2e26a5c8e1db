"""Sets of segments whose starts see what goes on: the distribution of ``models.segmental``.

A mention is a segment of the set, so its probability is that of the segment. Every mention set is one derivation of the
graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from spanloom._native import Graph, SegmentalStructure
from spanloom.base.arrays import Floats
from spanloom.corpus.mention import Mention, Parts
from spanloom.inference.distribution import Distribution, Marginals, in_order
from spanloom.schemes.segmental import COLUMNS, MENTION

WIDTH = len(COLUMNS)


class SegmentSets(Distribution):
    """The distribution over the sets of segments of one sentence, all of one label.

    Parameters
    ----------
    structure
        With the lattices of the sentences at hand.
    scores
        ``[row * column]``; the last rows are those of the segments themselves, by start, then end.
    global_scores
        Of the relations between mentions.
    label
        Of the mentions.
    spans
        ``[segment, 2]``: starts and ends of the candidates.
    number
        Of the sentence in the lattices.
    mask
        ``[segment, column]``: what clamping has settled; None: nothing.
    """

    def __init__(
        self,
        structure: SegmentalStructure,
        scores: Floats,
        global_scores: Floats,
        label: str,
        spans: npt.NDArray[np.integer],
        number: int,
        mask: npt.NDArray[np.uint8] | None = None,
    ) -> None:
        self.structure, self.label, self.spans, self.number, self.mask = structure, label, spans, number, mask
        self.scores = np.ascontiguousarray(scores, np.float64).ravel()
        self.global_scores = np.ascontiguousarray(global_scores, np.float64).ravel()
        self.labels = frozenset({label})
        self._rows = len(self.scores) // WIDTH
        self._first = self._rows - len(spans)  # the row of the first segment
        log_z, expected = structure.expectations(self.scores, self.global_scores, number, self._flat)
        self.log_z, self._expected = float(log_z), expected
        self._probs = np.minimum(expected[: self.scores.size].reshape(-1, WIDTH)[self._first :, MENTION], 1.0)

    @property
    def _flat(self) -> npt.NDArray[np.uint8] | None:
        return None if self.mask is None else self.mask.ravel()

    @cached_property
    def _index(self) -> dict[tuple[int, int], int]:
        return {(start, end): s for s, (start, end) in enumerate(self.spans.tolist())}

    @cached_property
    def _graph(self) -> Graph:
        return self.structure.graph(self._rows, self.number, self._flat)

    def _segment(self, mention: Mention) -> int | None:
        if mention.discontinuous or mention.label != self.label:
            return None
        return self._index.get(mention.parts[0])

    def _mention(self, segment: int, prob: float | None = None) -> Mention:
        start, end = self.spans[segment].tolist()
        return Mention(self.label, ((start, end),), prob)

    def prob(self, mention: Mention) -> float:
        segment = self._segment(mention)
        return 0.0 if segment is None else float(self._probs[segment])

    def _above(self, above: float) -> Iterator[Mention]:
        for segment in np.flatnonzero(self._probs >= above).tolist():
            yield self._mention(segment, float(self._probs[segment]))

    def marginals(self) -> Marginals:
        """Return the probability of every segment."""
        sites: list[Parts] = [((start, end),) for start, end in self.spans.tolist()]
        return Marginals((self.label,), sites, self._probs[:, None].copy())

    def _read(self, edges: npt.NDArray[np.int64]) -> list[Mention]:
        cells = self._graph.cells_of(edges)
        # A segment is known by the cell of its own row.
        own = cells[(cells >= self._first * WIDTH) & (cells < self.scores.size) & (cells % WIDTH == MENTION)]
        return in_order(self._mention(cell // WIDTH - self._first) for cell in own.tolist())

    @property
    def _all_scores(self) -> Floats:
        return np.concatenate([self.scores, self.global_scores])

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        return [(s - self.log_z, self._read(edges)) for s, edges in self._graph.k_best(self._all_scores, k)]

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        return [self._read(edges) for _, edges in self._graph.sample(self._all_scores, n, seed)]

    def entropy(self) -> float:
        # H = log Z − E[score]
        scores, used = self._all_scores, self._expected > 0
        return max(0.0, self.log_z - float(scores[used] @ self._expected[used]))

    def _given(self, mention: Mention, must: bool) -> SegmentSets | None:
        segment = self._segment(mention)
        if segment is None:
            return None if must else self
        mask = np.ones((len(self.spans), WIDTH), np.uint8) if self.mask is None else self.mask.copy()
        wanted = 2 if must else 0
        if mask[segment, MENTION] == 2 - wanted:
            return None
        mask[segment, MENTION] = wanted
        given = SegmentSets(self.structure, self.scores, self.global_scores, self.label, self.spans, self.number, mask)
        return given if math.isfinite(given.log_z) else None
