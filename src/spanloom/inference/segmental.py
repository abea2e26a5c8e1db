"""Sets of segments whose starts see what goes on: the distribution of ``models.segmental``.

A mention is a segment of the set, so its probability is that of the segment. Every mention set is one derivation of the
graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from spanloom._native import SegmentalStructure
from spanloom.base.arrays import Floats
from spanloom.corpus.mention import Mention, Parts
from spanloom.inference.candidates import Candidates
from spanloom.inference.distribution import Marginals, in_order
from spanloom.schemes.segmental import COLUMNS, MENTION

WIDTH = len(COLUMNS)


class SegmentSets(Candidates):
    """The distribution over the sets of segments of one sentence, all of one label.

    Parameters
    ----------
    structure, spans, number, mask
        As in ``Candidates``; a mask says what clamping has settled.
    scores
        ``[row * column]``; the last rows are those of the segments themselves, by start, then end.
    global_scores
        Of the relations between mentions.
    label
        Of the mentions.
    """

    structure: SegmentalStructure

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
        self.label = label
        self.labels = frozenset({label})
        rows = np.ascontiguousarray(scores, np.float64).reshape(-1, WIDTH)
        super().__init__(structure, rows, global_scores, spans, number, mask)
        self._of_mentions = np.minimum(self._probs[:, MENTION], 1.0)

    def _segment(self, mention: Mention) -> int | None:
        if mention.discontinuous or mention.label != self.label:
            return None
        return self._index.get(mention.parts[0])

    def _mention(self, segment: int, prob: float | None = None) -> Mention:
        start, end = self.spans[segment].tolist()
        return Mention(self.label, ((start, end),), prob)

    def prob(self, mention: Mention) -> float:
        segment = self._segment(mention)
        return 0.0 if segment is None else float(self._of_mentions[segment])

    def _above(self, above: float) -> Iterator[Mention]:
        for segment in np.flatnonzero(self._of_mentions >= above).tolist():
            yield self._mention(segment, float(self._of_mentions[segment]))

    def marginals(self) -> Marginals:
        """Return the probability of every segment."""
        sites: list[Parts] = [((start, end),) for start, end in self.spans.tolist()]
        return Marginals((self.label,), sites, self._of_mentions[:, None].copy())

    def _read(self, edges: npt.NDArray[np.int64]) -> list[Mention]:
        return in_order(self._mention(segment) for segment, column in self._own_cells(edges) if column == MENTION)

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
