"""Models with one component per type of mention: types share features, but neither weights nor structure."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spanloom.base.errors import ModelFileError
from spanloom.corpus.mention import Mention
from spanloom.models.base import Mentions
from spanloom.models.component import Component
from spanloom.models.structured import StructuredModel
from spanloom.schemes.flat import apart, first_discontinuous

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class PerType(StructuredModel):
    """Components by type, the most frequent type first. Holds contiguous mentions; what of each other, types decide."""

    @abstractmethod
    def component(self, type_: str) -> Component:
        """Make the component of one type."""

    def components(self, gold: Mentions, lengths: Sequence[int]) -> list[Component]:
        counts = Counter(m.label for mentions in gold for m in mentions)
        return [self.component(t) for t in sorted(counts, key=lambda t: (-counts[t], t))]

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return first_discontinuous(mentions)

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        return apart(mentions)

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

    def header(self, components: Sequence[Component]) -> dict[str, Any]:
        return {"types": [next(iter(c.types)) for c in components]}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> tuple[Self, list[Component]]:
        types = header.get("types")
        if not isinstance(types, list) or not types or not all(isinstance(t, str) for t in types):
            raise ModelFileError(f"the types of the model are damaged: {types!r:.80}")
        model = cls._of(header)
        return model, [model.component(t) for t in types]

    @classmethod
    def _of(cls, header: Mapping[str, Any]) -> Self:
        """Make the model from the rest of the header."""
        return cls()
