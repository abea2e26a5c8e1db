"""Scores straight from tag sequences, for the output of flat taggers: no mention is made, arrays do the counting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import CorpusError
from spanloom.corpus.kinds import Ints
from spanloom.corpus.tags import TagMeaning, read_tag
from spanloom.evaluation.score import Score

Tags = Sequence[Sequence[str]]


def by_label_from_tags(gold: Tags, predicted: Tags, scheme: str = "auto") -> dict[str, Score]:
    """Score exact matches of the mentions that tags stand for, label by label.

    Parameters
    ----------
    gold, predicted
        One sequence of tags for each sentence; both as long.
    scheme
        One of ``spanloom.corpus.tags.SCHEMES``, or ``"auto"`` for any common prefixes. Sequences that break the rules
        are read by their borders, as conlleval does; seqeval's strict mode drops such mentions instead.

    Returns
    -------
    dict
        By label, in alphabetical order; ``sum(scores.values(), Score(0, 0, 0, 0))`` is the micro score.

    Examples
    --------
    >>> scores = by_label_from_tags([["B-a", "I-a", "O", "B-b"]], [["B-a", "I-a", "B-b", "O"]])
    >>> scores["a"].f1, scores["b"].f1
    (1.0, 0.0)
    """
    for i, (g, p) in enumerate(zip(gold, predicted, strict=True)):
        if len(g) != len(p):
            raise CorpusError(f"sentence {i} has {len(g)} gold tags and {len(p)} predicted ones")
    table = _Table(scheme)
    ends = np.cumsum(np.fromiter(map(len, gold), np.int64, len(gold)))
    gold_ids, predicted_ids = table.numbers(gold), table.numbers(predicted)
    labels, reads, parts = table.arrays()
    gold_key, gold_label = _chunks(gold_ids, ends, reads, parts, len(labels))
    predicted_key, predicted_label = _chunks(predicted_ids, ends, reads, parts, len(labels))
    found = gold_label[np.isin(gold_key, predicted_key, assume_unique=True)]
    counts = [np.bincount(x, minlength=len(labels)).tolist() for x in (gold_label, predicted_label, found)]
    rows = zip(labels, *counts, strict=True)
    return {name: Score(g, p, both, both) for name, g, p, both in sorted(rows) if g or p}


class _Table(dict[str, int]):
    """Numbers tags as they come, and knows what each says."""

    def __init__(self, scheme: str) -> None:
        super().__init__()
        self.scheme = scheme
        self.readings: list[TagMeaning] = []

    def __missing__(self, tag: str) -> int:
        try:
            self.readings.append(read_tag(self.scheme, tag))
        except ValueError as error:
            raise CorpusError(f"tag {tag!r} is {error}") from None
        self[tag] = len(self.readings) - 1
        return self[tag]

    def numbers(self, tags: Tags) -> Ints:
        return np.fromiter(map(self.__getitem__, chain.from_iterable(tags)), np.int64)

    def arrays(self) -> tuple[list[str], Ints, npt.NDArray[np.bool_]]:
        """Labels; the label of each tag (-1 outside); whether a segment ends between two tags."""
        labels = sorted({r.label for r in self.readings if r.label is not None})
        reads = np.array([-1 if r.label is None else labels.index(r.label) for r in self.readings], np.int64)
        parts = np.array([[a.parts_from(b) for b in self.readings] for a in self.readings], np.bool_)
        return labels, reads, parts.reshape(len(self.readings), len(self.readings))


def _chunks(ids: Ints, ends: Ints, reads: Ints, parts: npt.NDArray[np.bool_], labels: int) -> tuple[Ints, Ints]:
    """Return a key and the label of every mention; equal keys mean equal mentions."""
    if not len(ids):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    border = np.ones(len(ids), np.bool_)  # after each token
    border[:-1] = parts[ids[:-1], ids[1:]]
    border[ends[ends > 0] - 1] = True
    last = np.flatnonzero(border)
    first = np.concatenate([[0], last[:-1] + 1])
    label = reads[ids[last]]
    inside = label >= 0
    first, last, label = first[inside], last[inside], label[inside]
    return (first * (len(ids) + 1) + last) * (labels + 1) + label, label
