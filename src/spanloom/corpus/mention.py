"""A mention: a labelled set of tokens, given as half-open parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import Any

Part = tuple[int, int]
Parts = tuple[Part, ...]


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """A labelled set of tokens.

    Parameters
    ----------
    label
        The type, e.g. ``"protein"``.
    parts
        Half-open token ranges, ascending. Touching parts are merged, so that equal sets of tokens compare equal.
    prob
        The model's probability of this mention, if it was asked for. Not part of equality.
    attributes
        What the source says about the mention beside its label. Not part of equality.

    Examples
    --------
    >>> Mention("DNA", ((0, 2), (2, 4)))
    Mention(label='DNA', parts=((0, 4),), prob=None)
    >>> Mention("protein", ((0, 2), (5, 6))).discontinuous
    True
    """

    label: str
    parts: Parts
    prob: float | None = field(default=None, compare=False)
    attributes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        parts = self.parts
        try:
            if len(parts) == 1:
                start, end = parts[0]
                if 0 <= start < end:
                    if type(parts) is not tuple or type(parts[0]) is not tuple:
                        object.__setattr__(self, "parts", ((start, end),))
                    return
        except (TypeError, ValueError):
            pass  # no pair of numbers, which is told below
        object.__setattr__(self, "parts", _canonical(parts))

    @property
    def start(self) -> int:
        """The first token."""
        return self.parts[0][0]

    @property
    def end(self) -> int:
        """One past the last token."""
        return self.parts[-1][1]

    @property
    def discontinuous(self) -> bool:
        """Whether the mention has more than one part."""
        return len(self.parts) > 1

    @property
    def tokens(self) -> tuple[int, ...]:
        """The token indices, ascending."""
        return tuple(i for start, end in self.parts for i in range(start, end))

    def __len__(self) -> int:
        return sum(end - start for start, end in self.parts)

    def shifted(self, by: int) -> Mention:
        """Return the same mention with every index moved by ``by``."""
        return Mention(self.label, tuple([(s + by, e + by) for s, e in self.parts]), self.prob, self.attributes)

    def contains(self, other: Mention) -> bool:
        """Whether every token of ``other`` is a token of this mention (labels do not matter)."""
        if other.start < self.start or other.end > self.end:
            return False
        if len(self.parts) == 1:
            return True
        return set(other.tokens) <= set(self.tokens)

    def overlaps(self, other: Mention) -> bool:
        """Whether the two share a token."""
        if other.start >= self.end or self.start >= other.end:
            return False
        if len(self.parts) == len(other.parts) == 1:
            return True
        return not set(self.tokens).isdisjoint(other.tokens)

    def crosses(self, other: Mention) -> bool:
        """Whether the two share a token and neither contains the other."""
        return self.overlaps(other) and not self.contains(other) and not other.contains(self)


def reading_order(mention: Mention) -> tuple[int, int, str]:
    """By start, the longest first."""
    return mention.start, -mention.end, mention.label


ORDERS: dict[str, Callable[[Mention], tuple[Any, ...]]] = {
    "longest": lambda m: (-len(m), m.start, m.label),
    "outermost": lambda m: (m.start, -m.end, m.label),
    "innermost": lambda m: (m.end, -m.start, m.label),
}
"""Which of mentions that cannot stand together stay: the first in this order."""


def _canonical(parts: Iterable[Iterable[int]]) -> Parts:
    merged: list[Part] = []
    try:
        pairs = sorted((index(s), index(e)) for s, e in parts)
    except (TypeError, ValueError):
        raise ValueError(
            f"parts of a mention must be pairs of token numbers, such as ((0, 2),) or ((0, 1), (3, 4)), not {parts!r}"
        ) from None
    for start, end in pairs:
        if not 0 <= start < end:
            raise ValueError(f"a part must be a half-open range 0 <= start < end, not ({start}, {end})")
        if merged and start < merged[-1][1]:
            raise ValueError(f"parts {merged[-1]} and ({start}, {end}) of one mention share a position")
        if merged and start == merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    if not merged:
        raise ValueError("a mention needs at least one part")
    return tuple(merged)
