"""What of a sentence is annotated, where that is not all of it."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from spanloom.corpus.mention import Mention, Part, Parts


@dataclass(frozen=True, slots=True)
class Known:
    """What of a sentence is annotated; the rest is unknown.

    Every mention of these labels that shares a token with these ranges is listed among the sentence's mentions. The
    sentence may list other mentions too: they are there, but others like them may be missing.

    Parameters
    ----------
    labels
        The labels that were annotated; None: all.
    ranges
        Half-open token ranges, ascending; None: the whole sentence.

    Examples
    --------
    >>> known = Known(labels=("DNA",), ranges=((0, 3),))
    >>> known.covers(Mention("DNA", ((2, 5),))), known.covers(Mention("DNA", ((3, 5),)))
    (True, False)
    >>> known.agrees([Mention("RNA", ((0, 1),))], listed=[]), known.agrees([Mention("DNA", ((0, 1),))], listed=[])
    (True, False)
    """

    labels: tuple[str, ...] | None = None
    ranges: Parts | None = None

    def __post_init__(self) -> None:
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(dict.fromkeys(self.labels)))
        if self.ranges is not None:
            ranges = tuple((int(start), int(end)) for start, end in self.ranges)
            at = 0
            for start, end in ranges:
                if not at <= start < end:
                    raise ValueError(
                        f"known ranges must be half-open, ascending and apart; ({start}, {end}) is not, after {at}"
                    )
                at = end
            object.__setattr__(self, "ranges", ranges)

    def has_label(self, label: str) -> bool:
        """Whether mentions of this label were annotated."""
        return self.labels is None or label in self.labels

    def complete(self, labels: Set[str]) -> bool:
        """Whether mentions of these labels were annotated in all of the sentence."""
        return self.ranges is None and all(map(self.has_label, labels))

    def covers(self, mention: Mention) -> bool:
        """Whether the mention would be listed if it were there."""
        return self.has_label(mention.label) and (
            self.ranges is None or any(overlap(part, area) for part in mention.parts for area in self.ranges)
        )

    def agrees(self, mentions: Iterable[Mention], listed: Iterable[Mention]) -> bool:
        """Whether a set of mentions can be all of a sentence, given those that its annotation lists."""
        found, given = set(mentions), set(listed)
        return given <= found and not any(map(self.covers, found - given))

    def tokens(self, n: int) -> list[bool]:
        """Return for each of ``n`` tokens whether it lies in the ranges."""
        inside = [self.ranges is None] * n
        for start, end in self.ranges or ():
            inside[start:end] = [True] * (min(end, n) - start)
        return inside

    def within(self, start: int, end: int) -> Known:
        """Return what is known of the tokens from ``start`` to ``end``, counted from ``start``."""
        if self.ranges is None:
            return self
        cut = ((max(s, start) - start, min(e, end) - start) for s, e in self.ranges)
        return Known(self.labels, tuple((s, e) for s, e in cut if s < e))


def overlap(one: Part, other: Part) -> bool:
    """Whether two half-open ranges share a position.

    Examples
    --------
    >>> overlap((0, 3), (2, 4)), overlap((0, 3), (3, 4))
    (True, False)
    """
    return one[0] < other[1] and other[0] < one[1]
