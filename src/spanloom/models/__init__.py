"""The models: one file each, with its sites, columns, graph and scheme."""

from spanloom.models.base import Component, Model, Shapes, Standalone
from spanloom.models.chain import Chain
from spanloom.models.chains import Chains
from spanloom.models.dgm import DependencyGuided, SingleArc
from spanloom.models.edge import Edge
from spanloom.models.hypergraph import Hypergraph
from spanloom.models.memm import MaximumEntropyMarkov
from spanloom.models.multilabel import Multilabel
from spanloom.models.semimarkov import SemiMarkov
from spanloom.models.spans import NestedGuided, Spans
from spanloom.models.state import State
from spanloom.models.weak import WeakSemiMarkov

MODELS: dict[str, type[Model]] = {
    model.name: model
    for model in (
        Chain,
        Chains,
        MaximumEntropyMarkov,
        Edge,
        State,
        Hypergraph,
        SemiMarkov,
        WeakSemiMarkov,
        DependencyGuided,
        SingleArc,
        Spans,
        NestedGuided,
        Multilabel,
    )
}
"""The models by the name that ``Recognizer(model=…)`` takes."""

__all__ = [
    "MODELS",
    "Chain",
    "Chains",
    "Component",
    "DependencyGuided",
    "Edge",
    "Hypergraph",
    "MaximumEntropyMarkov",
    "Model",
    "Multilabel",
    "NestedGuided",
    "SemiMarkov",
    "Shapes",
    "SingleArc",
    "Spans",
    "Standalone",
    "State",
    "WeakSemiMarkov",
]
