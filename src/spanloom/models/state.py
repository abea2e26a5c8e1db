"""STATE (Muis & Lu 2017): a linear chain over separators, one chain per type.

    score(y) = Σ_g w[y_g] · f(g) + Σ_g transition[y_{g-1}, y_g],   y_g one of the eight separators at gap g

Two neighbouring separators must agree on whether the token between them is part of a mention; other neighbours do not
exist. Holds what EDGE holds, and knows more about neighbours, at O(8² n T).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanloom._native import ChainStructure
from spanloom.base.arrays import Cells
from spanloom.corpus.mention import Mention
from spanloom.models.component import pair_names
from spanloom.models.per_type import PerType
from spanloom.models.separators import SeparatorComponent
from spanloom.schemes.separators import SEPARATORS
from spanloom.schemes.words import short_separator


class StateComponent(SeparatorComponent):
    """The chain of one type."""

    @property
    def structure(self) -> ChainStructure:
        return self._chain

    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        gaps = self.separators(mentions, n)
        sites = np.arange(n + 1, dtype=np.int32) * np.int32(8) + gaps
        return np.concatenate([sites, np.int32(8 * (n + 1)) + gaps[:-1] * np.int32(8) + gaps[1:]])

    def global_names(self) -> list[str]:
        names = [f"{self.type} {short_separator(separator)}" for separator in range(len(SEPARATORS))]
        return pair_names(names)


@dataclass(frozen=True)
class State(PerType):
    """One chain of separators per type."""

    name = "state"
    sites = "gaps"
    holds = "contiguous mentions that may nest; those of one type that cross are read as nested"

    def component(self, type_: str) -> StateComponent:
        return StateComponent(type_)
