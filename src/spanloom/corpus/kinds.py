"""How mentions lie to each other: the one place where nested, crossing and the other kinds are defined.

Mentions are sets of tokens; all definitions look at one sentence's mentions at a time. Two mentions *overlap* if they
share a token; one *contains* the other if it has all of its tokens and more. A mention given twice counts as one here.

======================  ==============================================================================================
flat                    one part, and no overlap with any other mention: what a flat tagger can hold
overlapping             overlaps another mention (any label)
same_type_overlapping   overlaps a mention of its own label
embedded                another mention contains it
containing              it contains another mention
nested                  embedded or containing
same_type_nested        embedded in, or containing, a mention of its own label
crossing                overlaps a mention, and neither has all of the other's tokens
same_span               another label has exactly the same tokens
discontinuous           more than one part
======================  ==============================================================================================

``depth`` is 1 for a mention that no other contains, and one more than its deepest container otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spanloom.corpus.mention import Mention

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

MENTION_KINDS = (
    "flat",
    "overlapping",
    "same_type_overlapping",
    "nested",
    "embedded",
    "containing",
    "same_type_nested",
    "crossing",
    "same_span",
    "discontinuous",
)


@dataclass(frozen=True, slots=True)
class Kinds:
    """Flags per mention, in the order in which the mentions were given, sentence after sentence."""

    flat: Flags
    overlapping: Flags
    same_type_overlapping: Flags
    nested: Flags
    embedded: Flags
    containing: Flags
    same_type_nested: Flags
    crossing: Flags
    same_span: Flags
    discontinuous: Flags
    duplicate: Flags
    """Given again, with the same label and tokens (no kind of its own: sets have none)."""
    depth: Ints
    sentence: Ints
    """The index of the sentence that each mention is in."""

    def __len__(self) -> int:
        return len(self.flat)

    def __getitem__(self, kind: str) -> Flags:
        """Return the flags of one of ``MENTION_KINDS``."""
        flags: Flags = getattr(self, kind)
        return flags


def kinds(sentences: Sequence[Sequence[Mention]]) -> Kinds:
    """Classify the mentions of many sentences at once.

    Parameters
    ----------
    sentences
        The mentions of each sentence, in any order.

    Examples
    --------
    >>> inner, outer, far = Mention("DNA", ((0, 2),)), Mention("other", ((0, 3),)), Mention("DNA", ((5, 6),))
    >>> k = kinds([[inner, outer, far]])
    >>> k.embedded.tolist(), k.containing.tolist(), k.flat.tolist(), k.depth.tolist()
    ([True, False, False], [False, True, False], [False, False, True], [2, 1, 1])
    """
    mentions = [m for sentence in sentences for m in sentence]
    n = len(mentions)
    sentence = np.repeat(np.arange(len(sentences)), [len(s) for s in sentences]).astype(np.int64)
    parts = [m.parts for m in mentions]
    start = np.fromiter((p[0][0] for p in parts), np.int64, n)
    end = np.fromiter((p[-1][1] for p in parts), np.int64, n)
    discontinuous = np.fromiter((len(p) > 1 for p in parts), np.bool_, n)
    ids: dict[str, int] = {}
    label = np.fromiter((ids.setdefault(m.label, len(ids)) for m in mentions), np.int64, n)

    first, second = _hull_pairs(sentence, start, end)
    # Relations of the pairs: does one have all tokens of the other; do they share any?
    forward = (start[first] <= start[second]) & (end[second] <= end[first])
    backward = (start[second] <= start[first]) & (end[first] <= end[second])
    overlap = np.ones(len(first), np.bool_)
    for k in np.flatnonzero(discontinuous[first] | discontinuous[second]):
        a, b = set(mentions[first[k]].tokens), set(mentions[second[k]].tokens)
        forward[k], backward[k], overlap[k] = b <= a, a <= b, not a.isdisjoint(b)
    same = forward & backward
    twin = same & (label[first] == label[second])
    forward, backward, overlap, same = forward & ~same, backward & ~same, overlap & ~twin, same & ~twin

    outer = np.concatenate([first[forward], second[backward]])
    inner = np.concatenate([second[forward], first[backward]])
    own_type = label[outer] == label[inner]
    overlapping = _flags(n, first[overlap], second[overlap])
    alike = overlap & (label[first] == label[second])
    crossed = overlap & ~forward & ~backward & ~same
    embedded, containing = _flags(n, inner), _flags(n, outer)
    return Kinds(
        flat=~overlapping & ~discontinuous,
        overlapping=overlapping,
        same_type_overlapping=_flags(n, first[alike], second[alike]),
        nested=embedded | containing,
        embedded=embedded,
        containing=containing,
        same_type_nested=_flags(n, outer[own_type], inner[own_type]),
        crossing=_flags(n, first[crossed], second[crossed]),
        same_span=_flags(n, first[same], second[same]),
        discontinuous=discontinuous,
        duplicate=_flags(n, first[twin], second[twin]),
        depth=_depth(n, outer, inner),
        sentence=sentence,
    )


def _hull_pairs(sentence: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """All pairs of mentions of one sentence whose hulls (first to last token) share a token, each pair once."""
    n = len(start)
    if n < 2:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    width = int(end.max()) + 1
    key = sentence * width + start
    order = np.argsort(key, kind="stable")
    # After sorting, the partners of place i are the places from i + 1 up to the last that begins before i ends.
    stop = np.searchsorted(key[order], (sentence * width + end)[order], side="left")
    count = stop - np.arange(1, n + 1)
    left = np.repeat(np.arange(n), count)
    right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return order[left].astype(np.int64), order[right].astype(np.int64)


def _flags(n: int, *places: Ints) -> Flags:
    flags = np.zeros(n, np.bool_)
    for place in places:
        flags[place] = True
    return flags


def _depth(n: int, outer: Ints, inner: Ints) -> Ints:
    depth = np.ones(n, np.int64)
    while True:
        deeper = depth.copy()
        np.maximum.at(deeper, inner, depth[outer] + 1)
        if (deeper == depth).all():
            return depth
        depth = deeper
