"""What distributions over the candidates of a lattice share: which candidate is which, k best, samples, entropy."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np
import numpy.typing as npt

from spanloom._native import Graph, SegmentalStructure, SegmentStructure, TreeStructure
from spanloom.base.arrays import Floats
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import Distribution


class Candidates(Distribution):
    """A distribution over structures made of candidates, each with a row of its own.

    Parameters
    ----------
    structure
        With the lattices of the sentences at hand.
    scores
        ``[row, column]``; the last rows are those of the segments themselves, by start, then end.
    global_scores
        Of what joins segments.
    spans
        ``[segment, 2]``: starts and ends of the candidates.
    number
        Of the sentence in the lattices.
    mask
        ``[segment, column]``: what is allowed; None: everything.
    """

    def __init__(
        self,
        structure: SegmentStructure | TreeStructure | SegmentalStructure,
        scores: Floats,
        global_scores: Floats,
        spans: npt.NDArray[np.integer],
        number: int,
        mask: npt.NDArray[np.uint8] | None,
    ) -> None:
        self.structure, self.spans, self.number, self.mask = structure, spans, number, mask
        self.scores = scores
        self.global_scores = np.ascontiguousarray(global_scores, np.float64).ravel()
        self._first = len(scores) - len(spans)  # the row of the first segment
        log_z, self._expected = structure.expectations(scores.ravel(), self.global_scores, number, self._flat_mask)
        self.log_z = float(log_z)
        self._probs = self._expected[: scores.size].reshape(scores.shape)[self._first :]  # [segment, column]

    @property
    def _flat_mask(self) -> npt.NDArray[np.uint8] | None:
        return None if self.mask is None else self.mask.ravel()

    @cached_property
    def _index(self) -> dict[tuple[int, int], int]:
        return {(start, end): s for s, (start, end) in enumerate(self.spans.tolist())}

    @cached_property
    def _graph(self) -> Graph:
        return self.structure.graph(len(self.scores), self.number, self._flat_mask)

    @property
    def _all_scores(self) -> Floats:
        return np.concatenate([self.scores.ravel(), self.global_scores])

    def _own_cells(self, edges: npt.NDArray[np.int64]) -> list[list[int]]:
        """The segments of a derivation, each known by the cell of its own row: ``[segment, column]``, in order."""
        cells = np.sort(self._graph.cells_of(edges))
        width = self.scores.shape[1]
        own = cells[(cells >= self._first * width) & (cells < self.scores.size)] - self._first * width
        found: list[list[int]] = np.stack(np.divmod(own, width), axis=1).tolist()
        return found

    @abstractmethod
    def _read(self, edges: npt.NDArray[np.int64]) -> list[Mention]:
        """Return the mentions of a derivation."""

    def _best(self, k: int) -> list[tuple[float, list[Mention]]]:
        return [(s - self.log_z, self._read(edges)) for s, edges in self._graph.k_best(self._all_scores, k)]

    def sample(self, n: int, seed: int) -> list[list[Mention]]:
        return [self._read(edges) for _, edges in self._graph.sample(self._all_scores, n, seed)]

    def entropy(self) -> float:
        # H = log Z − E[score]
        scores, used = self._all_scores, self._expected > 0
        return max(0.0, self.log_z - float(scores[used] @ self._expected[used]))
