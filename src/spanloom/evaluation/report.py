"""``evaluate``: one report on predicted mentions."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from spanloom.evaluation.aligned import Aligned, Gold, Predicted, align
from spanloom.evaluation.score import Score, by_label, micro


class Report:
    """What there is to say about predictions; each table is worked out when it is first asked for.

    Made by :func:`evaluate`.
    """

    def __init__(self, aligned: Aligned) -> None:
        self.aligned = aligned

    @cached_property
    def micro(self) -> Score:
        """Exact matches over all mentions alike."""
        return micro(self.aligned.gold, self.aligned.predicted)

    @property
    def precision(self) -> float:
        """Micro precision, 0..1."""
        return self.micro.precision

    @property
    def recall(self) -> float:
        """Micro recall, 0..1."""
        return self.micro.recall

    @property
    def f1(self) -> float:
        """Micro F1, 0..1."""
        return self.micro.f1

    @cached_property
    def by_label(self) -> dict[str, Score]:
        """Exact matches for each label of the gold or the prediction."""
        return by_label(self.aligned.gold, self.aligned.predicted)

    @property
    def macro(self) -> dict[str, float]:
        """The plain means of the labels' precision, recall and F1."""
        scores = list(self.by_label.values())
        return {
            name: sum(getattr(s, name) for s in scores) / len(scores) if scores else 0.0
            for name in ("precision", "recall", "f1")
        }

    @property
    def counts(self) -> dict[str, float]:
        """How much there was: sentences, tokens, mentions."""
        sentences = self.aligned.sentences
        return {
            "sentences": len(sentences),
            "tokens": sum(map(len, sentences)),
            "gold": self.micro.gold,
            "predicted": self.micro.predicted,
            "correct": self.micro.correct,
            "missed": self.micro.missed,
            "spurious": self.micro.spurious,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the report as a plain dict that ``json.dumps`` takes; fractions are 0..1."""
        return {
            "micro": self.micro.to_json(),
            "macro": self.macro,
            "by_label": {label: score.to_json() for label, score in self.by_label.items()},
            "counts": self.counts,
        }


def evaluate(gold: Gold, predicted: Predicted) -> Report:
    """Compare predicted mentions with gold ones.

    Parameters
    ----------
    gold
        Sentences or documents with gold mentions.
    predicted
        The same sentences or documents with predicted mentions, in the same order; or, for each gold sentence, the
        mentions predicted for it.

    Raises
    ------
    CorpusError
        If the two are not about the same sentences.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> words = "the IL-2 receptor gene".split()
    >>> protein, dna = Mention("protein", ((1, 3),)), Mention("DNA", ((1, 4),))
    >>> report = evaluate([Sentence(words, [protein, dna])], [Sentence(words, [dna])])
    >>> report.precision, report.recall, report.by_label["DNA"].f1
    (1.0, 0.5, 1.0)
    """
    return Report(align(gold, predicted))
