"""Can probabilities be believed? How often mentions are right that were given with a probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Floats
from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_choice
from spanloom.evaluation.calibration import probabilities
from spanloom.evaluation.outcomes import Outcomes
from spanloom.evaluation.significance import Interval

WIDTHS = ("equal", "adaptive")
AT_ONCE = 100
"""So many resamples are drawn at once."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often mentions are right that were given with a probability.

    Attributes
    ----------
    bins
        ``(low, high, count, mean probability, share right)`` for every bin that is not empty.
    error
        The expected calibration error (ECE), Σ count/n · |share right − mean probability|.
    brier
        The mean of (probability − right)².
    count
        How many mentions there are.
    chance
        The ``error`` that perfect probabilities would have in the mean with as many mentions: the share right of a bin
        is off by a standard deviation of √(Σ p (1 − p)) / count, by √(2/π) times that in the mean.
    debiased
        The root of Σ count/n · ((share right − mean probability)² − share right · (1 − share right) / (count − 1)): how
        far off they are, as root mean square, less what chance adds (Kumar, Liang & Ma 2019); 0 if that is all.
    """

    bins: list[tuple[float, float, int, float, float]]
    error: float
    brier: float
    count: int
    chance: float = 0.0
    debiased: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        keys = ("low", "high", "count", "probability", "right")
        return {
            "expected_calibration_error": self.error,
            "by_chance": self.chance,
            "debiased": self.debiased,
            "brier": self.brier,
            "count": self.count,
            "bins": [dict(zip(keys, b, strict=True)) for b in self.bins],
        }


def reliability(outcomes: Outcomes, *, bins: int = 10, widths: str = "equal") -> Reliability:
    """Compare the probabilities of predicted mentions with how often they are right.

    Parameters
    ----------
    outcomes
        Predictions with probabilities.
    bins
        At most so many.
    widths
        ``"equal"``: bins of equal width. ``"adaptive"``: bins of about as many mentions each, in which equal
        probabilities stay together; most mentions are probable, and few bins of equal width tell them apart.

    Examples
    --------
    >>> from spanloom import Mention
    >>> a, b = Mention("X", ((0, 1),), prob=0.75), Mention("X", ((2, 3),), prob=0.75)
    >>> r = reliability(Outcomes([[a]], [[a, b]]))
    >>> r.error, r.bins
    (0.25, [(0.7, 0.8, 2, 0.75, 0.5)])
    """
    check_choice("widths", widths, WIDTHS)
    if bins < 1:
        raise ParameterError(f"bins must be at least 1, not {bins}")
    prob, right = probabilities(outcomes.predicted.mentions), outcomes.predicted.right.astype(np.float64)
    return _compared(prob, right, bins, widths)


def reliability_by_label(
    outcomes: Outcomes, *, bins: int = 10, widths: str = "adaptive", least: int = 30
) -> dict[str, Reliability]:
    """Return the reliability of each label with enough predicted mentions."""
    mentions = outcomes.predicted.mentions
    prob, right = probabilities(mentions), outcomes.predicted.right.astype(np.float64)
    labels = np.array([m.label for m in mentions], dtype=object)
    found = {label: labels == label for label in sorted({m.label for m in mentions})}
    return {label: _compared(prob[own], right[own], bins, widths) for label, own in found.items() if own.sum() >= least}


def error_interval(
    outcomes: Outcomes, *, bins: int = 10, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Return the calibration error with adaptive bins, and its bootstrap interval: sentences are drawn, the bins stay.

    Absolute values are added up, so that the error of few mentions is too high by chance; that of resamples even more.
    """
    prob, right = probabilities(outcomes.predicted.mentions), outcomes.predicted.right.astype(np.float64)
    value = _compared(prob, right, bins, "adaptive").error
    units, unit = np.unique(outcomes.predicted.sentence, return_inverse=True)
    if not len(units):
        return Interval(0.0, 0.0, 0.0)
    # A resample's error is Σ_bin |Σ_unit drawn · gap[unit, bin]| / Σ_unit drawn · size[unit].
    gap = np.zeros((len(units), bins))
    np.add.at(gap, (unit.reshape(-1), _adaptive(prob, bins)), right - prob)
    size = np.bincount(unit.reshape(-1))
    random, share = np.random.default_rng(seed), np.full(len(units), 1 / len(units))
    errors: list[float] = []
    while len(errors) < resamples:
        drawn = random.multinomial(len(units), share, size=min(AT_ONCE, resamples - len(errors)))
        errors += (np.abs(drawn @ gap).sum(axis=1) / (drawn @ size)).tolist()
    low, high = np.quantile(errors, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(value, low, high)


def _compared(prob: Floats, right: Floats, bins: int, widths: str) -> Reliability:
    count = len(prob)
    if not count:
        return Reliability([], 0.0, 0.0, 0)
    place = np.minimum((prob * bins).astype(np.int64), bins - 1) if widths == "equal" else _adaptive(prob, bins)
    size = np.bincount(place)
    used = np.flatnonzero(size)
    n = size[used]
    mean, share = (np.bincount(place, weights=values)[used] / n for values in (prob, right))
    if widths == "equal":
        ends = [(float(b) / bins, float(b + 1) / bins) for b in used.tolist()]
    else:
        ends = [(float(prob[place == b].min()), float(prob[place == b].max())) for b in used.tolist()]
    rows = [
        (*e, *row) for e, row in zip(ends, zip(n.tolist(), mean.tolist(), share.tolist(), strict=True), strict=True)
    ]
    error = float(n @ np.abs(share - mean)) / count
    spread = np.sqrt(np.bincount(place, weights=prob * (1 - prob))[used])
    chance = math.sqrt(2 / math.pi) * float(spread.sum()) / count
    # Of a bin with one mention nothing is known beside chance.
    square = np.where(n > 1, (share - mean) ** 2 - share * (1 - share) / np.maximum(n - 1, 1), 0.0)
    debiased = math.sqrt(max(float(n @ square) / count, 0.0))
    return Reliability(rows, error, float(((prob - right) ** 2).mean()), count, chance, debiased)


def _adaptive(prob: Floats, bins: int) -> npt.NDArray[np.int64]:
    """The bin of each: rank · bins // n, that of the first among equal probabilities."""
    _, inverse, counts = np.unique(prob, return_inverse=True, return_counts=True)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    place: npt.NDArray[np.int64] = (first * bins // len(prob))[inverse.reshape(-1)].astype(np.int64)
    return place
