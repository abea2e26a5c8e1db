"""Whole numbers in as few bytes as the largest of an array needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ModelFileError

Array = npt.NDArray[Any]
_TYPES = ("uint8", "uint16", "uint32", "uint64", "int64")


def narrowed(arrays: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, str]]:
    """Return arrays with whole numbers in fewer bytes where that loses nothing, and what types they had.

    Examples
    --------
    >>> arrays, types = narrowed({"ends": np.array([3, 700]), "few": np.array([-1, 2])})
    >>> arrays["ends"].dtype, arrays["few"].dtype, types
    (dtype('uint16'), dtype('int64'), {'ends': 'int64'})
    """
    made, types = dict(arrays), {}
    for name, array in arrays.items():
        if array.dtype.name not in _TYPES or not array.size or array.min() < 0:
            continue
        shorter = np.min_scalar_type(array.max())
        if shorter.itemsize < array.itemsize:
            made[name], types[name] = array.astype(shorter), array.dtype.name
    return made, types


def widened(arrays: Mapping[str, Array], types: Any) -> dict[str, Array]:
    """Undo ``narrowed``; ``ModelFileError`` if something does not fit together."""
    if not isinstance(types, dict):
        raise ModelFileError(f"the types of arrays are damaged: {types!r:.80}")
    made = dict(arrays)
    for name, kind in types.items():
        if name not in arrays or kind not in _TYPES or arrays[name].dtype.name not in _TYPES[:3]:
            raise ModelFileError(f"the type of the array {name!r:.40} is damaged: {kind!r:.40}")
        made[name] = arrays[name].astype(kind)
    return made
