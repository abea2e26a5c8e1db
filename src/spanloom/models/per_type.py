"""Models with one component per type of mention: types share features, and weights if wanted, but no structure."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from spanloom.base.errors import ModelFileError
from spanloom.base.parameters import check_number
from spanloom.corpus.mention import Mention
from spanloom.models.base import Mentions
from spanloom.models.component import Component
from spanloom.models.structured import StructuredModel
from spanloom.schemes.flat import apart, first_discontinuous, first_misfit, flatten

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class PerType(StructuredModel):
    """Components by type, the most frequent type first. Holds contiguous mentions; what of each other, types decide.

    Parameters
    ----------
    share
        How much the weights of types have in common: they are ``own + √share · common``, with the same L2 penalty on
        both, and all types learn together. 0: every type learns by itself. It helps where data are few.
    """

    share: float = field(default=0.0, kw_only=True)

    def check(self) -> None:
        super().check()
        check_number("share", self.share, low=0)

    @property
    def shared(self) -> float:
        return float(self.share)

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
        settings = {name: value for name, value in self.to_json().items() if name != "name"}
        return {**settings, "types": [next(iter(c.types)) for c in components]}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> tuple[Self, list[Component]]:
        types = header.get("types")
        if not isinstance(types, list) or not types or not all(isinstance(t, str) for t in types):
            raise ModelFileError(f"the types of the model are damaged: {types!r:.80}")
        model = cls._of(header)
        return model, [model.component(t) for t in types]

    @classmethod
    def _of(cls, header: Mapping[str, Any]) -> Self:
        """Make the model from its settings in the header."""
        return cls(**{name: header[name] for name in cls.parameters() if name in header})


@dataclass(frozen=True)
class FlatPerType(PerType):
    """Components by type, each of which holds mentions that do not overlap."""

    holds = "contiguous mentions; those of one type do not overlap"

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        for label in dict.fromkeys(m.label for m in mentions):
            own = [i for i, m in enumerate(mentions) if m.label == label]
            found = first_misfit([mentions[i] for i in own])
            if found is not None:
                return own[found[0]], found[1]
        return None

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        kept: list[Mention] = []
        lost: list[Mention] = []
        for label in dict.fromkeys(m.label for m in mentions):
            held, gone = flatten([m for m in mentions if m.label == label], keep)
            kept += held
            lost += gone
        return sorted(kept), sorted(lost)
