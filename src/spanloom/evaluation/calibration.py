"""Probabilities of mentions: what a threshold would do; ``evaluation.reliability`` says if they can be believed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom.base.arrays import Floats
from spanloom.base.errors import ParameterError
from spanloom.corpus import Mention
from spanloom.evaluation.outcomes import Outcomes
from spanloom.evaluation.score import Score


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
        """The value with the highest F1; of several, 0 if it is one of them, else the middle one."""
        top = max(s.f1 for s in self.scores)
        places = [i for i, s in enumerate(self.scores) if s.f1 == top]
        values = [self.values[i] for i in places]
        return 0.0 if 0.0 in values else values[len(values) // 2]

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
    prob = probabilities(outcomes.predicted.mentions)
    order = np.argsort(-prob, kind="stable")
    given, right = prob[order], np.cumsum(outcomes.predicted.right[order])
    # The last place of each run of equal probabilities: everything up to there is at or above that threshold.
    last = np.flatnonzero(np.append(given[1:] != given[:-1], len(given) > 0))
    scores = [Score(len(outcomes.gold), int(i) + 1, int(right[i]), int(right[i])) for i in last]
    return Curve("threshold", [float(v) for v in given[last][::-1]], scores[::-1], chosen)


def has_probabilities(predicted: Iterable[Sequence[Mention]]) -> bool:
    """Whether there are predictions and every one carries a probability."""
    values = [m.prob is not None for mentions in predicted for m in mentions]
    return bool(values) and all(values)


def probabilities(mentions: Sequence[Mention]) -> Floats:
    """Return the probabilities of mentions; ``ParameterError`` if one has none."""
    found = np.empty(len(mentions))
    for i, m in enumerate(mentions):
        if m.prob is None or not 0 <= m.prob <= 1:
            raise ParameterError(
                f"predicted mention {i} ({m.label} {m.parts}) has probability {m.prob}; every one needs one in 0..1. "
                "Ask the model for probabilities when predicting."
            )
        found[i] = m.prob
    return found
