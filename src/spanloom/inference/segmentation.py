"""Segmentations: a sentence is cut into segments, each with a column.

A mention is a segment with its label as column, so its probability is that of the segment. Every mention set is one
segmentation, as what stands outside are segments of one token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from spanloom._native import Graph, SegmentStructure
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import Distribution, Floats, Marginals, in_order


class Segmentation(Distribution):
    """The distribution over the segmentations of one sentence.

    Parameters
    ----------
    structure
        With the lattices of the sentences at hand.
    scores
        ``[row * column]``; the last rows are those of the segments themselves, by start, then end.
    global_scores
        ``[from * to]``: of the columns of neighbouring segments.
    columns
        Their names; the first is the outside.
    spans
        ``[segment, 2]``: starts and ends of the candidates.
    number
        Of the sentence in the lattices.
    """

    def __init__(
        self,
        structure: SegmentStructure,
        scores: Floats,
        global_scores: Floats,
        columns: Sequence[str],
        spans: npt.NDArray[np.integer],
        number: int,
    ) -> None:
        self.structure, self.columns, self.spans, self.number = structure, tuple(columns), spans, number
        self.scores = np.ascontiguousarray(scores, np.float64).reshape(-1, len(self.columns))
        self.global_scores = np.ascontiguousarray(global_scores, np.float64).ravel()
        self.labels = frozenset(self.columns[1:])
        self._first = len(self.scores) - len(spans)  # the row of the first segment
        self._column = {name: y for y, name in enumerate(self.columns) if y}
        log_z, expected = structure.expectations(self.scores.ravel(), self.global_scores, number)
        self.log_z = float(log_z)
        self._expected = expected
        self._probs = expected[: self.scores.size].reshape(self.scores.shape)[self._first :]  # [segment, column]

    @cached_property
    def _index(self) -> dict[tuple[int, int], int]:
        return {(start, end): s for s, (start, end) in enumerate(self.spans.tolist())}

    @cached_property
    def _graph(self) -> Graph:
        return self.structure.graph(len(self.scores), self.number)

    def _cell(self, mention: Mention) -> tuple[int, int] | None:
        if mention.discontinuous or mention.label not in self._column:
            return None
        segment = self._index.get(mention.parts[0])
        return None if segment is None else (segment, self._column[mention.label])

    def prob(self, mention: Mention) -> float:
        cell = self._cell(mention)
        return 0.0 if cell is None else min(1.0, float(self._probs[cell]))

    def _above(self, above: float) -> Iterator[Mention]:
        for segment, y in np.argwhere(self._probs[:, 1:] >= above).tolist():
            start, end = self.spans[segment].tolist()
            yield Mention(self.columns[y + 1], ((start, end),), min(1.0, float(self._probs[segment, y + 1])))

    def marginals(self) -> Marginals:
        """Return the probability of every segment with every column."""
        return Marginals(self.columns, [((start, end),) for start, end in self.spans.tolist()], self._probs.copy())

    def _read(self, edges: npt.NDArray[np.int64]) -> list[Mention]:
        cells = np.sort(self._graph.cells_of(edges))
        width = len(self.columns)
        # A segment is known by the cell of its own row.
        own = cells[(cells >= self._first * width) & (cells < self.scores.size)] - self._first * width
        return in_order(
            Mention(self.columns[cell % width], (tuple(self.spans[cell // width].tolist()),))
            for cell in own.tolist()
            if cell % width
        )

    @property
    def _all_scores(self) -> Floats:
        return np.concatenate([self.scores.ravel(), self.global_scores])

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        return [(s - self.log_z, self._read(edges)) for s, edges in self._graph.k_best(self._all_scores, k)]

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        return [self._read(edges) for _, edges in self._graph.sample(self._all_scores, n, seed)]

    def entropy(self) -> float:
        # H = log Z − E[score]
        scores, used = self._all_scores, self._expected > 0
        return max(0.0, self.log_z - float(scores[used] @ self._expected[used]))

    def _given(self, mention: Mention, must: bool) -> Segmentation | None:
        cell = self._cell(mention)
        if cell is None:
            return None if must else self
        scores = self.scores.copy()
        segments = scores[self._first :]
        if must:
            kept = segments[cell]
            start, end = mention.parts[0]
            segments[(self.spans[:, 0] < end) & (self.spans[:, 1] > start)] = -np.inf
            segments[cell] = kept
        else:
            segments[cell] = -np.inf
        given = Segmentation(self.structure, scores, self.global_scores, self.columns, self.spans, self.number)
        return given if math.isfinite(given.log_z) else None
