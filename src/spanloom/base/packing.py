"""Tables of weights in less space: rows that occur twice are stored once, zeros not at all, numbers shorter if asked.

A packed table is stored as these arrays, with ``u`` distinct rows and ``c`` columns (those of all tables of as many
rows, side by side)::

    index   which distinct row each row is (left out if rows are as they are stored)
    steps, low, …  of tables whose numbers are multiples of a step, see ``base.fixed_point``; of others:
    mask    one bit for each of u · c numbers: whether it is stored; the others are 0 (left out if all are stored)
    values  the numbers, float32, float16 or int8
    scales  of int8: the smallest and the largest magnitude ``[2, c]`` of each column. Code ±k stands for
            ± smallest · (largest / smallest) ** ((k − 1) / 126), 0 for 0: steps are relative, since most weights are
            small and as many of them add up as large ones
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base import fixed_point
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.model_file import forget

Array = npt.NDArray[Any]
PRECISIONS = ("float32", "int16", "float16", "int8")
_TYPES = (np.dtype("<f4"), np.dtype("<f2"), np.dtype("i1"))
_SHORT = 14
"""Bits of the largest number of a table in ``"int16"``, without its sign."""
INDEX = ".index"
"""What the name of a table's index ends in."""
LEAST = 1 << 14
"""Tables of as many rows that have fewer numbers together stay as they are."""
_RANGE = 1e4
"""The largest magnitude of a column over the smallest, in codes of one byte."""
_BLOCK = 1 << 14  # rows that are unpacked at a time
_DENSEST = 256
"""A damaged or hostile file may not unpack to more than so many numbers for each byte that it stores."""


def check_precision(value: object) -> str:
    """Return the name of a precision, or say which there are."""
    if not isinstance(value, str) or value not in PRECISIONS:
        raise ParameterError(f"weights must be one of {', '.join(PRECISIONS)}, got {value!r}")
    return value


def pack(
    arrays: Mapping[str, Array], precision: str = "float32", apart: str | None = None
) -> tuple[dict[str, Array], list[dict[str, Any]]]:
    """Return arrays with tables of float32 packed, and what ``unpack`` needs to know.

    With ``"float32"`` nothing is lost: packed are only those tables that get smaller. ``"int16"`` rounds each table to
    multiples of a step. Arrays whose names begin with ``apart`` stay as they are.

    Examples
    --------
    >>> table = np.tile(np.eye(4, dtype=np.float32), (5000, 1))
    >>> packed, how = pack({"weights": table})
    >>> sorted(packed), how[0]["distinct"]
    (['packed.0.index', 'packed.0.mask', 'packed.0.values'], 4)
    >>> bool((unpack(packed, how)["weights"] == table).all())
    True
    """
    check_precision(precision)
    done = dict(arrays)
    groups: dict[int, list[str]] = {}
    for name, array in arrays.items():
        if apart is not None and name.startswith(apart):
            continue
        if array.ndim == 2 and array.dtype == np.float32 and np.isfinite(array).all():
            groups.setdefault(array.shape[0], []).append(name)
    description: list[dict[str, Any]] = []
    large = [names for names in groups.values() if sum(arrays[name].size for name in names) >= LEAST]
    for number, names in enumerate(large):
        short = precision == "int16"
        table = np.hstack([fixed_point.rounded(arrays[name], _SHORT) if short else arrays[name] for name in names])
        stored, distinct = _stored(table, precision)
        size = sum(one.nbytes for one in stored.values())
        if size >= table.nbytes or table.size > _most(size):
            continue
        for name in names:
            del done[name]
        done |= {f"packed.{number}.{kind}": one for kind, one in stored.items()}
        columns = [arrays[name].shape[1] for name in names]
        description.append({"number": number, "names": names, "columns": columns, "distinct": distinct})
    return done, description


Room = Callable[[int, Sequence[int]], list[Array]]
"""Makes tables of zeros, float32, of as many rows and of these columns."""


def separate(rows: int, columns: Sequence[int]) -> list[Array]:
    """Make a table for itself of each."""
    return [np.zeros((rows, width), np.float32) for width in columns]


