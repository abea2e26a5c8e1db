"""Is the difference between two systems more than luck?

Both tests draw the *units* (sentences, or documents) again. F1 needs only sums over units, and units with the same
counts are interchangeable; so they are put into classes, and one draws how many of each class there are. The
distribution is exactly that of drawing units one by one, at a cost that grows with the number of classes instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Floats
from spanloom.base.errors import ParameterError
from spanloom.evaluation.score import Mentions

Counts = npt.NDArray[np.int64]
MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its percentile confidence interval."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        """Return a plain dict."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Paired bootstrap of two systems A and B.

    ``a``, ``b`` and ``difference`` (A − B) map precision, recall and f1 to intervals.
    ``p`` maps each measure to the share of resamples in which the system that is better on the whole data
    is not better (Koehn 2004; one-sided): below 0.05, the winner wins in more than 95 % of them.
    """

    a: dict[str, Interval]
    b: dict[str, Interval]
    difference: dict[str, Interval]
    p: dict[str, float]
    resamples: int
    units: int
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        sides = {name: {m: v.to_json() for m, v in getattr(self, name).items()} for name in ("a", "b", "difference")}
        return {**sides, "p": self.p, "resamples": self.resamples, "units": self.units, "seed": self.seed}


def unit_counts(
    gold: Sequence[Mentions], predicted: Sequence[Mentions], unit_of: Sequence[int] | None = None
) -> Counts:
    """Count ``[gold, predicted, correct]`` for every unit; a row is a sentence, or what ``unit_of`` says.

    Examples
    --------
    >>> from spanloom import Mention
    >>> a, b = Mention("DNA", ((0, 1),)), Mention("DNA", ((1, 2),))
    >>> unit_counts([[a], [a, b]], [[a], [b]]).tolist()
    [[1, 1, 1], [2, 1, 1]]
    >>> unit_counts([[a], [a, b]], [[a], [b]], unit_of=[0, 0]).tolist()
    [[3, 2, 2]]
    """
    rows = np.zeros((len(gold), 3), dtype=np.int64)
    for i, (g, p) in enumerate(zip(gold, predicted, strict=True)):
        gs, ps = {(m.label, m.parts) for m in g}, {(m.label, m.parts) for m in p}
        rows[i] = len(gs), len(ps), len(gs & ps)
    if unit_of is None:
        return rows
    sums = np.zeros((max(unit_of, default=-1) + 1, 3), dtype=np.int64)
    np.add.at(sums, np.asarray(unit_of, dtype=np.intp), rows)
    return sums


def interval(counts: Counts, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0) -> dict[str, Interval]:
    """Return bootstrap confidence intervals of one system's precision, recall and F1.

    Parameters
    ----------
    counts
        From :func:`unit_counts`.
    resamples, level, seed
        How many resamples, the confidence level, and the seed of the draws.
    """
    return bootstrap(counts, counts, resamples=resamples, level=level, seed=seed).a


def bootstrap(a: Counts, b: Counts, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0) -> Bootstrap:
    """Compare two systems on the same units by paired bootstrap resampling (Koehn 2004).

    Parameters
    ----------
    a, b
        Counts of the two systems from :func:`unit_counts`, for the same units and the same gold.
    resamples
        How many times to draw as many units as there are, with replacement, the same ones for both systems.
    level
        Confidence level of the percentile intervals.
    seed
        The same seed gives the same result.

    Examples
    --------
    >>> import numpy as np
    >>> better, worse = np.array([[2, 2, 2]] * 30), np.array([[2, 2, 1]] * 30)
    >>> test = bootstrap(better, worse, resamples=1000)
    >>> test.p["f1"], test.difference["f1"].value
    (0.0, 0.5)
    """
    _check(a, b, resamples)
    if not 0 < level < 1:
        raise ParameterError(f"level must be between 0 and 1, not {level}")
    rows, n_rows = _classes(a, b)
    rng = np.random.default_rng(seed)
    sums = np.vstack(  # sums[resample, 6]
        [rng.multinomial(len(a), n_rows / len(a), size=n) @ rows for n in _batches(resamples, len(rows))]
    )
    whole_a, whole_b = _fractions(a.sum(0)[None]), _fractions(b.sum(0)[None])
    drawn_a, drawn_b = _fractions(sums[:, :3]), _fractions(sums[:, 3:])
    tail = (1 - level) / 2

    def intervals(value: Floats, drawn: Floats) -> dict[str, Interval]:
        low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
        return {m: Interval(float(value[0, k]), float(low[k]), float(high[k])) for k, m in enumerate(MEASURES)}

    sign = np.where(whole_a >= whole_b, 1.0, -1.0)
    p = (sign * (drawn_a - drawn_b) <= 0).mean(axis=0)
    return Bootstrap(
        a=intervals(whole_a, drawn_a),
        b=intervals(whole_b, drawn_b),
        difference=intervals(whole_a - whole_b, drawn_a - drawn_b),
        p={m: float(p[k]) for k, m in enumerate(MEASURES)},
        resamples=resamples,
        units=len(a),
        seed=seed,
    )


def randomisation(a: Counts, b: Counts, *, resamples: int = 10_000, seed: int = 0) -> dict[str, float]:
    """Test by approximate randomisation (Noreen 1989; Yeh 2000): swap the two systems' output of random units.

    Returns
    -------
    For precision, recall and f1 the two-sided p: how often a random swap gives a difference as large as the real one,
    ``(count + 1) / (resamples + 1)``.

    Examples
    --------
    >>> import numpy as np
    >>> better, worse = np.array([[2, 2, 2]] * 30), np.array([[2, 2, 1]] * 30)
    >>> randomisation(better, worse, resamples=999)["f1"]
    0.001
    """
    _check(a, b, resamples)
    rows, n_rows = _classes(a, b)
    rng = np.random.default_rng(seed)
    change = rows[:, 3:] - rows[:, :3]
    unequal = change.any(axis=1)
    change, n_rows = change[unequal], n_rows[unequal]
    moved = np.vstack(  # moved[resample, 3]: what A gains and B loses by the swaps
        [rng.binomial(n_rows, 0.5, size=(n, len(n_rows))) @ change for n in _batches(resamples, len(n_rows))]
    )
    drawn = _fractions(a.sum(0) + moved) - _fractions(b.sum(0) - moved)
    real = _fractions(a.sum(0)[None]) - _fractions(b.sum(0)[None])
    # Differences of the same two fractions may differ in their last bit.
    count = (np.abs(drawn) >= np.abs(real) - 1e-12).sum(axis=0)
    return {m: float((count[k] + 1) / (resamples + 1)) for k, m in enumerate(MEASURES)}


def _check(a: Counts, b: Counts, resamples: int) -> None:
    if resamples < 1:
        raise ParameterError(f"resamples must be at least 1, not {resamples}")
    if not len(a) and not len(b):
        raise ParameterError("there is nothing to draw from: no sentence was scored")
    if len(a) != len(b):
        raise ParameterError(f"both systems need counts for the same units, not {len(a)} and {len(b)} units")
    differ = np.flatnonzero(a[:, 0] != b[:, 0])
    if len(differ):
        i = differ[0]
        raise ParameterError(f"unit {i} has {a[i, 0]} gold mentions for one system and {b[i, 0]} for the other")


def _classes(a: Counts, b: Counts) -> tuple[Floats, Counts]:
    """Return the distinct rows ``[gold, pred, correct, gold, pred, correct]`` of both systems and how often each is.

    The rows are whole numbers kept as floats, whose products numpy hands to BLAS; sums stay exact below 2⁵³.
    """
    rows, n_rows = np.unique(np.hstack([a, b]), axis=0, return_counts=True)
    return rows.astype(np.float64), n_rows


def _batches(resamples: int, classes: int) -> list[int]:
    """Cut the resamples into batches whose draws take a few megabytes."""
    size = max(1, 1_000_000 // max(1, classes))
    return [min(size, resamples - start) for start in range(0, resamples, size)]


def _fractions(sums: Counts | Floats) -> Floats:
    """Return precision, recall and F1 of each row ``[gold, predicted, correct]``; 0 where there is nothing."""
    gold, predicted, correct = sums.T.astype(np.float64)

    def ratio(n: Floats, d: Floats) -> Floats:
        return np.divide(n, d, out=np.zeros_like(n), where=d > 0)

    p, r = ratio(correct, predicted), ratio(correct, gold)
    return np.stack([p, r, ratio(2 * p * r, p + r)], axis=1)
