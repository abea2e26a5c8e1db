"""The numbers of an evaluation in the forms of other tools: seqeval, Hugging Face evaluate, nervaluate, conlleval.

On flat mentions the numbers are those of the tools; on others, what the tools would say if they could hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spanloom.corpus import Mention
from spanloom.evaluation.evaluation import Evaluation
from spanloom.evaluation.score import Score

SCHEMAS = ("strict", "exact", "partial", "ent_type")
"""nervaluate's (SemEval 2013, task 9.1): label and place; place; place, an overlap for half; label of what overlaps."""

LEAST_OVERLAP = 0.01
"""The share of a gold mention's tokens that a prediction must share to be about it, as nervaluate has it by default."""


def to_seqeval(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Return what ``seqeval.metrics.classification_report(…, output_dict=True, mode="strict")`` returns.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> from spanloom.evaluation import evaluate
    >>> gold = Sentence(["a", "b", "c"], [Mention("X", ((0, 1),)), Mention("Y", ((1, 3),))])
    >>> to_seqeval(evaluate([gold], [[Mention("X", ((0, 1),))]]))["weighted avg"]
    {'precision': 0.5, 'recall': 0.5, 'f1-score': 0.5, 'support': 2}
    """
    rows = {label: _row(score) for label, score in evaluation.by_label.items()}
    total = sum(row["support"] for row in rows.values())
    names = ("precision", "recall", "f1-score")

    def mean(weights: Sequence[float]) -> dict[str, float]:
        whole = sum(weights) or 1
        pairs = list(zip(rows.values(), weights, strict=True))
        return {name: sum(w * row[name] for row, w in pairs) / whole for name in names} | {"support": total}

    return {
        **rows,
        "micro avg": _row(evaluation.micro),
        "macro avg": mean([1.0] * len(rows)),
        "weighted avg": mean([row["support"] for row in rows.values()]),
    }


def _row(score: Score) -> dict[str, float]:
    return {"precision": score.precision, "recall": score.recall, "f1-score": score.f1, "support": score.gold}


def to_evaluate(evaluation: Evaluation) -> dict[str, Any]:
    """Return what ``evaluate.load("seqeval").compute(…)`` of Hugging Face returns."""
    rows: dict[str, Any] = {
        label: {"precision": s.precision, "recall": s.recall, "f1": s.f1, "number": s.gold}
        for label, s in evaluation.by_label.items()
    }
    overall = {f"overall_{name}": getattr(evaluation.micro, name) for name in ("precision", "recall", "f1")}
    return {**rows, **overall, "overall_accuracy": evaluation.token_accuracy}


def to_conlleval(evaluation: Evaluation) -> str:
    """Return the lines that the script ``conlleval`` prints."""
    micro, counts = evaluation.micro, evaluation.counts

    def figures(score: Score) -> str:
        shares = 100 * score.precision, 100 * score.recall, 100 * score.f1
        return "precision: {:6.2f}%; recall: {:6.2f}%; FB1: {:6.2f}".format(*shares)

    lines = [
        f"processed {counts['tokens']} tokens with {micro.gold} phrases; found: {micro.predicted} phrases; "
        f"correct: {micro.correct:g}.",
        f"accuracy: {100 * evaluation.token_accuracy:6.2f}%; {figures(micro)}",
        *(f"{label:>17}: {figures(score)}  {score.predicted}" for label, score in evaluation.by_label.items()),
    ]
    return "\n".join(lines) + "\n"


@dataclass
class Counts:
    """How gold and predicted mentions go together under one of nervaluate's schemas.

    ``possible`` are the gold mentions, ``actual`` the predicted ones.
    """

    correct: int = 0
    incorrect: int = 0
    partial: int = 0
    missed: int = 0
    spurious: int = 0

    def to_json(self) -> dict[str, float]:
        """Return counts and scores under nervaluate's names; a partial match counts half."""
        actual = self.correct + self.incorrect + self.partial + self.spurious
        possible = self.correct + self.incorrect + self.partial + self.missed
        credit = self.correct + 0.5 * self.partial
        precision, recall = (credit / actual if actual else 0.0), (credit / possible if possible else 0.0)
        f1 = 2 * precision * recall / (precision + recall) if credit else 0.0
        scores = {"actual": actual, "possible": possible, "precision": precision, "recall": recall, "f1": f1}
        return {**asdict(self), **scores}


def to_nervaluate(evaluation: Evaluation) -> dict[str, Any]:
    """Return nervaluate's results: ``{"overall": {schema: counts}, "entities": {label: {schema: counts}}}``.

    Predicted mentions are taken in the order of the text; each takes a gold mention that is still free: an equal one,
    else the first that it overlaps (for ``ent_type``, the one of its label whose borders are nearest). A gold mention
    that is missed for this is missed in nervaluate too; ``Evaluation.relaxed`` has scores that do not depend on order.

    Examples
    --------
    >>> from spanloom import Mention, Sentence
    >>> from spanloom.evaluation import evaluate
    >>> gold = Sentence(["a", "b", "c"], [Mention("X", ((0, 2),))])
    >>> found = to_nervaluate(evaluate([gold], [[Mention("X", ((1, 3),))]]))["overall"]
    >>> found["strict"]["incorrect"], found["partial"]["partial"], found["ent_type"]["correct"]
    (1, 1, 1)
    """
    gold = [_ordered(mentions) for mentions in evaluation.aligned.gold]
    predicted = [_ordered(mentions) for mentions in evaluation.aligned.predicted]

    def counted(label: str | None) -> dict[str, dict[str, float]]:
        found = {schema: Counts() for schema in SCHEMAS}
        for g, p in zip(gold, predicted, strict=True):
            wanted, given = ([m for m in side if label is None or m.label == label] for side in (g, p))
            for schema, counts in found.items():
                _count(schema, wanted, given, counts)
        return {schema: counts.to_json() for schema, counts in found.items()}

    return {"overall": counted(None), "entities": {label: counted(label) for label in evaluation.by_label}}


def _ordered(mentions: Any) -> list[Mention]:
    return sorted({(m.parts, m.label): m for m in mentions}.values(), key=lambda m: (m.start, m.end, m.parts, m.label))


def _count(schema: str, gold: list[Mention], predicted: list[Mention], counts: Counts) -> None:
    """Add one sentence."""
    free = dict(enumerate(gold))
    for p in predicted:
        near = {i: g for i, g in free.items() if _overlap(g, p) >= LEAST_OVERLAP}
        if schema == "ent_type":
            same = [i for i, g in near.items() if g.label == p.label]
            match = min(same, key=lambda i: (abs(near[i].start - p.start) + abs(near[i].end - p.end), i), default=None)
        else:
            equal = (i for i, g in near.items() if g.parts == p.parts and (schema != "strict" or g.label == p.label))
            match = next(equal, None)
        if match is not None:
            counts.correct += 1
        elif near:
            match = next(iter(near))
            counts.partial += schema == "partial"
            counts.incorrect += schema != "partial"
        else:
            counts.spurious += 1
        if match is not None:
            del free[match]
    counts.missed += len(free)


def _overlap(gold: Mention, predicted: Mention) -> float:
    """The share of the gold mention's tokens that the prediction has."""
    tokens = set(gold.tokens)
    return len(tokens.intersection(predicted.tokens)) / len(tokens)
