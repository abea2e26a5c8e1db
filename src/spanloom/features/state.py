"""Checked access to what a model file holds, and lookup tables as arrays."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ModelFileError
from spanloom.features.compiled import Resources

Arrays = dict[str, npt.NDArray[Any]]
T = TypeVar("T")


def array(arrays: Mapping[str, npt.NDArray[Any]], name: str, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Return an array of a model file after checking what kind it is."""
    found = arrays.get(name)
    if not isinstance(found, np.ndarray) or found.dtype != np.dtype(dtype) or found.ndim != 1:
        kind = f"{found.dtype} of {found.ndim} dimensions" if isinstance(found, np.ndarray) else "missing"
        raise ModelFileError(f"array {name!r} must be {np.dtype(dtype)} of 1 dimension; it is {kind}")
    return np.ascontiguousarray(found)


def setting(header: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """Return an entry of a model file's header after checking its type."""
    value = header.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ModelFileError(f"header entry {name!r} of the features must be {kind.__name__}, got {value!r:.80}")
    return value


def pack_resources(resources: Resources) -> tuple[Arrays, list[str]]:
    """Return lookup tables as arrays, and their names.

    All strings in one array of bytes: for each table, for each key, the key and then its values.
    ``resource_counts`` has the number of keys of each table, then the number of values of each key.
    """
    strings: list[bytes] = []
    table_sizes: list[int] = []
    value_counts: list[int] = []
    for table in resources.values():
        table_sizes.append(len(table))
        for key, values in table.items():
            strings.extend(text.encode() for text in (key, *values))
            value_counts.append(len(values))
    arrays: Arrays = {}
    if resources:
        arrays["resource_strings"] = np.frombuffer(b"".join(strings), np.uint8)
        arrays["resource_ends"] = np.cumsum([len(s) for s in strings], dtype=np.uint64)
        arrays["resource_counts"] = np.array(table_sizes + value_counts, np.uint64)
    return arrays, list(resources)


def unpack_resources(
    arrays: Mapping[str, npt.NDArray[Any]], names: Sequence[object]
) -> dict[str, dict[str, list[str]]]:
    """Undo ``pack_resources``."""
    if not names:
        return {}
    blob = array(arrays, "resource_strings", np.uint8).tobytes()
    ends = [0, *array(arrays, "resource_ends", np.uint64).tolist()]
    counts = array(arrays, "resource_counts", np.uint64).tolist()
    sizes = counts[: len(names)]
    per_key = counts[len(names) :]
    if (
        len(sizes) != len(names)
        or sum(sizes) != len(per_key)
        or sum(per_key) + len(per_key) != len(ends) - 1
        or ends[-1] != len(blob)
        or any(a > b for a, b in itertools.pairwise(ends))
    ):
        raise ModelFileError("the lookup tables of the model are damaged: their sizes do not fit together")
    try:
        strings = iter([blob[a:b].decode() for a, b in itertools.pairwise(ends)])
    except UnicodeDecodeError:
        raise ModelFileError("the lookup tables of the model are damaged: a string is not UTF-8") from None
    tables: dict[str, dict[str, list[str]]] = {}
    keys = iter(per_key)
    for name, size in zip(names, sizes, strict=True):
        if not isinstance(name, str):
            raise ModelFileError(f"the name of a lookup table must be a string, got {name!r:.80}")
        tables[name] = {next(strings): [next(strings) for _ in range(next(keys))] for _ in range(size)}
    return tables
