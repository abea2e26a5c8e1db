"""What STATE and EDGE share: one separator at every gap, one component per type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention
from spanloom.models.base import Cells, Component, Shapes
from spanloom.schemes.partial import Mask, allowed_separators
from spanloom.schemes.separators import SEPARATORS, START, encode_separators, read_separators


class SeparatorComponent(Component):
    """Sites are gaps, columns the eight separators; exactly one of them is used at each gap."""

    columns = SEPARATORS

    def __init__(self, type_: str) -> None:
        self.type = type_
        self.types = frozenset({type_})

    def separators(self, mentions: Sequence[Mention], n: int) -> npt.NDArray[np.int32]:
        """Return the separator of each gap."""
        return encode_separators([m.parts[0] for m in mentions], n)

    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        return np.arange(n + 1, dtype=np.int32) * np.int32(8) + self.separators(mentions, n)

    def allowed(self, mentions: Sequence[Mention], known: Known, n: int) -> Mask:
        return allowed_separators([m.parts[0] for m in mentions], known, self.type, n)

    def decode(self, cells: Cells, n: int) -> list[Mention]:
        return self.decode_all(cells, np.array([0, n + 1], np.int64), Shapes([n]))[0]

    def decode_all(self, cells: Cells, ptr: npt.NDArray[np.int64], shapes: Shapes) -> list[list[Mention]]:
        found: list[list[Mention]] = [[] for _ in shapes.lengths]
        for number, start, end in read_separators(cells & 7, ptr[:-1]):
            found[number].append(Mention(self.type, ((start, end),)))
        return found

    def starts(self) -> list[str | None]:
        return [self.type if separator & START else None for separator in range(8)]
