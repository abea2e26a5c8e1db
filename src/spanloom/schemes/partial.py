"""Partial annotation as masks: which labels, separators or choices are allowed where not all is known.

A mask is ``[place, symbol]`` with 1 for what a structure may use. ``mentions`` are those that the annotation lists,
``known`` says what it covers; see ``spanloom.corpus.known``. A structure is right if the mentions that it stands for
agree with both (``Known.agrees``). No right structure is forbidden unless a function says so; where single cells cannot
say what is right, some wrong structures are allowed, as each function tells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention, Part
from spanloom.schemes.biohd import Biohd
from spanloom.schemes.hypergraph import BEGIN, GO_ON, NONE, SPLIT, STOP
from spanloom.schemes.segments import Segments
from spanloom.schemes.separators import CONTINUE, END, START, encode_separators

Mask = npt.NDArray[np.uint8]


def allowed_labels(segments: Segments | Biohd, mentions: Sequence[Mention], known: Known, n: int) -> Mask:
    """Return the labels that each of ``n`` tokens may have (Tsuboi et al. 2008).

    The tokens of a listed mention have its labels, and those beside it none that would make it longer. Other tokens in
    a known range are outside or of a label that was not annotated; the rest are free. With IOB1 and IOE1, where labels
    depend on the neighbouring mention, a free mention of the same label right beside a listed one is forbidden too.
    BIOHD reads mentions from labels all over the sentence, so that a free part may become one of a listed mention.

    Examples
    --------
    >>> bio = Segments("IOB2", ["O", "B-DNA", "I-DNA"])
    >>> allowed_labels(bio, [Mention("DNA", ((0, 1),))], Known(ranges=((0, 1),)), 3).tolist()
    [[0, 1, 0], [1, 1, 0], [1, 1, 1]]
    """
    types = segments.label_types()
    unknown = np.array([type_ is None or not known.has_label(type_) for type_ in types], np.uint8)
    mask = np.where(np.array(known.tokens(n), np.bool_)[:, None], unknown[None, :], np.uint8(1))
    labels = segments.encode(mentions, n)
    for start, end in (part for mention in mentions for part in mention.parts):
        for neighbour, edge in ((start - 1, start), (end, end - 1)):
            if 0 <= neighbour < n:
                pairs = [(k, labels[edge]) if neighbour < edge else (labels[edge], k) for k in range(len(types))]
                mask[neighbour] &= np.array([not segments.joins(*pair) for pair in pairs], np.uint8)
    for t in (token for mention in mentions for token in mention.tokens):
        mask[t] = 0
        mask[t, labels[t]] = 1
    return mask


def allowed_separators(spans: Sequence[Part], known: Known, label: str, n: int) -> Mask:
    """Return the separators that each of ``n + 1`` gaps may have, for the listed spans of one label.

    Whether a mention starts at a gap is known if the token after it is, whether one ends if the token before it is,
    whether one continues if either is. Listed spans start, continue and end wherever they are.

    Exact where no listed span has both known and unknown tokens. Else separators that need a further mention over its
    known tokens are allowed as well, for they do not tell which mention goes on. As in training on full annotation, a
    sequence stands for its sets of mentions, whichever of them it is read as.

    Examples
    --------
    Nothing at token 0, the rest unknown: it may start at gap 1, and cannot end there.

    >>> allowed_separators([], Known(ranges=((0, 1),)), "DNA", 2)[:2].tolist()
    [[1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0]]
    """
    value = encode_separators(spans, n)
    inside = np.array([True, *(known.tokens(n) if known.has_label(label) else [False] * n), True])
    before, after = inside[:-1], inside[1:]  # of each gap
    mask = np.ones((n + 1, 8), np.uint8)
    for bit, certain in ((START, after), (END, before), (CONTINUE, before | after)):
        has = (np.arange(8) & bit > 0)[None, :]
        should = (value & bit > 0)[:, None]
        mask &= (has == should) | ~(certain[:, None] | should)
    return mask


def allowed_edges(separators: Mask) -> Mask:
    """Return the choices at each token of the mention hypergraph for what ``allowed_separators`` allows.

    Examples
    --------
    >>> allowed_edges(allowed_separators([(0, 2)], Known(), "DNA", 2)).tolist()
    [[1, 0, 1, 0, 0], [0, 1, 0, 1, 0]]
    """

    def some(gaps: Mask, bits: int, values: dict[int, int]) -> Mask:
        """Whether a separator with these bits is allowed, for each edge."""
        out = np.zeros((len(gaps), 5), np.uint8)
        for edge, wanted in values.items():
            out[:, edge] = gaps[:, (np.arange(8) & bits) == wanted].any(axis=1)
        return out

    starts = some(separators[:-1], START, {BEGIN: START, NONE: 0})
    return starts | some(separators[1:], END | CONTINUE, {GO_ON: CONTINUE, STOP: END, SPLIT: END | CONTINUE})


def allowed_segments(
    candidates: Sequence[Part], columns: Sequence[str], outside: int, mentions: Sequence[Mention], known: Known
) -> Mask:
    """Return the columns that each candidate segment may have where segments do not overlap; exact.

    A listed mention leaves no other way through its tokens. The first ``outside`` columns are for words in no mention.

    Examples
    --------
    >>> allowed_segments([(0, 1), (0, 2), (1, 2)], ("O", "a"), 1, [Mention("a", ((0, 2),))], Known()).tolist()
    [[0, 0], [0, 1], [0, 0]]
    """
    listed = set(mentions)
    taken = {token for mention in mentions for token in mention.tokens}
    mask = np.zeros((len(candidates), len(columns)), np.uint8)
    for row, (start, end) in enumerate(candidates):
        free = taken.isdisjoint(range(start, end))
        for column, label in enumerate(columns):
            mention = Mention(label, ((start, end),))
            if column < outside:
                mask[row, column] = free
            else:
                mask[row, column] = mention in listed or (free and not known.covers(mention))
    return mask


def allowed_spans(candidates: Sequence[Part], labels: Sequence[str], mentions: Sequence[Mention], known: Known) -> Mask:
    """Return for each candidate and label 2 if it must be a mention, 1 if it may be, 0 if it is none; exact.

    Examples
    --------
    >>> allowed_spans([(0, 1), (1, 2)], ("a", "b"), [Mention("a", ((0, 1),))], Known(labels=("a",))).tolist()
    [[2, 1], [0, 1]]
    """
    listed = set(mentions)
    rows = [[Mention(label, (span,)) for label in labels] for span in candidates]
    values = [[2 if m in listed else 0 if known.covers(m) else 1 for m in row] for row in rows]
    return np.array(values, np.uint8).reshape(len(candidates), len(labels))
