"""A first-order chain over ready attributes: what CRFsuite calls a model.

    score(y) = Σ_t Σ_{(a, v) of item t} v · weight[a, y_t]  +  Σ_t transition[y_{t−1}, y_t]

Attributes are names with values that come with the items; nothing here knows how they are made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import AttributeTagger, ChainFeatures
from spanloom.base.arrays import Floats, Pointers

Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class ChainModel:
    """Labels, attributes and their weights.

    Attributes
    ----------
    labels, attributes
        Their names, by number.
    ptr, columns, weights
        Attribute ``a`` has the weights ``weights[ptr[a]:ptr[a + 1]]``, for the labels ``columns[ptr[a]:ptr[a + 1]]``.
    sources, targets, transitions
        The weights of pairs of neighbouring labels; other pairs have none, and score 0.
    """

    labels: list[str]
    attributes: list[str]
    ptr: Pointers
    columns: Numbers
    weights: Floats
    sources: Numbers
    targets: Numbers
    transitions: Floats

    @classmethod
    def of(cls, features: ChainFeatures, weights: Floats, attributes: Sequence[str], labels: list[str]) -> ChainModel:
        """Return the model that training has come to, without weights of 0 and attributes that have no other."""
        count = len(features) - features.transitions
        kept = np.flatnonzero(weights[:count])
        owner = np.repeat(np.arange(len(attributes)), np.diff(features.ptr))[kept]
        used, sizes = np.unique(owner, return_counts=True)
        pairs = np.flatnonzero(np.asarray(features.transition_of) >= 0)
        given = weights[count:]
        pairs, given = pairs[given != 0], given[given != 0]
        width = max(len(labels), 1)
        return cls(
            labels,
            [attributes[a] for a in used.tolist()],
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.asarray(features.labels)[kept],
            weights[kept],
            (pairs // width).astype(np.uint32),
            (pairs % width).astype(np.uint32),
            given,
        )

    @cached_property
    def tagger(self) -> AttributeTagger:
        """The model at work."""
        table = np.zeros((len(self.labels), len(self.labels)))
        table[self.sources, self.targets] = self.transitions
        return AttributeTagger(self.attributes, self.labels, self.ptr, self.columns, self.weights, table.ravel())

    @property
    def features(self) -> int:
        """How many weights there are."""
        return len(self.weights) + len(self.transitions)

    def state_features(self) -> dict[tuple[str, str], float]:
        """Return the weights of ``(attribute, label)``."""
        names = np.repeat(np.arange(len(self.attributes)), np.diff(self.ptr)).tolist()
        rows = zip(names, self.columns.tolist(), self.weights.tolist(), strict=True)
        return {(self.attributes[a], self.labels[y]): weight for a, y, weight in rows}

    def transition_features(self) -> dict[tuple[str, str], float]:
        """Return the weights of ``(label, next label)``."""
        rows = zip(self.sources.tolist(), self.targets.tolist(), self.transitions.tolist(), strict=True)
        return {(self.labels[x], self.labels[y]): weight for x, y, weight in rows}

    def families(self) -> Counter[str]:
        """Count attributes by what stands before their value, e.g. ``word.lower()`` of ``word.lower():the``.

        The value begins after the first ``=`` or ``:``, but for an offset in front (``-1:word.lower():the``)
        and a slice (``word[-3:]=ing``). An attribute without a value is a family of its own.
        """
        found = (_FAMILY.match(name) for name in self.attributes)
        return Counter(match[0] for match in found if match)

    def has_templates(self) -> bool:
        """Whether all attributes have the form of CRFsuite's templates: ``w[-1]|w[0]=the|rain``, ``__BOS__``."""
        named = [name for name in self.attributes if name not in ("__BOS__", "__EOS__")]
        return bool(named) and all(_TEMPLATE.match(name) for name in named)


_FAMILY = re.compile(r"([-+]?\d+:)?(?:\[[^][=]{0,20}]|[^=:])*")
_TEMPLATE = re.compile(r"[^][|=]+\[-?\d+](\|[^][|=]+\[-?\d+])*=")


def equal(a: ChainModel, b: ChainModel) -> bool:
    """Whether two models have the same names and the same weights, to the bit."""

    def same(name: str) -> bool:
        one: Any = getattr(a, name)
        other: Any = getattr(b, name)
        return one == other if isinstance(one, list) else bool(np.array_equal(one, other))

    return all(same(name) for name in ChainModel.__dataclass_fields__)
