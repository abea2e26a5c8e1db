"""Parts of a corpus: its documents, and blocks that are looked at by what was learned from the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

Item = TypeVar("Item")


def blocks(n: int, folds: int) -> list[range]:
    """Cut ``n`` sentences into at most ``folds`` blocks of neighbours, so that documents are rarely parted.

    Examples
    --------
    >>> blocks(5, 2)
    [range(0, 2), range(2, 5)]
    """
    ends = [n * k // folds for k in range(folds + 1)]
    return [range(a, b) for a, b in pairwise(ends) if b > a]


def without(items: Sequence[Item], block: range) -> list[Item]:
    """Return what is not in a block.

    Examples
    --------
    >>> without("abcde", range(2, 4))
    ['a', 'b', 'e']
    """
    return [*items[: block.start], *items[block.stop :]]


def documents(sentences: int, sizes: Sequence[int] | None) -> Iterator[range]:
    """Return the sentences of each document by their numbers.

    Examples
    --------
    >>> list(documents(3, [1, 2]))
    [range(0, 1), range(1, 3)]
    """
    ends = accumulate([1] * sentences if sizes is None else sizes, initial=0)
    return (range(a, b) for a, b in pairwise(ends))
