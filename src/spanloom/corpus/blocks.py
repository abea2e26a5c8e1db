"""Blocks of sentences without documents; ``spanloom.corpus.crossfit`` takes its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from spanloom.corpus import crossfit

Item = TypeVar("Item")


def blocks(n: int, folds: int) -> list[range]:
    """Cut ``n`` sentences into at most ``folds`` blocks of neighbours.

    Examples
    --------
    >>> blocks(5, 2)
    [range(0, 2), range(2, 5)]
    """
    return crossfit.blocks([1] * n, folds)


def without(items: Sequence[Item], block: range) -> list[Item]:
    """Return what is not in a block.

    Examples
    --------
    >>> without("abcde", range(2, 4))
    ['a', 'b', 'e']
    """
    return [*items[: block.start], *items[block.stop :]]
