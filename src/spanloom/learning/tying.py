"""Tied weights with as few parameters as there are scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Tied

Weighted = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], int, npt.NDArray[np.float64]]
"""A tying with a factor for every entry of ``params``."""


def shortest(tied: Tied) -> Weighted:
    """Return a tying with one parameter per score that is the same to training with an L2 penalty.

    Scores are ``w = p M``. Of all parameters ``p`` with the same scores the penalty prefers the shortest, whose square
    is ``w A⁻¹ wᵀ`` with ``A = Mᵀ M``. With ``A = L Lᵀ`` and ``w = u Lᵀ`` that is ``‖u‖²``: ``u`` can stand for ``p``.
    The map from ``u`` to the shortest ``p`` keeps lengths and angles, and gradients never leave its image, so that
    every step of a gradient method is the same too. Every score must have a parameter of its own, as ``A`` must have an
    inverse.

    Examples
    --------
    >>> ptr, params, width, values = shortest((np.array([0, 2, 4]), np.array([0, 2, 1, 2], np.int32), 3))
    >>> width, values.round(3).tolist()
    (2, [1.414, 0.707, 1.225])
    """
    ptr, params, width = tied
    n = len(ptr) - 1
    matrix = np.zeros((width, n))
    np.add.at(matrix, (params, np.repeat(np.arange(n), np.diff(ptr))), 1.0)
    factor = np.linalg.cholesky(matrix.T @ matrix)
    rows, columns = np.tril_indices(n)
    return (
        np.concatenate([[0], np.cumsum(np.arange(1, n + 1))]).astype(np.int64),
        columns.astype(np.int32),
        n,
        np.ascontiguousarray(factor[rows, columns]),
    )
