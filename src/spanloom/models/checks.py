"""What is said before a training of components, not after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spanloom.base.errors import ParameterError
from spanloom.decisions import penalty
from spanloom.learning import StructureTrainer
from spanloom.models.base import Model
from spanloom.models.component import Component


def labels_of(components: Sequence[Component]) -> frozenset[str]:
    """Return the labels of the mentions that components find."""
    return frozenset().union(*(component.types for component in components))


def structure_trainer(trainer: object) -> StructureTrainer:
    """Return a trainer that learns structures; ``ParameterError`` for others."""
    if not isinstance(trainer, StructureTrainer):
        raise ParameterError(f"the trainer {trainer!r} does not learn structures")
    return trainer


def check_chosen(model: Model, components: Sequence[Component], wanted: penalty.Wanted) -> None:
    """Raise ``ParameterError`` for a mention penalty that could not be used after the training."""
    if wanted == "auto-by-label" and any(len(c.types) > 1 for c in components):
        raise ParameterError(
            f"labels share a component in the model {model.name!r}: their penalties cannot be chosen apart; "
            'use penalty="auto"'
        )
    if isinstance(wanted, Mapping):
        penalty.by_label(wanted, sorted(labels_of(components)))
