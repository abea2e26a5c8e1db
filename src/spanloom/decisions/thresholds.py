"""Choosing the score above which a candidate counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spanloom.corpus.mention import Mention

Scored = Sequence[Sequence[tuple[float, Mention]]]


@dataclass(frozen=True, slots=True)
class Cuts:
    """Every threshold that makes a difference, descending, and what is found there.

    Attributes
    ----------
    values
        The thresholds. Each lies halfway between two different scores: candidates of equal score go together.
    least
        The lowest score above each.
    found, hits
        How many candidates are above each, and how many of them are right.
    gold
        How many there are to be found.
    """

    values: npt.NDArray[np.float64]
    least: npt.NDArray[np.float64]
    found: npt.NDArray[np.int64]
    hits: npt.NDArray[np.int64]
    gold: int

    @classmethod
    def of(cls, scored: Scored, gold: Sequence[Sequence[Mention]], below: float | None = None) -> Cuts:
        """Look through the candidates of all sentences; the last threshold is halfway to ``below``, or 1 lower."""
        golds = [set(mentions) for mentions in gold]
        value = np.array([score for some in scored for score, _ in some], np.float64)
        right = np.array([m in wanted for some, wanted in zip(scored, golds, strict=True) for _, m in some], np.bool_)
        order = np.argsort(-value, kind="stable")
        value, hits = value[order], np.cumsum(right[order], dtype=np.int64)
        last = np.flatnonzero(np.append(value[1:] < value[:-1], True)) if len(value) else np.zeros(0, np.int64)
        lowest = (value[-1] - 2.0 if below is None else below) if len(value) else 0.0
        halfway = (value + np.append(value[1:], lowest)) / 2 if len(value) else value
        return cls(halfway[last], value[last], last + 1, hits[last], sum(map(len, golds)))

    def at(self, threshold: float) -> tuple[int, int]:
        """Return how many are found and right at any threshold."""
        i = int(np.searchsorted(-self.least, -threshold, side="right")) - 1
        return (int(self.found[i]), int(self.hits[i])) if i >= 0 else (0, 0)


def threshold_curve(
    scored: Scored, gold: Sequence[Sequence[Mention]]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return every threshold that makes a difference, descending, with precision and recall there.

    Parameters
    ----------
    scored
        The candidates of each sentence with their scores, each at most once.
    gold
        The mentions of each sentence.

    Examples
    --------
    >>> a, b, c = (Mention("X", ((i, i + 1),)) for i in range(3))
    >>> [x.tolist() for x in threshold_curve([[(2.0, a), (1.0, b), (-1.0, c)]], [[a, c]])]
    [[1.5, 0.0, -2.0], [1.0, 0.5, 0.6666666666666666], [0.5, 0.5, 1.0]]
    """
    cuts = Cuts.of(scored, gold)
    return cuts.values, cuts.hits / cuts.found, cuts.hits / max(cuts.gold, 1)


def best_threshold(scored: Scored, gold: Sequence[Sequence[Mention]]) -> float:
    """Return the threshold of the highest F1; of several, the one nearest to 0, and 0 if none finds anything.

    Examples
    --------
    >>> a, b, c = (Mention("X", ((i, i + 1),)) for i in range(3))
    >>> best_threshold([[(2.0, a), (1.0, b), (-1.0, c)]], [[a]])
    1.5
    """
    threshold, precision, recall = threshold_curve(scored, gold)
    total = precision + recall
    if not total.any():
        return 0.0
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    best = np.flatnonzero(f1 >= f1.max() - 1e-12)
    return float(threshold[best[np.argmin(np.abs(threshold[best]))]])
