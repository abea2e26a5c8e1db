"""Models of components whose scores come from an encoder, summed with those of sparse features.

    score[site, column] = Σ_f w[f, column]  +  encoder[site, column]

After training, the encoder's scores are features with values: one for every column of every component, with weight 1 in
its own column and 0 in the others. So the best structure, probabilities, penalties and explanations are worked out as
for any other model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import SparseRows
from spanloom.base.arrays import Arrays, Floats32, below, without_small
from spanloom.corpus.document import Sentence
from spanloom.decisions.rule import Rule
from spanloom.encoders.kept import KeptNetwork
from spanloom.encoders.sites import site_table
from spanloom.features import FeatureExtractor
from spanloom.learning import Weights
from spanloom.models.base import Mentions
from spanloom.models.component import Component, Shapes
from spanloom.models.structured import ENCODER, Structured, StructuredModel
from spanloom.models.tables import room, without_unused
from spanloom.models.trained import Trained, chunks
from spanloom.models.warm import Wanted

AT_ONCE = 1 << 15
"""Tokens whose vectors are held at once."""


class Encoded(Structured):
    """Components, their weights for sparse features, and a network.

    Parameters
    ----------
    weights
        For sparse features only.
    kept
        The network that gives the other scores.
    """

    def __init__(
        self,
        model: StructuredModel,
        components: Sequence[Component],
        extractor: FeatureExtractor,
        weights: Sequence[Weights],
        kept: KeptNetwork,
    ) -> None:
        self.kept = kept
        columns = kept.shape.columns
        super().__init__(model, components, extractor, with_scores(extractor.size, weights), columns)

    @classmethod
    def restored(
        cls,
        model: StructuredModel,
        components: Sequence[Component],
        extractor: FeatureExtractor,
        weights: Sequence[Weights],
        header: Mapping[str, Any],
        arrays: Arrays,
    ) -> Encoded:
        """Undo ``header`` and ``arrays``."""
        return cls(model, components, extractor, weights, KeptNetwork.from_file(header, below(arrays, f"{ENCODER}.")))

    def _rows(self, sentences: Sequence[Sentence], threads: int | None, own: bool = False) -> tuple[SparseRows, Shapes]:
        rows, shapes = super()._rows(sentences, threads, own)
        table = site_table(self.model.sites, shapes.lengths, shapes.lattices)
        return with_values(rows, self.kept.network.score([s.tokens for s in sentences], table, threads)), shapes

    # Some sentences at a time: vectors of a network take more memory than features.

    def find(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        parts = chunks(sentences, AT_ONCE)
        return [found for part in parts for found in Structured.find(self, part, threads, conflicts)]

    def find_with_probabilities(
        self, sentences: Sequence[Sentence], threads: int | None = None, conflicts: Counter[str] | None = None
    ) -> Mentions:
        parts = chunks(sentences, AT_ONCE)
        return [found for part in parts for found in Structured.find_with_probabilities(self, part, threads, conflicts)]

    def find_by(
        self,
        rule: Rule,
        sentences: Sequence[Sentence],
        threads: int | None = None,
        conflicts: Counter[str] | None = None,
        *,
        probabilities: bool = False,
    ) -> Mentions:
        return [
            found
            for part in chunks(sentences, AT_ONCE)
            for found in Structured.find_by(self, rule, part, threads, conflicts, probabilities=probabilities)
        ]

    def find_above(self, sentences: Sequence[Sentence], above: float, threads: int | None = None) -> Mentions:
        parts = chunks(sentences, AT_ONCE)
        return [found for part in parts for found in Structured.find_above(self, part, above, threads)]

    def pruned(self, least: float) -> Trained:
        own = [one.features[: self.extractor.size] for one in self.weights]
        weights = [Weights(without_small(f, least), w.globals) for w, f in zip(self.weights, own, strict=True)]
        smaller = Encoded(self.model, self.components, *without_unused(self.extractor, weights), self.kept)
        smaller.set_penalty(self.penalty)
        smaller.penalty_curve = self.penalty_curve
        return smaller

    def start_for(self, wanted: Wanted, global_cells: int) -> Weights | None:
        """None: its features know only what the network does not."""
        return None

    @property
    def weight_count(self) -> int:
        own = sum(
            self.extractor.size * len(c.columns) + w.globals.size
            for c, w in zip(self.components, self.weights, strict=True)
        )
        return own + sum(array.size for array in self.kept.arrays.values())

    def header(self) -> dict[str, Any]:
        return {**super().header(), ENCODER: self.kept.header()}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return super().arrays() | {f"{ENCODER}.{name}": array for name, array in self.kept.stored().items()}


def with_scores(features: int, weights: Sequence[Weights]) -> list[Weights]:
    """Return weights with a row more for each column of each component: 1 in its own column."""
    columns = [one.shape[1] for one in weights]
    tables = room(features + sum(columns), columns)
    at = features
    for table, one in zip(tables, weights, strict=True):
        table[:features] = one.features
        table[at : at + table.shape[1]] = np.eye(table.shape[1], dtype=np.float32)
        at += table.shape[1]
    return [Weights(table, one.globals) for one, table in zip(weights, tables, strict=True)]


def with_values(rows: SparseRows, scores: Floats32) -> SparseRows:
    """Return rows with scores ``[row, column]`` as values of further features, after all others.

    Examples
    --------
    >>> rows = SparseRows(np.array([0, 2]), np.array([0, 1, 1]), np.array([0], np.uint32), 1)
    >>> made = with_values(rows, np.array([[0.5, 2.0], [3.0, 4.0]], np.float32))
    >>> made.ids.tolist(), made.values.tolist(), made.row_ptr.tolist()
    ([0, 1, 2, 1, 2], [1.0, 0.5, 2.0, 3.0, 4.0], [0, 3, 5])
    """
    count, width = scores.shape
    old = np.asarray(rows.row_ptr)
    ptr = old + width * np.arange(count + 1)
    ids = np.empty(int(ptr[-1]), np.uint32)
    values = np.ones(len(ids), np.float32)
    new = (ptr[1:, None] - width) + np.arange(width)
    places = np.ones(len(ids), np.bool_)
    places[new] = False
    ids[places] = rows.ids
    if rows.values is not None:
        values[places] = rows.values
    ids[new] = rows.width + np.arange(width, dtype=np.uint32)
    values[new] = scores
    return SparseRows(rows.group_ptr, ptr, ids, rows.width + width, values)
