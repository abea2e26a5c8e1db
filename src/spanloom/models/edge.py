"""EDGE (Muis & Lu 2017): separators as parallel edges of a multigraph, one graph per type.

    score(y) = Σ_g w[y_g] · f(g),   y_g one of the eight separators at gap g

Each token has two nodes, I (part of a mention) and O. A separator at the gap between two tokens is an edge between
their nodes: X joins O to O, S joins O to I, E joins I to O, and ES, C, CS, EC, ECS are five parallel edges from I to I.
Holds nested mentions, also of one type; those of one type that cross are read as nested. There is exactly one path
per separator sequence, so that Z is exact. Training and decoding cost O(n T).
"""

from __future__ import annotations

from dataclasses import dataclass

from spanloom._native import EdgeStructure
from spanloom.models.per_type import PerType
from spanloom.models.separators import SeparatorComponent


class EdgeComponent(SeparatorComponent):
    """The multigraph of one type."""

    def __init__(self, type_: str) -> None:
        super().__init__(type_)
        self._structure = EdgeStructure()

    @property
    def structure(self) -> EdgeStructure:
        return self._structure


@dataclass(frozen=True)
class Edge(PerType):
    """One multigraph per type."""

    name = "edge"
    sites = "gaps"
    holds = "contiguous mentions that may nest; those of one type that cross are read as nested"

    def component(self, type_: str) -> EdgeComponent:
        return EdgeComponent(type_)
