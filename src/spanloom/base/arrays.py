"""Names for arrays that several rooms exchange."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]
"""Named arrays, as a model file holds them."""
Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
Cells = npt.NDArray[np.int32]
"""Positions in a sentence's score vector: site cells ``site * columns + column``, then the global cells."""
Pointers = npt.NDArray[np.int64]
Tied = tuple[Pointers, Cells, int]
"""``(ptr, params, width)``: score ``j`` is the sum of parameters ``params[ptr[j]:ptr[j + 1]]``, of ``width`` in all."""


def below(arrays: Arrays, prefix: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays whose names begin with ``prefix``, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
