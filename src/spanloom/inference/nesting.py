"""Sets of mentions of which no two cross, as trees.

Every set is one tree, and a mention is a segment with its label as column, so its probability is that of the segment.
What must be there, or must not, is a mask.
"""

from __future__ import annotations

import math

import numpy as np

from spanloom._native import TreeStructure
from spanloom.corpus.mention import Mention
from spanloom.inference.segmentation import Segmentation

OUT, FREE, MUST = range(3)


class Nesting(Segmentation):
    """The distribution over the trees of one sentence; parameters are those of ``Segmentation``, all columns labels."""

    outside = 0
    structure: TreeStructure

    def _given(self, mention: Mention, must: bool) -> Nesting | None:
        cell = self._cell(mention)
        if cell is None:
            return None if must else self
        mask = np.full(self._probs.shape, FREE, np.uint8) if self.mask is None else self.mask.copy()
        wanted = MUST if must else OUT
        if mask[cell] == OUT + MUST - wanted:
            return None
        mask[cell] = wanted
        given = Nesting(self.structure, self.scores, self.global_scores, self.columns, self.spans, self.number, mask)
        return given if math.isfinite(given.log_z) else None
