"""What of a sentence is annotated, where that is not all of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from spanloom.corpus.mention import Mention, Part, Parts, reading_order

HEAVIEST = 1e6
"""The most that a sentence of a teacher counts beside one that is annotated."""


@dataclass(frozen=True, slots=True)
class Believed:
    """What a teacher believes of a sentence: mention sets, each with a probability.

    Parameters
    ----------
    sets
        Probabilities above 0, which add up to 1, and the mentions of each set.
    weight
        How much the sentence counts beside one that is annotated; above 0, at most ``HEAVIEST``.
    """

    sets: tuple[tuple[float, tuple[Mention, ...]], ...]
    weight: float = 1.0

    def __post_init__(self) -> None:
        total = math.fsum(p for p, _ in self.sets)
        if not all(p > 0 for p, _ in self.sets) or abs(total - 1) > 1e-6:
            raise ValueError(f"probabilities of mention sets are above 0 and add up to 1; these add up to {total:g}")
        if not 0 < self.weight <= HEAVIEST:
            raise ValueError(
                f"the weight of what is believed is a number above 0, at most {HEAVIEST:g}, not {self.weight!r}"
            )

    @classmethod
    def drawn(cls, samples: Sequence[Iterable[Mention]], weight: float = 1.0) -> Believed:
        """Return the shares of mention sets that were drawn.

        Examples
        --------
        >>> gene = Mention("gene", ((0, 1),))
        >>> [(p, len(own)) for p, own in Believed.drawn([[gene], [], [gene], [gene]]).sets]
        [(0.75, 1), (0.25, 0)]
        """
        times = Counter(tuple(sorted((Mention(m.label, m.parts) for m in own), key=reading_order)) for own in samples)
        shares = sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))
        return cls(tuple((count / len(samples), own) for own, count in shares), weight)

    @property
    def best(self) -> tuple[Mention, ...]:
        """The most probable set."""
        return max(self.sets, key=lambda pair: pair[0])[1]


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
    believed
        What a teacher believes of the sentence. Then nothing of it is annotated, and the sentence lists no mentions.

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
    believed: Believed | None = None

    def __post_init__(self) -> None:
        if isinstance(self.labels, str):
            raise ValueError(f"known labels are a list of labels, not {self.labels!r}; one alone is ({self.labels!r},)")
        if self.believed is not None and not isinstance(self.believed, Believed):
            raise ValueError(f"believed is a spanloom.corpus.Believed, not {type(self.believed).__name__}")
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
        if self.believed is not None and (self.labels != () or self.ranges is not None):
            raise ValueError("a sentence of which something is believed has nothing annotated: labels=(), no ranges")

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
        if self.believed is not None:
            moved = ((p, tuple(m.shifted(-start) for m in own)) for p, own in self.believed.sets)
            return Known(self.labels, None, Believed(tuple(moved), self.believed.weight))
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
