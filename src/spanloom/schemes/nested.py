"""Mention sets of which no two mentions cross, as trees.

The mention right above another is the smallest that has all of its tokens. Labels of the same tokens stand within each
other, in a fixed order of labels, so that every such set is exactly one tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from spanloom.corpus.mention import ORDERS, Mention


def first_crossing(mentions: Sequence[Mention]) -> tuple[int, str] | None:
    """Return the index of the first mention that has several parts or crosses another, and why; None if all nest.

    Examples
    --------
    >>> first_crossing([Mention("a", ((0, 3),)), Mention("b", ((1, 2),)), Mention("a", ((2, 4),))])
    (2, 'crosses mention 0: a ((0, 3),)')
    """
    around: list[int] = []  # mentions that are open, the innermost last
    for i in sorted(range(len(mentions)), key=lambda i: (mentions[i].start, -mentions[i].end, i)):
        mention = mentions[i]
        if mention.discontinuous:
            return i, f"has {len(mention.parts)} parts"
        while around and mentions[around[-1]].end <= mention.start:
            around.pop()
        if around and mention.end > mentions[around[-1]].end:
            other = mentions[around[-1]]
            return i, f"crosses mention {around[-1]}: {other.label} {other.parts}"
        around.append(i)
    return None


def without_crossing(mentions: Sequence[Mention], keep: str) -> tuple[list[Mention], list[Mention]]:
    """Split mentions into those of which none crosses another, chosen in the order of ``keep``, and the rest.

    Examples
    --------
    >>> short, long, inner = Mention("a", ((2, 4),)), Mention("b", ((0, 3),)), Mention("a", ((0, 1),))
    >>> without_crossing([short, long, inner], "longest") == ([inner, long], [short])
    True
    """
    kept: list[Mention] = []
    lost: list[Mention] = []
    for mention in sorted(mentions, key=ORDERS[keep]):
        fits = not mention.discontinuous and not any(mention.crosses(other) for other in kept)
        (kept if fits else lost).append(mention)
    return sorted(kept), sorted(lost)


def with_parents(mentions: Sequence[Mention], order: Mapping[str, int]) -> list[tuple[Mention, int]]:
    """Return mentions that nest with the place, in what is returned, of the one right above each; −1 at the top.

    A mention stands after those above it. Of labels with the same tokens the lowest in ``order`` is above.

    Examples
    --------
    >>> some = [Mention("b", ((0, 2),)), Mention("a", ((0, 2),)), Mention("a", ((1, 2),)), Mention("b", ((2, 3),))]
    >>> [(m.label, m.parts[0], above) for m, above in with_parents(some, {"a": 0, "b": 1})]
    [('a', (0, 2), -1), ('b', (0, 2), 0), ('a', (1, 2), 1), ('b', (2, 3), -1)]
    """
    placed: list[tuple[Mention, int]] = []
    around: list[int] = []
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end, order[m.label])):
        while around and placed[around[-1]][0].end <= mention.start:
            around.pop()
        placed.append((mention, around[-1] if around else -1))
        around.append(len(placed) - 1)
    return placed


class Contexts:
    """What a mention sees of those above it: nothing, the label right above it, or also the one above that.

    Contexts are numbered: 0 at the top, ``1 + y`` within label ``y``, then one for each of ``pairs``: within a mention
    ``y`` that is itself within ``x``. Where a mention ``y`` is within ``x`` and ``(x, y)`` is no pair, it is as at the
    top.

    Parameters
    ----------
    labels
        In order.
    pairs
        Of labels that are told apart by the label above; empty: none is.

    Attributes
    ----------
    names
        Of the contexts, for explanations.
    next
        ``[context, label]``: the context within such a mention.

    Examples
    --------
    >>> two = Contexts(["DNA", "protein"], [("protein", "DNA")])
    >>> two.next.tolist()
    [[1, 2], [1, 2], [3, 2], [1, 2]]
    >>> two.names
    ['the top', 'DNA', 'protein', 'DNA in protein']
    """

    def __init__(self, labels: Sequence[str], pairs: Sequence[tuple[str, str]] = ()) -> None:
        self.labels, self.pairs = tuple(labels), tuple(pairs)
        number = {label: y for y, label in enumerate(labels)}
        inner = [*labels, *(y for _, y in pairs)]
        self.names = ["the top", *labels, *(f"{y} in {x}" for x, y in pairs)]
        within = {pair: 1 + len(labels) + i for i, pair in enumerate(pairs)}
        self.next: npt.NDArray[np.int32] = np.zeros((len(self.names), len(labels)), np.int32)
        self.next[0] = 1 + np.arange(len(labels))
        for (c, x), y in product(enumerate(inner, 1), labels):
            self.next[c, number[y]] = within.get((x, y), 1 + number[y])

    def of(self, placed: Sequence[tuple[Mention, int]], order: Mapping[str, int]) -> list[int]:
        """Return the context in which each mention of ``with_parents`` stands."""
        found: list[int] = []
        for _, above in placed:
            found.append(0 if above < 0 else int(self.next[found[above], order[placed[above][0].label]]))
        return found


def seen_pairs(gold: Sequence[Sequence[Mention]], order: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the labels of mentions right above each other, (above, below), in order.

    Examples
    --------
    >>> seen_pairs([[Mention("a", ((0, 2),)), Mention("b", ((0, 1),))]], {"a": 0, "b": 1})
    [('a', 'b')]
    """
    found = set()
    for mentions in gold:
        placed = with_parents(mentions, order) if len(mentions) > 1 else []
        found |= {(placed[above][0].label, mention.label) for mention, above in placed if above >= 0}
    return sorted(found, key=lambda pair: (order[pair[0]], order[pair[1]]))
