"""The models: one file each. A model enters by being defined in a file of this folder."""

from importlib import import_module
from pkgutil import iter_modules

from spanloom.models.base import MODELS, Model, Task, named
from spanloom.models.cascade import Cascade
from spanloom.models.chain import Chain
from spanloom.models.chains import Chains
from spanloom.models.component import Component, Shapes
from spanloom.models.dgm import DependencyGuided, SingleArc
from spanloom.models.edge import Edge
from spanloom.models.hypergraph import Hypergraph
from spanloom.models.joined import Joined
from spanloom.models.layered import Innermost, Layered, Outermost
from spanloom.models.memm import Memm
from spanloom.models.mixture import Mixture
from spanloom.models.multilabel import Multilabel
from spanloom.models.segmental import Segmental
from spanloom.models.semimarkov import SemiMarkov
from spanloom.models.spans import NestedGuided, Spans
from spanloom.models.state import State
from spanloom.models.tagger import Tagger
from spanloom.models.trained import Trained
from spanloom.models.tree import Tree
from spanloom.models.weak import WeakSemiMarkov

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "MODELS",
    "Cascade",
    "Chain",
    "Chains",
    "Component",
    "DependencyGuided",
    "Edge",
    "Hypergraph",
    "Innermost",
    "Joined",
    "Layered",
    "Memm",
    "Mixture",
    "Model",
    "Multilabel",
    "NestedGuided",
    "Outermost",
    "Segmental",
    "SemiMarkov",
    "Shapes",
    "SingleArc",
    "Spans",
    "State",
    "Tagger",
    "Task",
    "Trained",
    "Tree",
    "WeakSemiMarkov",
    "named",
]
