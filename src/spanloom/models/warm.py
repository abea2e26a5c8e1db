"""Warm starts: the weights of one trained model as the start of another, by the names of features and columns.

Data that grow bring new features, and other numbers for old ones. A weight is carried over where both models have its
feature and its column; all others start at zero. The optimum of a regularised likelihood is the same from any start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Floats, Floats32
from spanloom.learning import Weights
from spanloom.models.component import Component

if TYPE_CHECKING:
    from spanloom.models.trained import Trained


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a component that is about to be trained has weights for.

    Attributes
    ----------
    types, columns, global_names
        Of the component.
    known
        For each feature its number in the model to start from, or -1.
    more
        Names of what has weights besides features: histories of labels.
    """

    types: frozenset[str]
    columns: Sequence[str]
    known: npt.NDArray[np.int64]
    global_names: Sequence[str] = ()
    more: Sequence[str] = ()

    @classmethod
    def of(cls, component: Component, known: npt.NDArray[np.int64]) -> Wanted:
        """Return what a component needs of the model to start from, which has features by these numbers."""
        return cls(component.types, component.columns, known, component.global_names())


def carry(features: Floats32, columns: Sequence[str], known: npt.NDArray[np.int64], wanted: Sequence[str]) -> Floats32:
    """Return the weights ``[feature, column]`` of wanted columns for features by their numbers in ``features``.

    Examples
    --------
    >>> carry(np.array([[1, 2], [3, 4]], np.float32), ["B", "O"], np.array([1, -1, 0]), ["O", "I", "B"]).tolist()
    [[4.0, 0.0, 3.0], [0.0, 0.0, 0.0], [2.0, 0.0, 1.0]]
    """
    at = {name: k for k, name in enumerate(columns)}
    if list(columns) != list(wanted):  # a column of zeros stands for those that are new
        features = np.hstack([features, np.zeros((len(features), 1), np.float32)])
        features = features[:, [at.get(name, len(columns)) for name in wanted]]
    if not len(features):
        return np.zeros((len(known), len(wanted)), np.float32)
    found: Floats32 = np.take(features, known, axis=0, mode="clip")
    found[known < 0] = 0
    return found


def carry_globals(weights: Floats, names: Sequence[str], wanted: Sequence[str], size: int) -> Floats:
    """Return the weights of global cells by their names, zero where a name is new; ``size`` of them."""
    found = np.zeros(size)
    at = {name: k for k, name in enumerate(names)}
    for k, name in enumerate(wanted):
        if name in at:
            found[k] = weights[at[name]]
    return found


def carried(
    components: Sequence[Component], weights: Sequence[Weights], wanted: Wanted, global_cells: int
) -> Weights | None:
    """Return the weights to start from: those of the component that shares most labels; None if none shares any."""
    shared = [len(component.types & wanted.types) for component in components]
    if not any(shared):
        return None
    best = shared.index(max(shared))
    component, own = components[best], weights[best]
    return Weights(
        carry(own.features, component.columns, wanted.known, wanted.columns),
        carry_globals(own.globals, component.global_names(), wanted.global_names, global_cells),
    )


def further(before: Weights, now: Weights, by: float) -> Weights:
    """Return the weights that lie on from those before and those of now.

    Examples
    --------
    >>> one, two = (Weights(np.array([[w]], np.float32), np.array([3 * w])) for w in (1.0, 2.0))
    >>> further(one, two, 0.5).features.tolist(), further(one, two, 0.5).globals.tolist()
    ([[2.5]], [7.5])
    """
    features = now.features + np.float32(by) * (now.features - before.features)
    return Weights(features, now.globals + by * (now.globals - before.globals))


def share_known(start: Trained, trained: Trained) -> float:
    """Return the share of the features of a trained model that the one it started from has, part by part.

    None of a model of another kind, whose weights mean something else.
    """
    if start.model.name != trained.model.name:
        return 0.0
    pairs = list(zip(trained.parts, start.parts, strict=False))
    known = sum(int((part.extractor.numbers_in(old.extractor) >= 0).sum()) for part, old in pairs)
    return round(known / max(sum(part.extractor.size for part in trained.parts), 1), 6)
