"""One linear chain per type: mentions of different types may overlap, those of one type may not.

    score(y) = Σ_types Σ_t w[y_t] · f(t) + Σ_t transition[y_{t-1}, y_t]

The LCRF (multiple) of Muis & Lu (2017). Each chain is that of ``models.chain`` with the labels of one type. O(n T).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import SCHEMES
from spanloom.models.chain import ChainComponent, merged
from spanloom.models.per_type import PerType
from spanloom.schemes import Representations, Segments, first_misfit, flatten


class Chains(PerType):
    """Chains by type.

    Parameters
    ----------
    scheme, constrained
        As in ``Chain``.
    """

    name = "chains"
    sites = "tokens"
    holds = "contiguous mentions; those of one type do not overlap"

    def __init__(self, scheme: str | Sequence[str] = "IOBES", constrained: bool = True) -> None:
        self.representations = Representations.parse(scheme)
        self.scheme = self.representations.main
        self.constrained = constrained

    def component(self, type_: str) -> ChainComponent:
        labels = [f"{prefix}-{type_}" for prefix in SCHEMES[self.scheme].prefixes]
        return ChainComponent(Segments(self.scheme, labels), self.constrained, self.representations.others)

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

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        return merged(mentions) if self.scheme == "IO" else []

    def header(self) -> dict[str, Any]:
        return {**super().header(), "scheme": self.scheme, "constrained": self.constrained}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Chains:
        types = header.get("types")
        if not isinstance(types, list) or not types or not all(isinstance(t, str) for t in types):
            raise ModelFileError(f"the types of the model are damaged: {types!r:.80}")
        try:
            model = cls(header["scheme"], bool(header["constrained"]))
        except (KeyError, TypeError, ParameterError) as error:
            raise ModelFileError(f"the scheme of the chains is damaged: {error}") from None
        model.components = [model.component(t) for t in types]
        return model
