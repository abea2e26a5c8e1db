"""Segmentations: a sentence is cut into segments, each with a column.

A mention is a segment with its label as column, so its probability is that of the segment. Every mention set is one
segmentation, as what stands outside are segments of one token.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from spanloom._native import SegmentStructure, TreeStructure
from spanloom.base.arrays import Floats
from spanloom.corpus.mention import Mention
from spanloom.inference.candidates import Candidates
from spanloom.inference.distribution import Marginals, in_order


class Segmentation(Candidates):
    """The distribution over the segmentations of one sentence.

    Parameters
    ----------
    structure, spans, number, mask
        As in ``Candidates``.
    scores
        ``[row * column]``; the last rows are those of the segments themselves, by start, then end.
    global_scores
        ``[from * to]``: of the columns of neighbouring segments.
    columns
        Their names; the first ``outside`` of them are no labels.
    """

    outside: ClassVar[int] = 1
    structure: SegmentStructure | TreeStructure

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
        self.columns = tuple(columns)
        self.labels = frozenset(self.columns[self.outside :])
        self._column = {name: y for y, name in enumerate(self.columns) if y >= self.outside}
        rows = np.ascontiguousarray(scores, np.float64).reshape(-1, len(self.columns))
        super().__init__(structure, rows, global_scores, spans, number, mask)

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
        return in_order(
            Mention(self.columns[y], (tuple(self.spans[segment].tolist()),))
            for segment, y in self._own_cells(edges)
            if y >= self.outside
        )

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
