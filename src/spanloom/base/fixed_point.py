"""Weights as whole numbers of a step: as exact as the largest of them needs, and short where they are small.

Most weights are a thousand times smaller than the largest one. float32 gives each of them as many digits, which no sum
of weights can show. ``rounded`` makes all of them multiples of one step; ``encode`` stores the multiples in as many
bytes as each needs, and nothing is lost. A table of ``u`` rows and ``c`` columns becomes::

    steps   [c]: a power of two for each column; number k = low + 256 · high stands for k · step
    low     int8; the lowest byte, with a sign
    high    int8 or int16; the rest
    low_mask, high_mask   one bit for each of u · c numbers: whether its low or its high is stored; the others are 0
                          (left out if all are stored, as is a high that no number needs)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ModelFileError

Array = npt.NDArray[Any]
Rows = slice | npt.NDArray[np.integer[Any]]
BITS = 22
"""Of the largest number, without its sign; three bytes are enough."""
KINDS = ("steps", "low", "high", "low_mask", "high_mask")
_SMALLEST = 2.0**-100  # smaller weights are left alone: their steps would not be ordinary numbers of float32


def rounded(values: npt.NDArray[np.float32], bits: int = BITS) -> npt.NDArray[np.float32]:
    """Return the nearest multiples of a step: the power of two above the largest number, by ``2 ** bits``.

    Examples
    --------
    >>> rounded(np.array([3.0, 1e-3, 1e-9], np.float32)).tolist()
    [3.0, 0.0010004043579101562, 0.0]
    """
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if not _SMALLEST < largest < math.inf:
        return values
    step = 2.0 ** (math.frexp(largest)[1] - bits)
    made = values * np.float32(1 / step)  # exact, as are the steps below but for the rounding itself
    np.rint(made, out=made)
    made *= np.float32(step)
    made += np.float32(0)  # no minus zero
    return made


def encode(table: npt.NDArray[np.float32]) -> dict[str, Array] | None:
    """Return the arrays of a table, or None where its numbers have no such steps.

    Examples
    --------
    >>> stored = encode(np.array([[0.5, 300], [-0.25, 1]], np.float32))
    >>> {name: array.tolist() for name, array in stored.items()}
    {'steps': [0.25, 1.0], 'low': [2, 44, -1, 1], 'high_mask': [64], 'high': [1]}
    """
    steps = _steps(table)
    if steps is None or np.abs(scaled := table / steps).max(initial=0.0) > 1 << BITS:
        return None
    numbers = scaled.astype(np.int32).reshape(-1)
    low = numbers.astype(np.int8)
    high = (numbers - low) >> 8
    short = np.abs(high).max(initial=0) <= 127
    stored: dict[str, Array] = {"steps": steps}
    for name, own in (("low", low), ("high", high.astype(np.int8 if short else np.int16))):
        nonzero = own != 0
        count = np.count_nonzero(nonzero)
        if count >= 0.8 * own.size:
            stored[name] = own
        elif count or name == "low":
            stored |= {f"{name}_mask": np.packbits(nonzero), name: own[nonzero]}
    return stored


class Decoder:
    """The rows of a table that ``encode`` stored, to be taken some at a time; ``ModelFileError`` if they are damaged.

    Parameters
    ----------
    found
        The arrays by their kind.
    rows, columns
        Of the table.
    """

    def __init__(self, found: Mapping[str, Array | None], rows: int, columns: int) -> None:
        steps, low, high = (found[kind] for kind in ("steps", "low", "high"))
        if steps is None or steps.dtype != np.float32 or steps.shape != (columns,) or not (steps > 0).all():
            raise ModelFileError(f"packed weights must have {columns} steps")
        if low is None or low.dtype != np.int8:
            raise ModelFileError("packed weights have no numbers")
        if high is not None and high.dtype not in (np.int8, np.int16):
            raise ModelFileError(f"packed weights have numbers of the type {high.dtype}")
        self._steps = steps
        self._low = _Sparse(low, found["low_mask"], rows, columns)
        self._high = None if high is None else _Sparse(high, found["high_mask"], rows, columns)

    def of(self, rows: Rows) -> npt.NDArray[np.float32]:
        """Return some rows."""
        numbers = self._low.of(rows)
        if self._high is not None:
            high = self._high.of(rows)
            high *= np.float32(256)
            numbers += high
        numbers *= self._steps
        return numbers


class _Sparse:
    """A table of whole numbers, those that are not stored being 0."""

    def __init__(self, values: Array, mask: Array | None, rows: int, columns: int) -> None:
        self._values, self._places, size = values, None, rows * columns
        if mask is not None:
            if mask.dtype != np.uint8 or mask.shape != ((size + 7) // 8,):
                raise ModelFileError(f"a mask of packed weights must have {(size + 7) // 8} bytes")
            self._places = np.unpackbits(mask, count=size).view(np.bool_).reshape(rows, columns)
            self._ends = np.cumsum(np.count_nonzero(self._places, axis=1))
            size = int(self._ends[-1]) if rows else 0
        if values.shape != (size,):
            raise ModelFileError(f"packed weights must have {size} numbers of a kind, got {values.size}")
        if mask is None:
            self._values = values.reshape(rows, columns)

    def of(self, rows: Rows) -> npt.NDArray[np.float32]:
        if self._places is None:
            return self._values[rows].astype(np.float32)
        places = self._places[rows]
        made = np.zeros(places.shape, np.float32)
        if isinstance(rows, slice):  # they follow each other
            first = self._ends[rows.start - 1] if rows.start else 0
            made[places] = self._values[first : first + np.count_nonzero(places)]
        else:
            before = self._ends[rows] - np.count_nonzero(places, axis=1)
            made[places] = self._values[(before[:, None] + np.cumsum(places, axis=1) - 1)[places]]
        return made


def _steps(table: npt.NDArray[np.float32]) -> npt.NDArray[np.float32] | None:
    """The largest power of two, for each column, that all its numbers are multiples of; 1 for a column of zeros."""
    sizes = np.abs(table)
    bits = sizes.view(np.uint32)
    # Without its lowest bit, a number is smaller by the value of that bit; a power of two has no other.
    shorter = np.where(bits & np.uint32((1 << 23) - 1), bits & (bits - np.uint32(1)), np.uint32(0)).view(np.float32)
    lowest = sizes - shorter
    lowest[sizes == 0] = np.inf
    steps = np.asarray(lowest.min(axis=0, initial=np.inf), np.float32)
    steps[np.isinf(steps)] = 1
    return steps if (steps > _SMALLEST).all() else None
