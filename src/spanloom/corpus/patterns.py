"""Nesting written as a string, as in Alex et al. (2007), table 1: ``( other_name ( protein t ) t )``."""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.corpus.mention import Mention


def nesting_patterns(mentions: Sequence[Mention]) -> list[str]:
    """Return a pattern for every outermost mention that has others inside; ``t`` stands for text.

    Mentions of one part only; one that crosses an open mention is left out of the pattern, as brackets cannot say it.

    Examples
    --------
    >>> nesting_patterns([Mention("other_name", ((0, 3),)), Mention("DNA", ((0, 2),)), Mention("RNA", ((5, 6),))])
    ['( other_name ( DNA t ) t )']
    >>> nesting_patterns([Mention("drug", ((0, 1),)), Mention("protein", ((0, 1),))])
    ['( drug ( protein t ) )']
    """
    ordered = sorted((m for m in mentions if not m.discontinuous), key=lambda m: (m.start, -m.end))
    patterns: list[str] = []
    k = 0
    while k < len(ordered):
        root = ordered[k]
        stop = k + 1
        while stop < len(ordered) and ordered[stop].start < root.end:
            stop += 1
        inside = [m for m in ordered[k + 1 : stop] if m.end <= root.end]
        if inside:
            patterns.append(_pattern(root, inside))
        # A mention that crosses the root may be a root itself.
        crossing = [i for i in range(k + 1, stop) if ordered[i].end > root.end]
        k = crossing[0] if crossing else stop
    return patterns


def _pattern(root: Mention, inside: Sequence[Mention]) -> str:
    words = ["(", root.label]
    stack = [root.end]
    at = root.start
    for mention in inside:
        if mention.end > stack[-1] > mention.start:
            continue
        while stack[-1] <= mention.start:
            at = _close(words, stack, at)
        if at < mention.start:
            words.append("t")
        at = mention.start
        words += ["(", mention.label]
        stack.append(mention.end)
    while stack:
        at = _close(words, stack, at)
    return " ".join(words)


def _close(words: list[str], stack: list[int], at: int) -> int:
    end = stack.pop()
    if at < end:
        words.append("t")
    words.append(")")
    return end
