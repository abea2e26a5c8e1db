"""Segmentations: a sentence is cut into segments, each with a column.

A mention is a segment with its label as column, so its probability is that of the segment. Every mention set is one
segmentation, as what stands outside are segments of one token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from spanloom._native import Graph, SegmentStructure, TreeStructure
from spanloom.base.arrays import Floats
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import Distribution, Marginals, in_order


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
        Their names; the first ``outside`` of them are no labels.
    spans
        ``[segment, 2]``: starts and ends of the candidates.
    number
        Of the sentence in the lattices.
    mask
        ``[segment, column]``: what is allowed; None: everything.
    """

    outside: ClassVar[int] = 1

    def __init__(
        self,
        structure: SegmentStructure | TreeStructure,
        scores: Floats,
        global_scores: Floats,
        columns: Sequence[str],
        spans: npt.NDArray[np.integer],
        number: int,
        mask: npt.NDArray[np.uint8] | None = None,
    ) -> None:
        self.structure, self.columns, self.spans, self.number = structure, tuple(columns), spans, number
        self.mask = mask
        self.scores = np.ascontiguousarray(scores, np.float64).reshape(-1, len(self.columns))
        self.global_scores = np.ascontiguousarray(global_scores, np.float64).ravel()
        self.labels = frozenset(self.columns[self.outside :])
        self._first = len(self.scores) - len(spans)  # the row of the first segment
        self._column = {name: y for y, name in enumerate(self.columns) if y >= self.outside}
        log_z, expected = structure.expectations(self.scores.ravel(), self.global_scores, number, self._flat_mask)
        self.log_z = float(log_z)
        self._expected = expected
        self._probs = expected[: self.scores.size].reshape(self.scores.shape)[self._first :]  # [segment, column]

    @property
    def _flat_mask(self) -> npt.NDArray[np.uint8] | None:
        return None if self.mask is None else self.mask.ravel()

    @cached_property
    def _index(self) -> dict[tuple[int, int], int]:
        return {(start, end): s for s, (start, end) in enumerate(self.spans.tolist())}

    @cached_property
    def _graph(self) -> Graph:
        return self.structure.graph(len(self.scores), self.number, self._flat_mask)

    def _cell(self, mention: Mention) -> tuple[int, int] | None:
        if mention.discontinuous or mention.label not in self._column:
            return None
        segment = self._index.get(mention.parts[0])
        return None if segment is None else (segment, self._column[mention.label])

    def prob(self, mention: Mention) -> float:
        cell = self._cell(mention)
        return 0.0 if cell is None else min(1.0, float(self._probs[cell]))

    def _above(self, above: float) -> Iterator[Mention]:
        for segment, y in np.argwhere(self._probs >= above).tolist():
            if y >= self.outside:
                start, end = self.spans[segment].tolist()
                yield Mention(self.columns[y], ((start, end),), min(1.0, float(self._probs[segment, y])))

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
            if cell % width >= self.outside
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
