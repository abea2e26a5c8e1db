"""Sources: where the scores of cells come from, and where the gradient by score goes back to.

A structured loss needs a table ``scores[site, column]`` and gives its gradient. What is before the table is a source:
features times weights, vectors times a matrix, a network, or a sum of these. ``Likelihood`` is the first of these fused
with the loss in the native core, which is what the trainers of models use; here they are apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from spanloom._native import Objective, SparseRows, StructuredLoss
from spanloom.base.arrays import Floats, Pointers


class Source(Protocol):
    """Gives the scores of cells under its parameters, and takes back the gradient by score."""

    @property
    def size(self) -> int:
        """Number of parameters."""

    def scores(self, x: Floats) -> Floats:
        """Return ``[site * column]`` under the parameters ``x``, for all sites of the sentences at hand."""

    def backward(self, gradient: Floats) -> Floats:
        """Return the gradient by parameter, where ``gradient`` is by the scores that were returned last."""


class Vectors:
    """A vector for each site, times a matrix: ``score[site, column] = vectors[site] · w[:, column]``.

    Parameters
    ----------
    vectors
        ``[site, dimension]``, such as the output of a network that is not trained further.
    columns
        The number of output symbols at a site.

    Examples
    --------
    >>> source = Vectors(np.array([[1.0, 2.0]]), columns=2)
    >>> source.scores(np.array([1.0, 0.0, 0.0, 3.0])).tolist(), source.backward(np.array([1.0, -1.0])).tolist()
    ([1.0, 6.0], [1.0, -1.0, 2.0, -2.0])
    """

    def __init__(self, vectors: npt.NDArray[np.floating], columns: int) -> None:
        self.vectors, self.columns = np.asarray(vectors, np.float64), columns

    @property
    def size(self) -> int:
        return int(self.vectors.shape[1]) * self.columns

    def scores(self, x: Floats) -> Floats:
        table: Floats = self.vectors @ x.reshape(-1, self.columns)
        return table.ravel()

    def backward(self, gradient: Floats) -> Floats:
        by_weight: Floats = self.vectors.T @ gradient.reshape(-1, self.columns)
        return by_weight.ravel()


class Features:
    """Sparse rows of features times weights: ``score[site, column] = Σ_f value · w[f, column]``.

    What ``FeatureExtractor`` makes of sentences. To train on features alone, ``Likelihood`` is many times faster; this
    is for sums of sources.
    """

    def __init__(self, rows: SparseRows, columns: int) -> None:
        self.width, self.columns, self.sites = rows.width, columns, rows.rows
        self.ids = np.asarray(rows.ids, np.int64)
        self.values = np.ones(len(self.ids)) if rows.values is None else np.asarray(rows.values, np.float64)
        self.site_of = np.repeat(np.arange(rows.rows), np.diff(rows.row_ptr))

    @property
    def size(self) -> int:
        return self.width * self.columns

    def scores(self, x: Floats) -> Floats:
        table = np.zeros((self.sites, self.columns))
        np.add.at(table, self.site_of, x.reshape(-1, self.columns)[self.ids] * self.values[:, None])
        return table.ravel()

    def backward(self, gradient: Floats) -> Floats:
        by_weight = np.zeros((self.width, self.columns))
        np.add.at(by_weight, self.ids, gradient.reshape(-1, self.columns)[self.site_of] * self.values[:, None])
        return by_weight.ravel()


class Sum:
    """Several sources whose scores are added up; their parameters stand one after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = list(sources)
        self._bounds = list(pairwise(np.cumsum([0, *(source.size for source in self.sources)]).tolist()))

    @property
    def size(self) -> int:
        return sum(source.size for source in self.sources)

    def scores(self, x: Floats) -> Floats:
        each = [source.scores(x[a:b]) for source, (a, b) in zip(self.sources, self._bounds, strict=True)]
        return np.asarray(np.sum(each, axis=0), np.float64)

    def backward(self, gradient: Floats) -> Floats:
        return np.concatenate([source.backward(gradient) for source in self.sources])


class SourceLoss(Objective):
    """The loss of a structure whose scores come from a source, to be minimised by ``Lbfgs``.

    Its parameters are those of the source, then the scores of global cells such as transitions.

    Parameters
    ----------
    source
        The scores of the sites of all sentences.
    loss
        The structure and what is known of the sentences.
    ptr
        ``[sentences + 1]``: sentence ``s`` has the sites ``ptr[s]`` to ``ptr[s + 1]``.
    global_cells
        Their number, ``structure.global_cells``.
    """

    def __init__(self, source: Source, loss: StructuredLoss, ptr: Pointers, global_cells: int) -> None:
        super().__init__(source.size + global_cells)
        self.source, self.loss, self.ptr = source, loss, ptr

    def scores(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the scores of site cells and of global cells under parameters."""
        return self.source.scores(x[: self.source.size]), x[self.source.size :]

    def evaluate(self, x: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        value, by_score, by_global = self.loss.evaluate(self.ptr, *self.scores(x))
        return value, np.concatenate([self.source.backward(by_score), by_global])
