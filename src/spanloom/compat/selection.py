"""Cross-validation of sequences: what scikit-learn's functions for it cannot put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanloom.base.extras import need


def cross_val_predict(
    estimator: Any,
    X: Sequence[Any],
    y: Sequence[Any] | None = None,
    *,
    groups: Sequence[Any] | None = None,
    cv: Any = None,
    n_jobs: int | None = None,
    method: str = "predict",
) -> list[Any]:
    """Predict every sequence by an estimator that was fitted on other folds.

    ``sklearn.model_selection.cross_val_predict`` makes one array of all predictions. Sequences of different lengths fit
    only by luck, when no fold has sequences of one length alone; this returns a list, in the order of ``X``. Parameters
    are the same.

    Examples
    --------
    >>> from spanloom.compat import CRF
    >>> X = [[["rain"], ["sun"]], [["sun"]], [["rain"]], [["sun"], ["rain"]]]
    >>> y = [["wet", "dry"], ["dry"], ["wet"], ["dry", "wet"]]
    >>> cross_val_predict(CRF(c2=0.01), X, y, cv=2)
    [['wet', 'dry'], ['dry'], ['wet'], ['dry', 'wet']]
    """
    selection = need("sklearn.model_selection", "sklearn")
    base, parallel = need("sklearn.base", "sklearn"), need("joblib", "sklearn")
    X = list(X)
    y = None if y is None else list(y)
    folds = selection.check_cv(cv, y, classifier=False)
    parts = [(train.tolist(), test.tolist()) for train, test in folds.split(X, y, groups)]
    if sorted(i for _, test in parts for i in test) != list(range(len(X))):
        raise ValueError(
            "cross_val_predict needs folds that have every sequence once; e.g. GroupKFold, not ShuffleSplit"
        )
    jobs = (
        parallel.delayed(_predict)(
            base.clone(estimator),
            [X[i] for i in train],
            None if y is None else [y[i] for i in train],
            [X[i] for i in test],
            method,
        )
        for train, test in parts
    )
    found: list[Any] = [None] * len(X)
    for (_, test), predicted in zip(parts, parallel.Parallel(n_jobs=n_jobs)(jobs), strict=True):
        for i, one in zip(test, predicted, strict=True):
            found[i] = one.tolist() if hasattr(one, "tolist") else one
    return found


def _predict(estimator: Any, X: list[Any], y: list[Any] | None, unseen: list[Any], method: str) -> Any:
    return getattr(estimator.fit(X, y), method)(unseen)
