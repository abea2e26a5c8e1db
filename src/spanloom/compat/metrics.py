"""Scores of labels over all items of all sequences, under the names of ``sklearn_crfsuite.metrics``.

They need scikit-learn, but for :func:`flat_accuracy_score` and :func:`sequence_accuracy_score`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from spanloom.base.extras import need

Sequences = Sequence[Sequence[Any]]


def flatten(y: Iterable[Iterable[Any]]) -> list[Any]:
    """Return the labels of all sequences in one list."""
    return list(chain.from_iterable(y))


def _sklearn(name: str, y_true: Sequences, y_pred: Sequences, *args: Any, **options: Any) -> Any:
    metric = getattr(need("sklearn.metrics", "sklearn"), name)
    return metric(flatten(y_true), flatten(y_pred), *args, **options)


def flat_accuracy_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Return the share of items with the right label.

    Examples
    --------
    >>> flat_accuracy_score([["x", "z", "y"], ["x", "x"]], [["y", "z", "y"], ["x", "y"]])
    0.6
    """
    gold, found = flatten(y_true), flatten(y_pred)
    if len(gold) != len(found):
        raise ValueError(f"there are {len(gold)} labels and {len(found)} predicted ones")
    return sum(a == b for a, b in zip(gold, found, strict=True)) / len(gold) if gold else 0.0


def flat_precision_score(y_true: Sequences, y_pred: Sequences, **options: Any) -> Any:
    """Return scikit-learn's ``precision_score`` of items."""
    return _sklearn("precision_score", y_true, y_pred, **options)


def flat_recall_score(y_true: Sequences, y_pred: Sequences, **options: Any) -> Any:
    """Return scikit-learn's ``recall_score`` of items."""
    return _sklearn("recall_score", y_true, y_pred, **options)


def flat_f1_score(y_true: Sequences, y_pred: Sequences, **options: Any) -> Any:
    """Return scikit-learn's ``f1_score`` of items."""
    return _sklearn("f1_score", y_true, y_pred, **options)


def flat_fbeta_score(y_true: Sequences, y_pred: Sequences, beta: float, **options: Any) -> Any:
    """Return scikit-learn's ``fbeta_score`` of items."""
    return _sklearn("fbeta_score", y_true, y_pred, beta=beta, **options)


def flat_classification_report(y_true: Sequences, y_pred: Sequences, labels: Any = None, **options: Any) -> Any:
    """Return scikit-learn's ``classification_report`` of items."""
    return _sklearn("classification_report", y_true, y_pred, labels=labels, **options)


def sequence_accuracy_score(y_true: Sequences, y_pred: Sequences) -> float:
    """Return the share of sequences all of whose labels are right.

    Examples
    --------
    >>> sequence_accuracy_score([["x", "y"], ["x"]], [["x", "y"], ["y"]])
    0.5
    """
    if len(y_true) != len(y_pred):
        raise ValueError(f"there are {len(y_true)} sequences and {len(y_pred)} predicted ones")
    right = sum(list(a) == list(b) for a, b in zip(y_true, y_pred, strict=True))
    return right / len(y_true) if len(y_true) else 0
