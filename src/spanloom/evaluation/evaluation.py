"""``evaluate``: predicted mentions beside those of the gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation import relaxed
from spanloom.evaluation.aligned import Aligned, Gold, Predicted, align
from spanloom.evaluation.alternatives import with_alternatives
from spanloom.evaluation.calibration import has_probabilities
from spanloom.evaluation.mistakes import MISTAKES, Mistake, confusion, mistakes
from spanloom.evaluation.outcomes import Outcomes, Side
from spanloom.evaluation.reliability import error_interval, reliability, reliability_by_label
from spanloom.evaluation.score import Score
from spanloom.evaluation.significance import Interval, interval, unit_counts

LENGTHS = ((1, "1"), (2, "2"), (3, "3"), (4, "4"), (5, "5"), (8, "6–8"), (10**9, "9+"))
"""Upper ends of the length classes, in tokens, and their names."""

GROUPS = ("genre", "section")
"""What sentences or documents may say about themselves that a report is split by."""


class Evaluation:
    """Scores and tables of predictions; each table is computed on first use.

    Made by :func:`evaluate`.
    """

    def __init__(self, aligned: Aligned, *, train: Gold | None, seconds: float | None) -> None:
        self.aligned = aligned
        self.outcomes = Outcomes(aligned.gold, aligned.predicted)
        self.seconds = seconds
        self._seen = None if train is None else _forms(train)

    @cached_property
    def micro(self) -> Score:
        """Exact matches over all mentions alike."""
        gold, predicted = self.outcomes.gold, self.outcomes.predicted
        return Score(len(gold), len(predicted), int(gold.right.sum()), int(predicted.right.sum()))

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

    def _repr_html_(self) -> str:
        """Show the scores as tables in notebooks."""
        from spanloom.evaluation.tables import as_html

        return as_html(self)

    def item(self) -> float:
        """Return micro F1: scikit-learn asks the result of a scorer for its number by this name."""
        return self.f1

    @cached_property
    def by_label(self) -> dict[str, Score]:
        """Exact matches for each label of the gold or the prediction, in alphabetical order."""
        return self.outcomes.by_label()

    @property
    def macro(self) -> dict[str, float]:
        """The plain means of the labels' precision, recall and F1."""
        scores = list(self.by_label.values())
        return {
            name: sum(getattr(s, name) for s in scores) / len(scores) if scores else 0.0
            for name in ("precision", "recall", "f1")
        }

    @cached_property
    def by_kind(self) -> dict[str, Score]:
        """Exact matches by kind of mention (:mod:`spanloom.corpus.kinds` defines them).

        Recall is over the gold mentions of the kind among gold mentions, precision over the predicted ones of the kind
        among predicted mentions. Beside the kinds there are ``not_flat`` (overlapping or discontinuous) and
        ``overlapping_discontinuous`` (both).
        """
        return self.outcomes.by_kind()

    @cached_property
    def by_sentence_kind(self) -> dict[str, Score]:
        """All mentions of the sentences whose gold has a mention of each kind.

        ``flat``: every gold mention is flat; ``without_overlap``: no two gold mentions overlap.
        """
        return self.outcomes.by_sentence_kind()

    @cached_property
    def by_length(self) -> dict[str, Score]:
        """Exact matches by number of tokens."""
        ends = np.array([end for end, _ in LENGTHS])
        scores = self.outcomes.by(lambda side: np.searchsorted(ends, side.length))
        return {LENGTHS[i][1]: score for i, score in scores.items()}

    @cached_property
    def by_depth(self) -> dict[int, Score]:
        """Exact matches by depth: 1 for a mention inside no other, 2 for one inside such a one, and so on."""
        return self.outcomes.by(lambda side: side.kinds.depth)

    @cached_property
    def by_novelty(self) -> dict[str, Score]:
        """Exact matches by what training saw: empty unless ``train`` was given.

        ``seen``: the same words with the same label are a training mention; ``seen_other_label``: they are, with other
        labels only; ``unseen``: they are not.
        """
        if self._seen is None:
            return {}
        seen, names = self._seen, ("seen", "seen_other_label", "unseen")

        def novelty(side: Side) -> list[int]:
            found = []
            for i, mentions in zip(range(len(side.lists)), side.lists, strict=True):
                for m in mentions:
                    labels = seen.get(_form(self.aligned.sentences[i], m))
                    found.append(2 if labels is None else 0 if m.label in labels else 1)
            return found

        return {names[i]: score for i, score in self.outcomes.by(novelty).items()}

    @cached_property
    def by_document(self) -> dict[str, Score]:
        """Exact matches by document id; empty if the gold came as sentences."""
        if not self.aligned.document_of:
            return {}
        return self.outcomes.by_group([self.aligned.document_id(i) for i in range(len(self.aligned.sentences))])

    @cached_property
    def by_group(self) -> dict[str, dict[str, Score]]:
        """Exact matches by genre and by section, where documents or sentences say one in their ``meta``."""
        tables = {}
        for key in GROUPS:
            values = [self.aligned.meta(i, key) for i in range(len(self.aligned.sentences))]
            if any(v is not None for v in values):
                tables[key] = self.outcomes.by_group(["—" if v is None else str(v) for v in values])
        return tables

    @cached_property
    def relaxed(self) -> dict[str, Score]:
        """Scores that forgive something: ``boundaries``, ``labels``, ``heads``, ``partial``, ``overlapping``.

        And ``alternatives``, BioCreative's rule, where a sentence has some. See :mod:`spanloom.evaluation.relaxed`.
        """
        sentences, gold, predicted = self.aligned.sentences, self.aligned.gold, self.aligned.predicted
        scores = {
            "boundaries": relaxed.boundaries(gold, predicted),
            "labels": relaxed.labels(gold, predicted),
            "heads": relaxed.heads(sentences, predicted),
            "partial": relaxed.partial(gold, predicted),
            "overlapping": relaxed.overlapping(gold, predicted),
        }
        if any("alternatives" in s.meta for s in sentences):
            scores["alternatives"] = with_alternatives(sentences, predicted)
        return scores

    @cached_property
    def token_accuracy(self) -> float:
        """The share of tokens with the right tag (:func:`spanloom.evaluation.relaxed.token_accuracy`)."""
        return relaxed.token_accuracy(self.aligned.sentences, self.aligned.predicted)

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """Every mistake, in the order of the sentences (:func:`spanloom.evaluation.mistakes.mistakes`)."""
        return mistakes(self.outcomes.gold.lists, self.outcomes.predicted.lists)

    @cached_property
    def confusion(self) -> Counter[tuple[str | None, str | None]]:
        """How often each gold label (None: no mention) was given each label (None: nothing)."""
        gold = self.outcomes.gold
        return confusion((m for m, right in zip(gold.mentions, gold.right, strict=True) if right), self.mistakes)

    @cached_property
    def calibration(self) -> dict[str, Any] | None:
        """Whether the probabilities can be believed, over all labels and by label; None if mentions have none.

        See :mod:`spanloom.evaluation.reliability`. Bins are adaptive, and the error has a bootstrap interval.
        """
        if not has_probabilities(self.aligned.predicted):
            return None
        return {
            **reliability(self.outcomes, widths="adaptive").to_json(),
            "interval": error_interval(self.outcomes).to_json(),
            "by_label": {label: one.to_json() for label, one in reliability_by_label(self.outcomes).items()},
        }

    def interval(
        self, *, by: str = "sentence", resamples: int = 10_000, level: float = 0.95, seed: int = 0
    ) -> dict[str, Interval]:
        """Return bootstrap confidence intervals of micro precision, recall and F1.

        Parameters
        ----------
        by
            ``"sentence"`` or ``"document"``: what is drawn.
        resamples, level, seed
            As in :func:`spanloom.evaluation.significance.bootstrap`.
        """
        counts = unit_counts(self.aligned.gold, self.aligned.predicted, self.aligned.units(by))
        return interval(counts, resamples=resamples, level=level, seed=seed)

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

    @property
    def throughput(self) -> dict[str, float]:
        """Seconds and words per second of the prediction; empty unless ``seconds`` was given."""
        if not self.seconds:
            return {}
        return {"seconds": self.seconds, "words_per_second": self.counts["tokens"] / self.seconds}

    def to_json(self) -> dict[str, Any]:
        """Return the report as a plain dict that ``json.dumps`` takes; fractions are 0..1."""
        return {
            "micro": self.micro.to_json(),
            "macro": self.macro,
            "counts": self.counts,
            "by_label": _table(self.by_label),
            "by_kind": _table(self.by_kind),
            "by_sentence_kind": _table(self.by_sentence_kind),
            "by_length": _table(self.by_length),
            "by_depth": _table({str(depth): score for depth, score in self.by_depth.items()}),
            "by_novelty": _table(self.by_novelty),
            "by_document": _table(self.by_document),
            **{f"by_{key}": _table(table) for key, table in self.by_group.items()},
            "relaxed": _table(self.relaxed),
            "mistakes": self._mistake_counts(),
            "token_accuracy": self.token_accuracy,
            "throughput": self.throughput,
            "calibration": self.calibration,
        }

    def _mistake_counts(self) -> dict[str, Any]:
        kinds = Counter(m.kind for m in self.mistakes)
        shifts = Counter(shift for m in self.mistakes for shift in m.shifts())
        pairs = ((g or "", p or "", n) for (g, p), n in self.confusion.items())
        return {
            "by_kind": {kind: kinds[kind] for kind in MISTAKES},
            "boundaries": dict(sorted(shifts.items())),
            "confusion": [{"gold": g or None, "predicted": p or None, "count": n} for g, p, n in sorted(pairs)],
        }


