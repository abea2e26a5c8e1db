"""Scorers for ``cross_val_score``, ``GridSearchCV`` and the like, under the names of ``sklearn_crfsuite.scorers``.

A scorer is a function ``(estimator, X, y)``, which scikit-learn takes for its parameter ``scoring``.
"""

from __future__ import annotations

from typing import Any

from spanloom.compat import metrics


def flat_accuracy(estimator: Any, X: Any, y: Any) -> float:
    """The share of items with the right label."""
    return metrics.flat_accuracy_score(y, estimator.predict(X))


def sequence_accuracy(estimator: Any, X: Any, y: Any) -> float:
    """The share of sequences all of whose labels are right."""
    return metrics.sequence_accuracy_score(y, estimator.predict(X))
