"""The probabilities of given mentions of many sentences at once, natively and on several threads.

Only the starts of the given mentions are followed, so that tagging with probabilities costs little more than tagging.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from spanloom._native import (
    ChainStructure,
    SegmentStructure,
    SpanStructure,
    chain_probabilities,
    segment_probabilities,
)
from spanloom.corpus.mention import Mention
from spanloom.inference.distribution import Floats
from spanloom.inference.readings import Reading

Ints64 = npt.NDArray[np.int64]


def chain_batch(
    structure: ChainStructure,
    reading: Reading,
    scores: Floats,
    ptr: Ints64,
    global_scores: Floats,
    mentions: Sequence[Sequence[Mention]],
    threads: int,
) -> list[list[float]]:
    """Return the probability of each mention under a chain; sentence ``s`` has the sites from ``ptr[s]`` on."""
    first, places = _places(mentions, {label: i for i, label in enumerate(reading.types)})
    probs = chain_probabilities(structure, global_scores, reading.native, scores, ptr, first, *places, threads)
    return _lists(probs, first)


def segment_batch(
    structure: SegmentStructure | SpanStructure,
    columns: Mapping[str, int],
    scores: Floats,
    ptr: Ints64,
    global_scores: Floats,
    mentions: Sequence[Sequence[Mention]],
    threads: int,
) -> list[list[float]]:
    """Return the probability of each mention as a segment with its label as column."""
    first, places = _places(mentions, columns)
    return _lists(segment_probabilities(structure, global_scores, scores, ptr, first, *places, threads), first)


def _places(
    mentions: Sequence[Sequence[Mention]], numbers: Mapping[str, int]
) -> tuple[Ints64, tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]]:
    """Where the mentions of each sentence begin; starts, ends and numbers of labels, −1 for what cannot be."""
    first = np.zeros(len(mentions) + 1, np.int64)
    np.cumsum([len(own) for own in mentions], out=first[1:])
    rows = [(m.start, m.end, -1 if m.discontinuous else numbers.get(m.label, -1)) for own in mentions for m in own]
    starts, ends, types = np.ascontiguousarray(np.array(rows, np.int32).reshape(-1, 3).T)
    return first, (starts, ends, types)


def _lists(probs: Floats, first: Ints64) -> list[list[float]]:
    flat, bounds = np.minimum(probs, 1.0).tolist(), first.tolist()
    return [flat[bounds[s] : bounds[s + 1]] for s in range(len(bounds) - 1)]
