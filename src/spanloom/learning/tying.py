"""Tied weights with as few parameters as there are scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Tied


def untied(weights: npt.NDArray[np.floating], tied: Tied | None) -> npt.NDArray[np.float64]:
    """Return the shortest parameters ``p`` whose scores ``p M`` come nearest to weights ``[…, score]``.

    Examples
    --------
    >>> tied = Tied(np.array([0, 2, 4]), np.array([0, 2, 1, 2], np.int32), 3)
    >>> untied(np.array([3.0, 3.0]), tied).round(6).tolist()
    [1.0, 1.0, 2.0]
    """
    if tied is None:
        return weights.astype(np.float64)
    return np.asarray(weights @ np.linalg.pinv(_matrix(tied)), np.float64)


def scores_of(parameters: npt.NDArray[np.float64], tied: Tied | None) -> npt.NDArray[np.float64]:
    """Return the scores ``p M`` of parameters ``[…, parameter]``.

    Examples
    --------
    >>> tied = Tied(np.array([0, 2, 4]), np.array([0, 2, 1, 2], np.int32), 3)
    >>> scores_of(np.array([1.0, 1.0, 2.0]), tied).tolist()
    [3.0, 3.0]
    """
    return parameters if tied is None else np.asarray(parameters @ _matrix(tied), np.float64)


def shortest(tied: Tied) -> Tied:
    """Return a tying with one parameter per score that is the same to training with an L2 penalty.

    Scores are ``w = p M``. Of all parameters ``p`` with the same scores the penalty prefers the shortest, whose square
    is ``w A⁻¹ wᵀ`` with ``A = Mᵀ M``. With ``A = L Lᵀ`` and ``w = u Lᵀ`` that is ``‖u‖²``: ``u`` can stand for ``p``.
    The map from ``u`` to the shortest ``p`` keeps lengths and angles, and gradients never leave its image, so that
    every step of a gradient method is the same too. Every score must have a parameter of its own, as ``A`` must have an
    inverse.

    Examples
    --------
    >>> ptr, params, width, values = shortest(Tied(np.array([0, 2, 4]), np.array([0, 2, 1, 2], np.int32), 3))
    >>> width, values.round(3).tolist()
    (2, [1.414, 0.707, 1.225])
    """
    matrix = _matrix(tied)
    n = matrix.shape[1]
    factor = np.linalg.cholesky(matrix.T @ matrix)
    rows, columns = np.tril_indices(n)
    return Tied(
        np.concatenate([[0], np.cumsum(np.arange(1, n + 1))]).astype(np.int64),
        columns.astype(np.int32),
        n,
        np.ascontiguousarray(factor[rows, columns]),
    )


def _matrix(tied: Tied) -> npt.NDArray[np.float64]:
    """M, as ``[parameter, score]``."""
    scores = len(tied.ptr) - 1
    matrix = np.zeros((tied.width, scores))
    values = 1.0 if tied.values is None else tied.values
    np.add.at(matrix, (tied.params, np.repeat(np.arange(scores), np.diff(tied.ptr))), values)
    return matrix
