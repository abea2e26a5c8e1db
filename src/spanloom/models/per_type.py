"""Models with one component per type of mention: types share features, but neither weights nor structure."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spanloom.base.errors import ModelFileError
from spanloom.corpus.mention import Mention
from spanloom.models.base import Component, Model

if TYPE_CHECKING:
    from typing_extensions import Self


class PerType(Model):
    """Components by type, the most frequent type first. Holds contiguous mentions; what of each other, types decide."""

    @abstractmethod
    def component(self, type_: str) -> Component:
        """Make the component of one type."""

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> None:
        counts = Counter(m.label for mentions, _ in sentences for m in mentions)
        self.components = [self.component(t) for t in sorted(counts, key=lambda t: (-counts[t], t))]

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        broken = (i for i, m in enumerate(mentions) if m.discontinuous)
        return next(((i, f"has {len(mentions[i].parts)} parts") for i in broken), None)

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        whole = [m for m in mentions if not m.discontinuous]
        return whole, [m for m in mentions if m.discontinuous]

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        n = max((m.end for m in mentions), default=0)
        lost: list[Mention] = []
        for label in {m.label for m in mentions}:
            own = [m for m in mentions if m.label == label]
            if len(own) > 2 or (len(own) == 2 and own[0].overlaps(own[1])):
                component = self.component(label)
                cells = component.encode(own, n)
                size = (n + (self.sites == "gaps")) * len(component.columns)
                lost.extend(set(own) - set(component.decode(np.sort(cells[cells < size]), n)))
        return sorted(lost)

    def header(self) -> dict[str, Any]:
        return {"types": [next(iter(c.types)) for c in self.components]}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        types = header.get("types")
        if not isinstance(types, list) or not types or not all(isinstance(t, str) for t in types):
            raise ModelFileError(f"the types of the model are damaged: {types!r:.80}")
        model = cls()
        model.components = [model.component(t) for t in types]
        return model
