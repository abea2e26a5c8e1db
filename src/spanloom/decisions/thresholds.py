"""Choosing the score above which a candidate counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spanloom.corpus.mention import Mention

Scored = Sequence[Sequence[tuple[float, Mention]]]


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
    scores: list[float] = []
    right: list[bool] = []
    for some, mentions in zip(scored, gold, strict=True):
        wanted = set(mentions)
        scores.extend(score for score, _ in some)
        right.extend(mention in wanted for _, mention in some)
    total = sum(len(set(mentions)) for mentions in gold)
    if not scores:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    order = np.argsort(-np.array(scores), kind="stable")
    value = np.array(scores)[order]
    hits = np.cumsum(np.array(right)[order])
    # A threshold lies halfway between two different scores: candidates of equal score go together.
    last = np.append(value[1:] < value[:-1], True)
    below = np.append(value[1:], value[-1] - 2.0)
    found = np.arange(1, len(value) + 1)
    return ((value + below) / 2)[last], (hits / found)[last], (hits / max(total, 1))[last]


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
