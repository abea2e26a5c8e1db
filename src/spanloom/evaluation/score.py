"""Precision, recall and F1 from counts of mentions: what every table of an evaluation is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spanloom.corpus import Mention

Mentions = Iterable[Mention]


@dataclass(frozen=True, slots=True)
class Score:
    """Counts, and the fractions that follow from them. A fraction of nothing is 0.

    Parameters
    ----------
    gold, predicted
        How many mentions were to be found, and how many were given.
    found
        How many of the gold ones were found: ``recall = found / gold``.
    correct
        How many of the predicted ones were right: ``precision = correct / predicted``.
        The same number as ``found`` unless the two sides are chosen by different rules (as in tables by kind, where a
        predicted mention is embedded in a *predicted* one). Both may be fractional in partial matching.

    Examples
    --------
    >>> score = Score(gold=4, predicted=5, found=3, correct=3)
    >>> score.precision, score.recall, round(score.f1, 4)
    (0.6, 0.75, 0.6667)
    """

    gold: int
    predicted: int
    found: float
    correct: float

    @property
    def precision(self) -> float:
        """The share of the predicted mentions that are right."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of the gold mentions that were found."""
        return self.found / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        p, r = self.precision, self.recall
        return 2 * p * r / (p + r) if p + r else 0.0

    @property
    def missed(self) -> float:
        """Gold mentions that were not found (false negatives)."""
        return self.gold - self.found

    @property
    def spurious(self) -> float:
        """Predicted mentions that are not right (false positives)."""
        return self.predicted - self.correct

    def __add__(self, other: Score) -> Score:
        return Score(
            self.gold + other.gold,
            self.predicted + other.predicted,
            self.found + other.found,
            self.correct + other.correct,
        )

    def to_json(self) -> dict[str, Any]:
        """Return fractions and counts as a plain dict."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "gold": self.gold,
            "predicted": self.predicted,
            "found": self.found,
            "correct": self.correct,
        }


def distinct(mentions: Mentions) -> list[Mention]:
    """Return each mention once, in the order given."""
    # Tuples, not mentions, as keys: they hash and compare without calling back into Python.
    return list({(m.label, m.parts): m for m in mentions}.values())


def micro(gold: Sequence[Mentions], predicted: Sequence[Mentions]) -> Score:
    """Score exact matches, sentence by sentence, over all mentions alike.

    A predicted mention is right if the gold of its sentence has one with the same label and the same tokens.
    Mentions are sets: order does not matter, and a mention given twice counts once.

    Parameters
    ----------
    gold, predicted
        The mentions of each sentence; both as long, in the same order of sentences.

    Examples
    --------
    >>> a, b = Mention("protein", ((0, 2),)), Mention("DNA", ((0, 4),))
    >>> micro([[a, b], []], [[b], [a]])
    Score(gold=2, predicted=2, found=1, correct=1)
    """
    n_gold = n_predicted = n_both = 0
    for g, p in zip(gold, predicted, strict=True):
        if not g:
            if p:
                n_predicted += len({(m.label, m.parts) for m in p})
            continue
        gs = {(m.label, m.parts) for m in g}
        n_gold += len(gs)
        if p:
            ps = {(m.label, m.parts) for m in p}
            n_predicted += len(ps)
            n_both += len(gs & ps)
    return Score(n_gold, n_predicted, n_both, n_both)


def by_label(gold: Sequence[Mentions], predicted: Sequence[Mentions]) -> dict[str, Score]:
    """Score exact matches of each label apart; labels in alphabetical order.

    Examples
    --------
    >>> a, b = Mention("protein", ((0, 2),)), Mention("DNA", ((0, 4),))
    >>> by_label([[a, b]], [[b]])["protein"].recall
    0.0
    """
    counts: dict[str, list[int]] = {}  # counts[label] = [gold, predicted, both]
    for g, p in zip(gold, predicted, strict=True):
        gs = {(m.label, m.parts) for m in g} if g else _EMPTY
        ps = {(m.label, m.parts) for m in p} if p else _EMPTY
        for place, side in ((0, gs), (1, ps)):
            for label, _ in side:
                if label not in counts:
                    counts[label] = [0, 0, 0]
                counts[label][place] += 1
        if gs and ps:
            for label, _ in gs & ps:
                counts[label][2] += 1
    return {label: Score(n, m, both, both) for label, (n, m, both) in sorted(counts.items())}


_EMPTY: set[tuple[str, Any]] = set()
