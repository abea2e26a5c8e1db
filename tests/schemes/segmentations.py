"""All ways to cut a sentence into mentions and outside, for brute force."""

from __future__ import annotations

from collections.abc import Iterator

from spanloom.corpus.tags import Chunk


def segmentations(n: int, labels: tuple[str, ...]) -> Iterator[list[Chunk]]:
    """Yield every set of mentions of ``n`` tokens that do not overlap."""
    if n == 0:
        yield []
        return
    for chunks in segmentations(n - 1, labels):  # the last token is outside
        yield chunks
    for start in range(n):
        for chunks in segmentations(start, labels):
            for label in labels:
                yield [*chunks, (label, start, n)]
