"""What training says of held-out sequences: label by label, as CRFsuite counts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int32]


class LabelScore(NamedTuple):
    """Counts and scores of one label; scores are None where the held-out data do not have it."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


def score(found: Labels, gold: Labels, ends: Sequence[int], labels: Sequence[str]) -> dict[str, Any]:
    """Compare the labels of items; ``ends`` are where sequences end.

    The macro average is over all labels of the model, with 0 for those that the held-out data do not have.
    """
    size = len(labels)
    right = found == gold
    match = np.bincount(gold[right], minlength=size)
    model, ref = np.bincount(found, minlength=size), np.bincount(gold, minlength=size)
    scores = {}
    for name, m, p, r in zip(labels, match.tolist(), model.tolist(), ref.tolist(), strict=True):
        precision, recall = (m / p if p else 0.0), (m / r if r else 0.0)
        f1 = 2 * precision * recall / (precision + recall) if m else 0.0
        scores[name] = LabelScore(m, p, r, precision, recall, f1) if r else LabelScore(m, p, r, None, None, None)
    averages = [sum(getattr(s, key) or 0.0 for s in scores.values()) / max(size, 1) for key in LabelScore._fields[3:]]
    counted = int(match.sum()), len(gold)
    whole = [bool(part.all()) for part in np.split(right, ends[:-1])] if len(ends) else []
    instances = sum(whole), len(whole)
    return {
        "scores": scores,
        **dict(zip(("avg_precision", "avg_recall", "avg_f1"), averages, strict=True)),
        "item_accuracy": _fraction(counted),
        "item_accuracy_float": float(_fraction(counted)),
        "instance_accuracy": _fraction(instances),
        "instance_accuracy_float": float(_fraction(instances)),
        "counts": (counted, instances),
    }


def _fraction(counts: tuple[int, int]) -> Fraction:
    return Fraction(counts[0], counts[1]) if counts[1] else Fraction(0)


def lines(info: dict[str, Any]) -> list[str]:
    """Return the scores as CRFsuite writes them."""
    out = ["Performance by label (#match, #model, #ref) (precision, recall, F1):\n"]
    for label, s in info["scores"].items():
        figures = "******, ******, ******" if s.f1 is None else f"{s.precision:.4f}, {s.recall:.4f}, {s.f1:.4f}"
        out.append(f"    {label}: ({s.match}, {s.model}, {s.ref}) ({figures})\n")
    averages = ", ".join(f"{info[key]:f}" for key in ("avg_precision", "avg_recall", "avg_f1"))
    out.append(f"Macro-average precision, recall, F1: ({averages})\n")
    for name, (right, total), key in zip(
        ("Item", "Instance"), info["counts"], ("item_accuracy_float", "instance_accuracy_float"), strict=True
    ):
        out.append(f"{name} accuracy: {right} / {total} ({info[key]:.4f})\n")
    return out
