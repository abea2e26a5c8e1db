"""Mentions as typed subsets of the tokens: the scheme that holds everything.

A mention is a type and its tokens, ascending. What a set of mentions never does can be asked of a model as a
restriction (McDonald, Crammer & Pereira 2005, section 3.2.1):

=================  ====================================================================
contiguous         no mention has a gap
no_overlap         no two mentions share a token
no_embedding       no mention has all tokens of another (whatever their labels)
no_self_embedding  no mention has all tokens of another of its own label
=================  ====================================================================

The paper's data have one label, for which the last two are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise

from spanloom.corpus.mention import Mention

RESTRICTIONS = ("contiguous", "no_overlap", "no_embedding", "no_self_embedding")
Subset = tuple[int, list[int]]


def encode_subsets(mentions: Iterable[Mention], types: Mapping[str, int]) -> list[Subset]:
    """Return (number of the type, tokens) of every mention.

    Examples
    --------
    >>> encode_subsets([Mention("PER", ((0, 1), (3, 4)))], {"PER": 0})
    [(0, [0, 3])]
    """
    return [(types[m.label], list(m.tokens)) for m in mentions]


def decode_subset(label: str, tokens: Sequence[int], prob: float | None = None) -> Mention:
    """Return the mention of these tokens.

    Examples
    --------
    >>> decode_subset("PER", [2, 5, 6]).parts
    ((2, 3), (5, 7))
    """
    return Mention(label, tuple((t, t + 1) for t in tokens), prob)


def widest_gap(mention: Mention) -> int:
    """Return how many tokens the widest gap of a mention skips; 0 if it has none.

    Examples
    --------
    >>> widest_gap(Mention("PER", ((0, 1), (3, 4), (5, 6))))
    2
    """
    return max((b[0] - a[1] for a, b in pairwise(mention.parts)), default=0)


def conflict(a: Mention, b: Mention, restrictions: Iterable[str]) -> str | None:
    """Say what two mentions of one sentence do that the restrictions forbid, or None.

    Examples
    --------
    >>> conflict(Mention("DNA", ((0, 3),)), Mention("protein", ((0, 2),)), ["no_embedding"])
    'no_embedding'
    """
    for name in restrictions:
        if name == "no_overlap" and a.overlaps(b):
            return name
        if name == "no_embedding" and (a.contains(b) or b.contains(a)):
            return name
        if name == "no_self_embedding" and a.label == b.label and (a.contains(b) or b.contains(a)):
            return name
    return None


def kept_restrictions(sentences: Iterable[Sequence[Mention]]) -> tuple[str, ...]:
    """Return the restrictions that all of the sentences keep.

    Examples
    --------
    >>> kept_restrictions([[Mention("PER", ((0, 2),)), Mention("PER", ((1, 3),))]])
    ('contiguous', 'no_embedding', 'no_self_embedding')
    """
    kept = set(RESTRICTIONS)
    for mentions in sentences:
        if any(m.discontinuous for m in mentions):
            kept.discard("contiguous")
        for a, b in combinations(mentions, 2):
            if kept <= {"contiguous"}:
                break
            while (name := conflict(a, b, kept)) is not None:
                kept.discard(name)
    return tuple(name for name in RESTRICTIONS if name in kept)
