"""Batches of sentences: by chance, but of like lengths, so that little is filled up."""

from __future__ import annotations

import numpy as np

from spanloom.encoders.pieces import Numbers

POOL = 32
"""Batches whose sentences are sorted by length together."""


def batches(sizes: Numbers, batch: int, seed: int, epoch: int) -> list[Numbers]:
    """Return the batches of an epoch: every sentence that has a piece, once, by the seed and the epoch alone.

    Examples
    --------
    >>> made = batches(np.array([3, 9, 2, 8, 0]), 2, seed=1, epoch=0)
    >>> sorted(sorted(one.tolist()) for one in made)
    [[0, 2], [1, 3]]
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(np.flatnonzero(sizes > 0))
    made: list[Numbers] = []
    for start in range(0, len(order), POOL * batch):
        pool = order[start : start + POOL * batch]
        pool = pool[np.argsort(sizes[pool], kind="stable")]
        made += [pool[i : i + batch] for i in range(0, len(pool), batch)]
    return [made[i] for i in random.permutation(len(made))]


def portions(batch: Numbers, sizes: Numbers, count: int, most: int) -> list[Numbers]:
    """Cut a batch into at least so many parts, each of at most ``most`` pieces when it is filled up.

    Examples
    --------
    >>> [part.tolist() for part in portions(np.array([0, 1, 2, 3]), np.array([4, 9, 4, 4]), 1, most=10)]
    [[0, 2], [3], [1]]
    """
    made: list[Numbers] = []
    for part in np.array_split(batch[np.argsort(sizes[batch], kind="stable")], min(count, len(batch))):
        start = 0
        for i in range(1, len(part) + 1):
            if i == len(part) or sizes[part[i]] * (i + 1 - start) > most:
                made.append(part[start:i])
                start = i
    return [part for part in made if len(part)]