def unpack(
    arrays: Mapping[str, Array],
    description: list[dict[str, Any]],
    room: Room = separate,
    shared: re.Pattern[str] | None = None,
) -> dict[str, Array]:
    """Undo ``pack``; ``ModelFileError`` if something does not fit together.

    ``room`` makes the tables, which are filled some rows at a time: beside them there is little that needs memory.
    Tables whose names match ``shared`` keep equal rows as one; ``name + INDEX`` then says which row is which of them.

    Examples
    --------
    >>> packed = pack({"weights": np.tile(np.eye(4, dtype=np.float32), (5000, 1))})
    >>> {name: array.shape for name, array in unpack(*packed, shared=re.compile("weights")).items()}
    {'weights': (4, 4), 'weights.index': (20000,)}
    """
    done = {name: array for name, array in arrays.items() if not name.startswith("packed.")}
    for name in done:
        if shared is not None and name.endswith(INDEX) and shared.fullmatch(name.removesuffix(INDEX)):
            raise ModelFileError(f"there is an array {name}, which is only made when weights are unpacked")
    for entry in description:
        try:
            prefix = f"packed.{int(entry['number'])}."
            names, columns, distinct = list(entry["names"]), [int(c) for c in entry["columns"]], int(entry["distinct"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the description of packed weights is damaged: {error!r}") from None
        found = {kind: arrays.get(prefix + kind) for kind in ("values", "mask", "index", "scales", *fixed_point.KINDS)}
        if len(names) != len(columns) or min([distinct, *columns]) < 0 or any(not isinstance(n, str) for n in names):
            raise ModelFileError("the description of packed weights is damaged: its numbers do not fit together")
        index = found["index"]
        keep = index is not None and shared is not None and all(map(shared.fullmatch, names))
        done |= dict(zip(names, _unpacked(found, distinct, columns, room, keep), strict=True))
        if keep and index is not None:
            done |= {name + INDEX: index for name in names}
    return done


def _most(stored: int) -> int:
    """How many numbers so many bytes may stand for."""
    return _DENSEST * stored + 1024


def _stored(table: Array, precision: str) -> tuple[dict[str, Array], int]:
    stored: dict[str, Array] = {}
    if precision == "int8":
        table, stored["scales"] = _coded(table)
    elif precision == "float16":
        table = np.clip(table, -65504, 65504).astype("<f2")
    first, index = _distinct(table)
    if len(first) <= 0.8 * len(table):
        table = table[first]
        stored["index"] = index.astype(np.uint32)
    ways = [_without_zeros(table)]
    if table.dtype == np.float32 and (whole := fixed_point.encode(table)) is not None:
        ways.append(whole)
    return stored | min(ways, key=lambda way: sum(one.nbytes for one in way.values())), len(table)


def _without_zeros(table: Array) -> dict[str, Array]:
    flat = table.reshape(-1)
    nonzero = flat != 0  # minus zero is stored as zero
    if np.count_nonzero(nonzero) < 0.8 * flat.size:
        return {"mask": np.packbits(nonzero), "values": flat[nonzero]}
    return {"values": flat}


def _coded(table: Array) -> tuple[Array, Array]:
    """Return numbers as codes of one byte, and the scales of their columns."""
    sizes = np.abs(table)
    largest = sizes.max(axis=0, initial=0.0)
    largest[largest == 0] = 1.0
    smallest = np.where(sizes > 0, sizes, np.inf).min(axis=0, initial=np.inf)
    smallest = np.clip(smallest, largest / _RANGE, largest)  # what is smaller becomes 0 or the smallest
    step = np.log(np.maximum(largest / smallest, 1.0 + 1e-6)) / 126
    with np.errstate(divide="ignore"):
        codes = np.round(np.log(sizes / smallest) / step) + 1
    codes = np.where(sizes < smallest / 2, 0, np.clip(codes, 1, 127))
    return (np.sign(table) * codes).astype(np.int8), np.stack([smallest, largest]).astype(np.float32)


def _meanings(scales: Array) -> Array:
    """What codes of one byte stand for: ``[code + 128, column]``."""
    smallest, largest = scales.astype(np.float64)
    step = np.log(np.maximum(largest / smallest, 1.0 + 1e-6)) / 126
    table = smallest * np.exp(step * (np.abs(np.arange(-128, 128))[:, None] - 1))
    table *= np.sign(np.arange(-128, 128))[:, None]
    return np.asarray(table, np.float32)


def _distinct(table: Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where each distinct row is first, in that order, and which of these each row is."""
    raw = np.ascontiguousarray(table).view(f"u{table.itemsize}").astype(np.uint64)
    random = np.random.default_rng(0)
    hashes: npt.NDArray[np.uint64] = np.zeros(len(table), np.uint64)
    for k in range(raw.shape[1]):
        hashes = (hashes ^ raw[:, k]) * (random.integers(1 << 62, 1 << 63, dtype=np.uint64) | np.uint64(1))
        hashes ^= hashes >> np.uint64(29)
    _, first, index = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first, index = first[order], rank[index.reshape(-1)]
    if (table[first][index] != table).any():  # two rows of one hash: leave all as they are
        return np.arange(len(table)), np.arange(len(table))
    return first, index


def _unpacked(
    found: Mapping[str, Array | None], distinct: int, widths: Sequence[int], room: Room, keep: bool
) -> list[Array]:
    if found["values"] is None and found["steps"] is None:
        raise ModelFileError("packed weights have no values")
    index, columns = found["index"], sum(widths)
    stored = sum(one.nbytes for one in found.values() if one is not None)
    rows = distinct if index is None else len(index)
    if max(rows, distinct) * columns > _most(stored):
        raise ModelFileError(f"packed weights of {stored} bytes claim to be {rows} rows of {columns} numbers")
    if index is not None and (
        index.dtype != np.uint32 or index.ndim != 1 or (len(index) and int(index.max()) >= distinct)
    ):
        raise ModelFileError(f"the index of packed weights is beyond its {distinct} rows")
    if keep:
        index, rows = None, distinct
    decoder = (_Rows if found["steps"] is None else fixed_point.Decoder)(found, distinct, columns)
    tables, ends = room(rows, widths), np.cumsum([0, *widths])
    for first in range(0, rows, _BLOCK):
        last = min(first + _BLOCK, rows)
        numbers = decoder.of(slice(first, last) if index is None else index[first:last])
        for table, start, end in zip(tables, ends, ends[1:], strict=False):
            table[first:last] = numbers[:, start:end]
        for kind in ("values", "low", "high"):
            if (read := found[kind]) is not None:
                forget(read)
    return tables


class _Rows:
    """The distinct rows, to be taken some at a time."""

    def __init__(self, found: Mapping[str, Array | None], rows: int, columns: int) -> None:
        values, mask, scales = (found[kind] for kind in ("values", "mask", "scales"))
        if values is None or values.dtype not in _TYPES or values.ndim != 1:
            raise ModelFileError("packed weights have values of another type")
        size = rows * columns
        if mask is not None and (mask.dtype != np.uint8 or mask.ndim != 1 or len(mask) != (size + 7) // 8):
            raise ModelFileError(f"the mask of packed weights must have {(size + 7) // 8} bytes")
        places = None if mask is None else np.unpackbits(mask, count=size).view(np.bool_).reshape(rows, columns)
        if places is not None and np.count_nonzero(places) != len(values):
            raise ModelFileError(f"packed weights have {len(values)} values; their mask says otherwise")
        if places is None and len(values) != size:
            raise ModelFileError(f"packed weights have {len(values)} values for {rows} rows of {columns} numbers")
        coded = values.dtype == np.int8
        if coded and (
            scales is None or scales.dtype != np.float32 or scales.shape != (2, columns) or not (scales > 0).all()
        ):
            raise ModelFileError(f"packed weights must have {columns} scales")
        self._values, self._places, self._shape = values, places, (rows, columns)
        self._meanings = _meanings(scales) if coded and scales is not None else None
        if places is not None:  # where the values of each row begin
            counts = np.count_nonzero(places, axis=1)
            self._starts = np.cumsum(counts) - counts

    def of(self, rows: slice | Array) -> Array:
        """Return some rows, as float32 or what else they are stored as."""
        if self._places is None:
            numbers = np.asarray(self._values.reshape(self._shape)[rows])
        else:
            stored = self._places[rows]
            numbers = np.zeros(stored.shape, self._values.dtype)
            at = self._starts[rows][:, None] + np.cumsum(stored, axis=1) - 1
            numbers[stored] = self._values[at[stored]]
        if self._meanings is None:
            return numbers
        return np.take_along_axis(self._meanings, numbers.astype(np.intp) + 128, axis=0)