def evaluate(
    gold: Gold,
    predicted: Predicted,
    *,
    train: Gold | None = None,
    seconds: float | None = None,
) -> Evaluation:
    """Compare predicted mentions with gold ones.

    Parameters
    ----------
    gold
        Sentences or documents with gold mentions.
    predicted
        The same sentences or documents with predicted mentions, in the same order; or, for each gold sentence, the
        mentions predicted for it.
    train
        What the predictor was trained on, to tell seen from unseen mentions.
    seconds
        How long the prediction took, for the throughput.

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
    >>> report.precision, report.recall, report.by_label["DNA"].f1, report.by_kind["embedded"].recall
    (1.0, 0.5, 1.0, 0.0)
    """
    return Evaluation(align(gold, predicted), train=train, seconds=seconds)


def _table(scores: dict[str, Score]) -> dict[str, Any]:
    return {name: score.to_json() for name, score in scores.items()}


def _form(sentence: Sentence, mention: Mention) -> tuple[str, ...]:
    return tuple(sentence.tokens[i] for i in mention.tokens)


def _forms(corpus: Gold) -> dict[tuple[str, ...], set[str]]:
    """Map the words of every mention to the labels that they have had."""
    forms: dict[tuple[str, ...], set[str]] = {}
    for item in corpus:
        sentences: Sequence[Sentence] = item.sentences if isinstance(item, Document) else [item]
        for sentence in sentences:
            for m in sentence.mentions:
                forms.setdefault(_form(sentence, m), set()).add(m.label)
    return forms
