"""Mentions and dependency trees: Jie, Muis and Lu (2017).

A *single arc* span is one word, or the words from one end of an arc to the other. A *valid span* is one word, or
the words under a chain of arcs, each beginning where the one before ends. Direction does not count.
"""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.corpus.mention import Mention


def arcs_to_right(heads: Sequence[str]) -> list[list[int]]:
    """Return for every word the words to its right that share an arc with it; heads are CoNLL-U's (``0``: root)."""
    arcs: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads):
        if head.isdecimal() and 0 < int(head) <= len(heads):
            a, b = sorted((word, int(head) - 1))
            if a < b:
                arcs[a].append(b)
    return arcs


def is_single_arc(mention: Mention, arcs: Sequence[Sequence[int]]) -> bool:
    """Whether a mention is one word or the span of one arc."""
    return not mention.discontinuous and (len(mention) == 1 or mention.end - 1 in arcs[mention.start])


def is_valid_span(mention: Mention, arcs: Sequence[Sequence[int]]) -> bool:
    """Whether a mention is one word or the span of a chain of arcs.

    Examples
    --------
    >>> arcs = arcs_to_right(["2", "3", "0", "3"])
    >>> is_valid_span(Mention("a", ((0, 3),)), arcs), is_single_arc(Mention("a", ((0, 3),)), arcs)
    (True, False)
    >>> is_valid_span(Mention("a", ((1, 4),)), arcs)
    True
    """
    if mention.discontinuous:
        return False
    last = mention.end - 1
    reached = {mention.start}
    for word in range(mention.start, last):
        if word in reached:
            reached.update(right for right in arcs[word] if right <= last)
    return last in reached
