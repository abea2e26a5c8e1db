"""Every typed subset of the tokens of a sentence, scored from the paper's definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

Segment = tuple[float, int, list[int]]
Step = Callable[[int, int, int], float]
"""The score of a step by (token, next token, type); −1 stands for the start, n for the end."""


def subsets(n: int, max_gap: int | None = None) -> Iterator[list[int]]:
    """Every non-empty subset of ``n`` tokens whose gaps skip at most ``max_gap`` of them."""
    for bits in range(1, 2**n):
        tokens = [i for i in range(n) if bits >> i & 1]
        if max_gap is None or all(b - a - 1 <= max_gap for a, b in pairwise(tokens)):
            yield tokens


def all_segments(n: int, types: int, step: Step, max_gap: int | None = None) -> list[Segment]:
    """All segments with their scores, best first: the sum over consecutive tokens with dummy ends."""
    found = [
        (sum(step(a, b, t) for a, b in pairwise([-1, *tokens, n])), t, tokens)
        for tokens in subsets(n, max_gap)
        for t in range(types)
    ]
    return sorted(found, key=lambda s: -s[0])


def restricted(
    segments: Sequence[Segment],
    k: int,
    *,
    no_overlap: bool = False,
    no_embedding: bool = False,
    no_self_embedding: bool = False,
) -> list[Segment]:
    """From the best down, leave out what may not stand beside what is there already, until there are ``k``."""
    kept: list[Segment] = []
    for segment in segments:
        tokens = set(segment[2])
        others = [set(other[2]) for other in kept]
        if no_overlap and any(tokens & other for other in others):
            continue
        if no_embedding and any(tokens <= other or tokens >= other for other in others):
            continue
        own = [set(other[2]) for other in kept if other[1] == segment[1]]
        if no_self_embedding and any(tokens <= other or tokens >= other for other in own):
            continue
        kept.append(segment)
        if len(kept) == k:
            break
    return kept
