"""Counts of documents or sentences in a result: short enough to be kept, for bootstraps later."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def pack(counts: npt.NDArray[np.int64]) -> str:
    """Write rows of numbers as one string.

    Examples
    --------
    >>> pack(np.array([[1, 2], [3, 4]]))
    '1 2;3 4'
    """
    return ";".join(" ".join(map(str, row)) for row in counts.tolist())


def unpack(text: str) -> npt.NDArray[np.int64]:
    """Undo ``pack``."""
    return np.array([row.split() for row in text.split(";")], np.int64)
