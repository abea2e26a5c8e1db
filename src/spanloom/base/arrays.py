"""Names for arrays that several rooms exchange."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]
"""Named arrays, as a model file holds them."""
Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
Ints32 = npt.NDArray[np.int32]
Cells = npt.NDArray[np.int32]
"""Positions in a sentence's score vector: site cells ``site * columns + column``, then the global cells."""
Pointers = npt.NDArray[np.int64]


class Tied(NamedTuple):
    """Scores as sums of ``width`` parameters: score ``j`` is that of ``params[ptr[j]:ptr[j + 1]]``.

    With ``values``, each entry of ``params`` counts so much.
    """

    ptr: Pointers
    params: Cells
    width: int
    values: Floats | None = None


def below(arrays: Arrays, prefix: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays whose names begin with ``prefix``, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def without_small(weights: Floats32, least: float) -> Floats32:
    """Return weights with 0 for those below ``least`` in absolute value."""
    return np.where(np.abs(weights) < least, np.float32(0.0), weights)
