"""The models: one file each, with its sites, columns, graph and scheme."""

from spanloom.models.base import Component, Model, Standalone
from spanloom.models.chain import Chain

MODELS: dict[str, type[Model]] = {model.name: model for model in (Chain,)}
"""The models by the name that ``Recognizer(model=…)`` takes."""

__all__ = ["MODELS", "Chain", "Component", "Model", "Standalone"]
