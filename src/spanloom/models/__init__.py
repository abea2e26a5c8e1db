"""The models: one file each, with its sites, columns, graph and scheme."""

from spanloom.models.base import Component, Model, Shapes, Standalone
from spanloom.models.chain import Chain
from spanloom.models.dgm import DependencyGuided, SingleArc
from spanloom.models.semimarkov import SemiMarkov

MODELS: dict[str, type[Model]] = {model.name: model for model in (Chain, SemiMarkov, DependencyGuided, SingleArc)}
"""The models by the name that ``Recognizer(model=…)`` takes."""

__all__ = [
    "MODELS",
    "Chain",
    "Component",
    "DependencyGuided",
    "Model",
    "SemiMarkov",
    "Shapes",
    "SingleArc",
    "Standalone",
]
