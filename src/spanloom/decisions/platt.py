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
    >>> round(slope, 3), round(offset, 3)
    (0.693, 0.0)
    """
    x = np.asarray(scores, np.float64)
    slope, offset = logistic(np.column_stack([x, np.ones_like(x)]), right).tolist()
    return slope, offset


def logistic(table: npt.NDArray[np.float64], right: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the weights of the columns of a table, for the targets of Platt; the last column is 1.

    Examples
    --------
    >>> logistic(np.ones((4, 1)), [1, 1, 1, 0]).round(3).tolist()
    [0.769]
    """
    y = np.asarray(right, np.bool_)
    positive = int(y.sum())
    target = np.where(y, (positive + 1) / (positive + 2), 1 / (len(y) - positive + 2))
    w = np.zeros(table.shape[1])

    def loss(at: npt.NDArray[np.float64]) -> float:
        z = table @ at
        return float(np.sum(np.logaddexp(0, z) - target * z))

    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(table @ w, -700, 700)))
        gradient = table.T @ (p - target)
        if np.abs(gradient).max() < TOLERANCE * max(len(y), 1):
            break
        curvature = (table * (p * (1 - p))[:, None]).T @ table + 1e-12 * np.eye(len(w))
        step, size = np.linalg.solve(curvature, gradient), 1.0
        while loss(w - size * step) > loss(w) and size > 1e-8:  # Newton's step may be too long
            size /= 2
        w = w - size * step
    return w
