"""Platt scaling (Platt 1999): scores of a margin become probabilities by a logistic curve.

    P(right | score) = σ(slope · score + offset)

The scores must come from data that the model has not learned from. Targets are those of Platt, (n₊ + 1) / (n₊ + 2) and
1 / (n₋ + 2) instead of 1 and 0, so that the curve stays finite where scores part right from wrong.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

STEPS = 100
TOLERANCE = 1e-10
SAME = 1e-12
"""Values that differ by less are taken to be the same."""


def platt(scores: npt.ArrayLike, right: npt.ArrayLike) -> tuple[float, float]:
    """Return slope and offset of the curve of the highest likelihood, by Newton's method.

    Parameters
    ----------
    scores
        Of candidates.
    right
        Whether each is right.

    Examples
    --------
    Of four candidates with score 1 three are right, of four with score −1 one is:

    >>> slope, offset = platt([1, 1, 1, 1, -1, -1, -1, -1], [1, 1, 1, 0, 1, 0, 0, 0])
    >>> round(slope, 3), abs(offset) < 1e-9
    (0.693, True)
    """
    x = np.asarray(scores, np.float64)
    slope, offset = logistic(np.column_stack([x, np.ones_like(x)]), right).tolist()
    return slope, offset


def logistic(table: npt.NDArray[np.float64], right: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the weights of the columns of a table, for the targets of Platt; the last column is 1.

    Where several weights are equally good, the smallest count, but a column that is the same for all says nothing about
    its weight: it has 1, so that its values go through as they are.

    Examples
    --------
    >>> logistic(np.ones((4, 1)), [1, 1, 1, 0]).round(3).tolist()
    [0.769]
    >>> logistic(np.array([[2.0, 1.0]] * 4), [1, 1, 1, 0]).round(3).tolist()
    [1.0, -1.231]
    """
    y = np.asarray(right, np.bool_)
    positive = int(y.sum())
    target = np.where(y, (positive + 1) / (positive + 2), 1 / (len(y) - positive + 2))
    # About their means columns are far from the column of ones: z = w · (x − mean) + offset.
    mean = table[:, :-1].mean(axis=0)
    centred = np.column_stack([table[:, :-1] - mean, np.ones(len(y))])
    same = np.ptp(table[:, :-1], axis=0) <= SAME * (1 + np.abs(mean))
    centred[:, :-1][:, same] = 0.0
    w = np.zeros(table.shape[1])
    w[:-1][same] = 1.0

    def loss(at: npt.NDArray[np.float64]) -> float:
        z = centred @ at
        return float(np.sum(np.logaddexp(0, z) - target * z))

    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(centred @ w, -700, 700)))
        gradient = centred.T @ (p - target)
        if np.abs(gradient).max() < TOLERANCE * max(len(y), 1):
            break
        curvature = (centred * (p * (1 - p))[:, None]).T @ centred
        # The shortest step: columns may depend on each other.
        step, size = np.linalg.lstsq(curvature, gradient, rcond=SAME)[0], 1.0
        while loss(w - size * step) > loss(w) and size > 1e-8:  # Newton's step may be too long
            size /= 2
        w = w - size * step
    w[-1] -= mean @ w[:-1]
    return w
