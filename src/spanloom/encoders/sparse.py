"""Weights of sparse features that learn in mini-batches, beside a network: Adagrad with one step for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom._native import SparseRows
from spanloom.base.arrays import Floats32
from spanloom.encoders.pieces import Numbers

DAMPING = 1e-8
"""Where sums of squared gradients start."""


@dataclass(frozen=True, slots=True)
class Part:
    """The features of a batch: ``matrix[site, one of features]``, a sparse matrix of SciPy."""

    matrix: Any
    features: Numbers


class SparseWeights:
    """Weights ``table[feature, column]`` for the columns of all components.

    Parameters
    ----------
    rows
        The features of every site of the training sentences.
    columns
        Of all components.
    rate
        How far a weight goes at first.
    l2
        The penalty ``l2·‖w‖²``, of the sum over all sentences. A feature gets its share of it when it is seen.
    batch
        Sentences of a step.
    """

    def __init__(self, rows: SparseRows, columns: int, rate: float, l2: float, batch: int) -> None:
        self.rate, self.l2 = rate, l2
        self._group, self._ptr = np.asarray(rows.group_ptr), np.asarray(rows.row_ptr)
        self._ids, self._values = np.asarray(rows.ids), rows.values
        self.table: Floats32 = np.zeros((rows.width, columns), np.float32)
        self.squares: Floats32 = np.zeros(rows.width, np.float32)
        sentences = max(len(self._group) - 1, 1)
        owner = np.repeat(np.arange(sentences), np.diff(self._ptr[self._group]))
        pairs = np.unique(owner * rows.width + self._ids.astype(np.int64))
        seen = np.bincount(pairs % max(rows.width, 1), minlength=rows.width)
        share = 1 - (1 - min(batch / sentences, 1.0)) ** seen  # of all batches, those that a feature is in
        self._decay = (2 * l2 / sentences / np.maximum(share, 1e-12)).astype(np.float32)

    def part(self, sentences: Sequence[int] | Numbers) -> Part:
        """Return the features of some sentences, site after site."""
        from scipy.sparse import csr_matrix

        slices = [slice(int(self._group[s]), int(self._group[s + 1])) for s in sentences]
        sizes = np.concatenate([np.diff(self._ptr[one.start : one.stop + 1]) for one in slices])
        spans = [slice(int(self._ptr[one.start]), int(self._ptr[one.stop])) for one in slices]
        ids = np.concatenate([self._ids[span] for span in spans])
        features, local = np.unique(ids, return_inverse=True)
        if self._values is None:
            values = np.ones(len(ids), np.float32)
        else:
            values = np.concatenate([self._values[span] for span in spans])
        ptr = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=ptr[1:])
        matrix = csr_matrix((values, local.reshape(-1), ptr), shape=(len(sizes), len(features)))
        return Part(matrix, features.astype(np.int64))

    def scores(self, part: Part) -> Floats32:
        """Return ``[site, column]``."""
        return np.asarray(part.matrix @ self.table[part.features], np.float32)

    def gradient(self, part: Part, by_score: Floats32) -> Floats32:
        """Return the gradient by the weights of the part's features, given that by score."""
        return np.asarray(part.matrix.T @ by_score, np.float32)

    def step(self, features: Numbers, gradient: Floats32, factor: float) -> None:
        """Go against a gradient, of features that are named once each."""
        own = self.table[features]
        gradient = gradient + self._decay[features, None] * own
        self.squares[features] += np.square(gradient).sum(axis=1)
        size = factor * self.rate / np.sqrt(self.squares[features] + DAMPING)
        self.table[features] = own - size[:, None] * gradient
