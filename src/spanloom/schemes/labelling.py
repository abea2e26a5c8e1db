"""Labellings: how mentions become one label a token, behind one interface for all flat schemes and BIOHD."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from spanloom.corpus.mention import ORDERS, Mention
from spanloom.schemes.biohd import BIOHD, Biohd, lost
from spanloom.schemes.flat import first_misfit, flatten
from spanloom.schemes.maps import Representations
from spanloom.schemes.segments import Segments

Labels = Segments | Biohd
"""The labels of a model, and the maps between them and mentions."""


class Labelling(Protocol):
    """A way to label tokens, before the labels are known."""

    @property
    def name(self) -> str:
        """Of the scheme whose labels the model has."""

    @property
    def representations(self) -> Representations | None:
        """The main representation and further ones, where there are such."""

    @property
    def holds(self) -> str:
        """What mention sets it can hold, in words."""

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        """Return the index of the first mention that it cannot hold beside the others, and why; or None."""

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        """Split mentions into those that it holds together, and the rest."""

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        """Return the mentions that would be read as something else."""

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> Labels:
        """Return the labels of (mentions, number of tokens) pairs."""

    def of(self, labels: Sequence[str]) -> Labels:
        """Return these labels."""


@dataclass(frozen=True, slots=True)
class FlatLabelling:
    """Segment representations: contiguous mentions that do not overlap."""

    representations: Representations
    holds: str = "contiguous mentions that do not overlap"

    @property
    def name(self) -> str:
        return self.representations.main

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return first_misfit(mentions)

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        return flatten(mentions, keep)

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        return merged(mentions) if self.name == "IO" else []

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> Segments:
        return Segments.learn(self.name, sentences)

    def of(self, labels: Sequence[str]) -> Segments:
        return Segments(self.name, labels)


@dataclass(frozen=True, slots=True)
class BiohdLabelling:
    """BIOHD: also discontinuous mentions, as far as its labels tell them apart."""

    name: str = BIOHD
    representations: None = None
    holds: str = "mentions that do not overlap, and discontinuous ones that BIOHD can tell apart"

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        gone = lost(mentions)
        return (mentions.index(gone[0]), f"does not come back from its {BIOHD} labels") if gone else None

    def reduce(self, mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
        kept: list[Mention] = []
        for mention in sorted(mentions, key=ORDERS[keep]):
            if not lost(sorted([*kept, mention])):
                kept.append(mention)
        return sorted(kept), sorted(set(mentions) - set(kept))

    def misread(self, mentions: Sequence[Mention]) -> list[Mention]:
        return []

    def learn(self, sentences: Sequence[tuple[Sequence[Mention], int]]) -> Biohd:
        return Biohd.learn(sentences)

    def of(self, labels: Sequence[str]) -> Biohd:
        return Biohd(labels)


def labelling(scheme: str | Sequence[str]) -> Labelling:
    """Return the labelling of a name, or of several representations; ``ParameterError`` if there is none."""
    return BiohdLabelling() if scheme == BIOHD else FlatLabelling(Representations.parse(scheme))


def merged(mentions: Sequence[Mention]) -> list[Mention]:
    """Return mentions that follow one of their own label at once: without marks of borders they are read as one.

    Examples
    --------
    >>> [m.parts for m in merged([Mention("a", ((0, 1),)), Mention("a", ((1, 3),)), Mention("b", ((3, 4),))])]
    [((0, 1),), ((1, 3),)]
    """
    starts = {(m.label, m.start) for m in mentions}
    ends = {(m.label, m.end) for m in mentions}
    return [m for m in mentions if (m.label, m.end) in starts or (m.label, m.start) in ends]
