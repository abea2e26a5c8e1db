"""Probabilities of mentions: what a threshold would do, and whether they can be believed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ParameterError
from spanloom.corpus import Mention
from spanloom.evaluation.outcomes import Outcomes
from spanloom.evaluation.score import Score

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """Scores at ascending values of a setting: a threshold, a mention penalty.

    Parameters
    ----------
    name
        The setting.
    values, scores
        ``scores[i]`` is the score at ``values[i]``.
    chosen
        The value in use, if it is known.
    """

    name: str
    values: list[float]
    scores: list[Score]
    chosen: float | None = None

    @property
    def best(self) -> float:
        """The value with the highest F1; of several, the middle one."""
        top = max(s.f1 for s in self.scores)
        places = [i for i, s in enumerate(self.scores) if s.f1 == top]
        return self.values[places[len(places) // 2]]

    def at(self, value: float) -> Score:
        """Return the score at the nearest value."""
        return self.scores[int(np.argmin([abs(v - value) for v in self.values]))]

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        points = [{self.name: v, **s.to_json()} for v, s in zip(self.values, self.scores, strict=True)]
        return {"name": self.name, "chosen": self.chosen, "best": self.best, "points": points}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Curve:
        """Undo ``to_json``."""
        name, points = data["name"], data["points"]
        counts = ("gold", "predicted", "found", "correct")
        scores = [Score(*(point[count] for count in counts)) for point in points]
        return cls(name, [point[name] for point in points], scores, data["chosen"])


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often mentions are right that were given with a probability.

    ``bins`` holds ``(low, high, count, mean probability, share right)`` for every bin that is not empty. ``error`` is
    the expected calibration error, Σ count/n · |share right − mean probability|; ``brier`` the mean of
    (probability − right)².
    """

    bins: list[tuple[float, float, int, float, float]]
    error: float
    brier: float
    count: int

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        keys = ("low", "high", "count", "probability", "right")
        return {
            "expected_calibration_error": self.error,
            "brier": self.brier,
            "count": self.count,
            "bins": [dict(zip(keys, b, strict=True)) for b in self.bins],
        }


def threshold_curve(outcomes: Outcomes, *, chosen: float | None = None) -> Curve:
    """Score the predicted mentions whose probability is at least t, for every t that makes a difference.

    Parameters
    ----------
    outcomes
        Predictions with probabilities; those at or above a low threshold, or all that the model offers, so that the
        curve has somewhere to go.
    chosen
        The threshold in use, to be marked.

    Examples
    --------
    >>> sure, unsure = Mention("X", ((0, 1),), prob=0.9), Mention("X", ((2, 3),), prob=0.3)
    >>> curve = threshold_curve(Outcomes([[sure]], [[sure, unsure]]))
    >>> curve.values, [s.precision for s in curve.scores], curve.best
    ([0.3, 0.9], [0.5, 1.0], 0.9)
    """
    prob = _probabilities(outcomes.predicted.mentions)
    order = np.argsort(-prob, kind="stable")
    given, right = prob[order], np.cumsum(outcomes.predicted.right[order])
    # The last place of each run of equal probabilities: everything up to there is at or above that threshold.
    last = np.flatnonzero(np.append(given[1:] != given[:-1], len(given) > 0))
    scores = [Score(len(outcomes.gold), int(i) + 1, int(right[i]), int(right[i])) for i in last]
    return Curve("threshold", [float(v) for v in given[last][::-1]], scores[::-1], chosen)


def reliability(outcomes: Outcomes, *, bins: int = 10) -> Reliability:
    """Compare the probabilities of predicted mentions with how often they are right, in bins of equal width.

    Examples
    --------
    >>> a, b = Mention("X", ((0, 1),), prob=0.75), Mention("X", ((2, 3),), prob=0.75)
    >>> r = reliability(Outcomes([[a]], [[a, b]]))
    >>> r.error, r.bins
    (0.25, [(0.7, 0.8, 2, 0.75, 0.5)])
    """
    if bins < 1:
        raise ParameterError(f"bins must be at least 1, not {bins}")
    prob, right = _probabilities(outcomes.predicted.mentions), outcomes.predicted.right.astype(np.float64)
    if not len(prob):
        return Reliability([], 0.0, 0.0, 0)
    place = np.minimum((prob * bins).astype(np.int64), bins - 1)
    found = []
    error = 0.0
    for b in np.unique(place):
        inside = place == b
        n, mean, share = int(inside.sum()), float(prob[inside].mean()), float(right[inside].mean())
        found.append((float(b) / bins, float(b + 1) / bins, n, mean, share))
        error += n / len(prob) * abs(share - mean)
    return Reliability(found, error, float(((prob - right) ** 2).mean()), len(prob))


def has_probabilities(predicted: Iterable[Sequence[Mention]]) -> bool:
    """Whether there are predictions and every one carries a probability."""
    values = [m.prob is not None for mentions in predicted for m in mentions]
    return bool(values) and all(values)


def _probabilities(mentions: Sequence[Mention]) -> Floats:
    found = np.empty(len(mentions))
    for i, m in enumerate(mentions):
        if m.prob is None or not 0 <= m.prob <= 1:
            raise ParameterError(
                f"predicted mention {i} ({m.label} {m.parts}) has probability {m.prob}; every one needs one in 0..1. "
                "Ask the model for probabilities when predicting."
            )
        found[i] = m.prob
    return found
