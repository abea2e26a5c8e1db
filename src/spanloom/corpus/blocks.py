"""Parts of a corpus that are looked at by what was learned from the other parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
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
