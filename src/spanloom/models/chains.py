"""One linear chain per type: mentions of different types may overlap, those of one type may not.

    score(y) = Σ_types Σ_t w[y_t] · f(t) + Σ_t transition[y_{t-1}, y_t]

The LCRF (multiple) of Muis & Lu (2017). Each chain is that of ``models.chain`` with the labels of one type. O(n T).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import SCHEMES
from spanloom.models.chain import ChainComponent
from spanloom.models.component import Component
from spanloom.models.per_type import FlatPerType
from spanloom.schemes import Representations, Segments
from spanloom.schemes.labelling import merged

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Chains(FlatPerType):
    """Chains by type.

    Parameters
    ----------
    scheme, constrained
        As in ``Chain``, but without ``BIOHD``.
    share
        As in ``PerType``.
    """

    scheme: str | Sequence[str] = "IOBES"
    constrained: bool = True

    name = "chains"

    def check(self) -> None:
        super().check()
        Representations.parse(self.scheme)

    @property
    def representations(self) -> Representations:
        """The main representation and further ones."""
        return Representations.parse(self.scheme)

    def component(self, type_: str) -> ChainComponent:
        own = self.representations
        labels = [f"{prefix}-{type_}" for prefix in SCHEMES[own.main].prefixes]
        return ChainComponent(Segments(own.main, labels), self.constrained, own)

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        return merged(mentions) if self.representations.main == "IO" else []

    def header(self, components: Sequence[Component]) -> dict[str, Any]:
        own = {"scheme": self.representations.main, "constrained": self.constrained}
        return {**super().header(components), **own}

    @classmethod
    def _of(cls, header: Mapping[str, Any]) -> Self:
        try:
            return cls(header["scheme"], bool(header["constrained"]), share=header.get("share", 0.0))
        except (KeyError, TypeError, ParameterError) as error:
            raise ModelFileError(f"the scheme of the chains is damaged: {error}") from None
