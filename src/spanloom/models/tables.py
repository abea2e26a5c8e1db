"""The weights of all components in one table, side by side.

A decoder reads the features of a site once for all components, so that it wants their weights in one row, those of each
component padded to whole vectors. Weights are views of this table: there is no second copy of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np

from spanloom._native import ChoiceStructure, Decoder, Structure, weight_table
from spanloom.base.arrays import Arrays, Floats32
from spanloom.base.model_file import forget
from spanloom.base.packing import INDEX
from spanloom.features import FeatureExtractor
from spanloom.learning import Weights

SHARED = re.compile(r"^(?:.+\.)?component\.[0-9]+\.features$")
"""Names of tables in model files whose equal rows stay one row in memory, see ``base.packing.unpack``."""
_BLOCK = 1 << 16  # rows that are copied at a time


def room(rows: int, columns: Sequence[int]) -> list[Floats32]:
    """Return tables of zeros, of as many rows and of these columns, that stand side by side in one.

    Examples
    --------
    >>> one, two = room(3, [5, 2])
    >>> one.shape, two.shape, one.base is two.base
    ((3, 5), (3, 2), True)
    """
    *firsts, width = accumulate(map(_stride, columns), initial=0)
    table = weight_table(rows, width) if rows * width else np.zeros((rows, width), np.float32)
    return [table[:, first : first + own] for first, own in zip(firsts, columns, strict=True)]


def side_by_side(structures: Sequence[Structure], weights: Sequence[Weights]) -> tuple[Decoder, list[Weights]]:
    """Return a decoder, and the weights as views of its table; those that are such already are not copied.

    Where features share rows, in the same way in all components, so do they in the table.
    """
    if len({id(one.index) for one in weights}) > 1:
        weights = [Weights(one.features, one.globals) for one in weights]
    features = [one.rows for one in weights]
    columns = [own.shape[1] for own in features]
    table: Any = _common(features, columns)
    if table is None:
        made = room(len(features[0]) if features else 0, columns)
        for to, own in zip(made, features, strict=True):
            for first in range(0, len(own), _BLOCK):
                to[first : first + _BLOCK] = own[first : first + _BLOCK]
                forget(own)
        table = made[0].base if made else np.zeros((0, 0), np.float32)
        weights = [replace(one, rows=own) for one, own in zip(weights, made, strict=True)]
    parts = [(structure, one.globals) for structure, one in zip(structures, weights, strict=True)]
    return Decoder.over(parts, table), list(weights)


def reader(extractor: FeatureExtractor, weights: Sequence[Weights]) -> FeatureExtractor:
    """Return what makes the rows for a decoder of such weights: features that share a row have its number."""
    index = weights[0].index if weights else None
    return extractor if index is None else extractor.renumbered(index)


def stored_weights(arrays: Arrays, number: int) -> Weights:
    """Return the weights of a component in a model file."""
    name = f"component.{number}.features"
    return Weights(arrays[name], arrays[f"component.{number}.globals"], arrays.get(name + INDEX))


def _common(features: Sequence[Floats32], columns: Sequence[int]) -> Floats32 | None:
    """The table that these are views of, in the order given and with nothing between them."""
    if not features or not isinstance(table := features[0].base, np.ndarray) or table.ndim != 2:
        return None
    *firsts, width = accumulate(map(_stride, columns), initial=0)
    if table.shape[1] != width or table.dtype != np.float32 or not table.flags.c_contiguous:
        return None
    for own, first in zip(features, firsts, strict=True):
        at = table.ctypes.data + first * table.itemsize
        if own.base is not table or own.strides != table.strides or len(own) != len(table) or own.ctypes.data != at:
            return None
    return table


def _stride(columns: int) -> int:
    return ChoiceStructure(columns).stride


def without_unused(extractor: FeatureExtractor, weights: Sequence[Weights]) -> tuple[FeatureExtractor, list[Weights]]:
    """Drop the features that no component uses; with an L1 penalty that is most of them."""
    used = np.zeros(extractor.size, np.bool_)
    for one in weights:
        used |= one.features.any(axis=1)
    if used.all():
        return extractor, list(weights)
    smaller = [Weights(np.ascontiguousarray(one.features[used]), one.globals) for one in weights]
    return extractor.keep(np.flatnonzero(used)), smaller
