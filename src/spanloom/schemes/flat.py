"""What a flat scheme can hold, and how to make a mention set flat."""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import ORDERS, Mention

CHOICES = tuple(ORDERS)


def first_misfit(mentions: Sequence[Mention]) -> tuple[int, str] | None:
    """Return the index of the first mention that a flat scheme cannot hold, and why; None if it holds all.

    Examples
    --------
    >>> first_misfit([Mention("a", ((0, 2),)), Mention("b", ((1, 3),))])
    (1, 'crosses mention 0: a ((0, 2),)')
    """
    order = sorted(range(len(mentions)), key=lambda i: (mentions[i].start, -mentions[i].end, i))
    latest = -1  # the mention that reaches farthest so far
    for i in order:
        mention = mentions[i]
        if mention.discontinuous:
            return i, f"has {len(mention.parts)} parts"
        if latest >= 0 and mention.start < mentions[latest].end:
            other = mentions[latest]
            how = "crosses" if mention.crosses(other) else "is nested with"
            return i, f"{how} mention {latest}: {other.label} {other.parts}"
        if latest < 0 or mention.end > mentions[latest].end:
            latest = i
    return None


def first_discontinuous(mentions: Sequence[Mention]) -> tuple[int, str] | None:
    """Return the index of the first mention with several parts, and how many; None if there is none.

    Examples
    --------
    >>> first_discontinuous([Mention("a", ((0, 2),)), Mention("b", ((1, 2), (3, 4)))])
    (1, 'has 2 parts')
    """
    return next(((i, f"has {len(m.parts)} parts") for i, m in enumerate(mentions) if m.discontinuous), None)


def apart(mentions: Sequence[Mention]) -> tuple[list[Mention], list[Mention]]:
    """Split mentions into the contiguous and the discontinuous ones."""
    return [m for m in mentions if not m.discontinuous], [m for m in mentions if m.discontinuous]


def overlapping(mentions: Sequence[Mention]) -> bool:
    """Whether two of the mentions share a token.

    Examples
    --------
    >>> overlapping([Mention("a", ((0, 2),)), Mention("b", ((1, 3),))])
    True
    """
    tokens = [token for mention in mentions for token in mention.tokens]
    return len(set(tokens)) < len(tokens)


def flatten(mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
    """Split mentions into those that a flat scheme holds together, and the rest.

    Parameters
    ----------
    mentions
        Of one sentence.
    keep
        Which of overlapping mentions stay: ``"longest"`` (ties: the first), ``"outermost"`` (the one that no other
        contains) or ``"innermost"`` (the one that contains no other). Discontinuous mentions never stay.

    Examples
    --------
    >>> inner, outer = Mention("DNA", ((0, 1),)), Mention("protein", ((0, 3),))
    >>> flatten([inner, outer], "longest") == ([outer], [inner])
    True
    """
    if keep not in ORDERS:
        raise ParameterError(f"keep must be one of {', '.join(CHOICES)}, got {keep!r}")
    kept: list[Mention] = []
    lost: list[Mention] = []
    for mention in sorted(mentions, key=ORDERS[keep]):
        if mention.discontinuous or any(mention.overlaps(other) for other in kept):
            lost.append(mention)
        else:
            kept.append(mention)
    return sorted(kept), sorted(lost)
