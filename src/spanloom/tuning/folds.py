"""Folds that never part a document."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from spanloom.base.counted import counted
from spanloom.base.errors import ParameterError
from spanloom.corpus import Document, Sentence


def folds(corpus: Sequence[Sentence | Document], k: int, *, seed: int = 1) -> list[list[int]]:
    """Part a corpus into ``k`` folds of about as many documents.

    Documents with the same id go to the same fold, so that no text is both trained and tested on.
    Sentences that stand alone are documents of their own.

    Parameters
    ----------
    corpus
        Documents or sentences.
    k
        How many folds.
    seed
        Of the shuffle.

    Returns
    -------
    For each fold the indices of its documents, ascending.

    Examples
    --------
    >>> docs = [Document([], id=i) for i in "abcab"]
    >>> sorted(folds(docs, 3))
    [[0, 3], [1, 4], [2]]
    """
    groups: dict[object, list[int]] = {}
    for i, item in enumerate(corpus):
        key = item.id if isinstance(item, Document) and item.id else i
        groups.setdefault(key, []).append(i)
    if not 2 <= k <= len(groups):
        raise ParameterError(
            f"folds must be between 2 and the number of documents, got {k} for {counted(len(groups), 'document')}; "
            "mark documents, in CoNLL by lines that begin with -DOCSTART-, or give several files"
        )
    shuffled = list(groups.values())
    random.Random(seed).shuffle(shuffled)
    return [sorted(i for group in shuffled[fold::k] for i in group) for fold in range(k)]


def others(n: int, fold: Sequence[int]) -> tuple[int, ...]:
    """Return the indices below ``n`` that are not in a fold: what its model learns from."""
    left_out = set(fold)
    return tuple(i for i in range(n) if i not in left_out)


def part_of(indices: Sequence[int], share: float, *, seed: int = 1) -> tuple[int, ...]:
    """Return a random share of some indices, ascending; a larger share with the same seed holds the smaller one.

    Examples
    --------
    >>> len(part_of(range(10), 0.25)), set(part_of(range(10), 0.2)) <= set(part_of(range(10), 0.5))
    (3, True)
    """
    if not 0 < share <= 1:
        raise ParameterError(f"share must be above 0 and at most 1, got {share!r}")
    shuffled = list(indices)
    random.Random(seed).shuffle(shuffled)
    return tuple(sorted(shuffled[: math.ceil(share * len(shuffled))]))
