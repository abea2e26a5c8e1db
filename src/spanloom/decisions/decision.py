"""Decisions: how an answer is made of what a model believes.

The best structure, with or without a mention penalty; or every mention with at least a probability, for the highest F1,
or for a precision or a recall. Where probabilities are right, one threshold for all labels gives the highest expected
F1 of all ways to decide, and the most recall at a precision: a mention that is less probable adds less to what is
right, at the same price. Where they are not, a label with enough mentions can have a threshold of its own.

These are settings. What they come to with the data at hand is a ``Rule`` (``decisions.rule``), which ``deciding``
makes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Floats
from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_choice, check_count
from spanloom.base.settings import Settings
from spanloom.corpus.mention import Mention
from spanloom.decisions.calibration import CALIBRATIONS
from spanloom.decisions.penalty import Wanted, check_penalty
from spanloom.decisions.thresholds import Cuts, Scored, best_threshold, threshold_curve
from spanloom.evaluation.score import Score

FLOOR = 0.01
"""Mentions that are less probable are not looked at."""
ENOUGH = 100
"""With so many mentions in the data a label gets a threshold of its own."""

Gold = Sequence[Sequence[Mention]]


@dataclass(frozen=True)
class Decision(Settings):
    """What decisions share.

    Parameters
    ----------
    exclusive
        What mentions exclude each other; the most probable one stays, with the probability that it has without this.
        True: the same tokens have one label at most. ``"flat"``: mentions share no tokens. ``"auto"``: what the
        training data never have.
    calibrate
        What becomes of the model's probabilities: ``"none"``, they stay; ``"temperature"``, ``"platt"``, ``"beta"`` or
        ``"isotonic"``, see ``decisions.calibration``; ``"auto"``, the one of these that is best, or none. It is learned
        on the development data, or without them by cross-fitting.
    cross_fit
        Without development data, what is chosen or learned for the decision costs so many more trainings, each on the
        training data without one of as many blocks.
    """

    exclusive: bool | str = field(default="auto", kw_only=True)
    calibrate: str = field(default="none", kw_only=True)
    cross_fit: int = field(default=5, kw_only=True)

    def check(self) -> None:
        check_choice("calibrate", self.calibrate, ("none", "auto", *CALIBRATIONS))
        check_count("cross_fit", self.cross_fit, low=2)
        if self.exclusive not in (True, False, "flat", "auto"):
            raise ParameterError(
                f"The 'exclusive' parameter must be True, False, 'flat' or 'auto'. Got {self.exclusive!r} instead."
            )

    @property
    def penalty_wanted(self) -> Wanted:
        """The mention penalty, or how it is chosen."""
        return 0.0

    @property
    def needs_dev(self) -> bool:
        """Whether something is chosen on development data."""
        return False


@dataclass(frozen=True)
class Best(Decision):
    """The best structure.

    Parameters
    ----------
    penalty
        A weight on starting a mention: above 0 for more mentions, below 0 for fewer; one number, or one for each label.
        ``"auto"`` and ``"auto-by-label"`` choose on the development data; without them, ``"auto"`` chooses by
        cross-fitting on the training data. See ``decisions.penalty``.
    exclusive, calibrate
        As in ``Decision``.
    """

    penalty: Wanted = 0.0

    name = "best"

    def check(self) -> None:
        super().check()
        check_penalty(self.penalty)

    @property
    def penalty_wanted(self) -> Wanted:
        return self.penalty

    @property
    def needs_dev(self) -> bool:
        return self.penalty == "auto-by-label"  # "auto" can do without: the training data are cross-fitted


@dataclass(frozen=True)
class OnDev(Decision):
    """The one with the highest F1 on development data.

    The best structure, the best structure with a mention penalty that is chosen there, or thresholds on the
    probability of mentions (``ExpectedF1``) if they are better by more than a standard error on blocks of these data
    that did not choose them.
    """

    name = "auto"

    @property
    def needs_dev(self) -> bool:
        return True


@dataclass(frozen=True)
class ByThreshold(Decision):
    """Every mention with at least a probability, of those that the model can hold together the most probable ones."""

    def choose(self, believed: Scored, gold: Gold, labels: Iterable[str]) -> dict[str, float]:
        """Return the threshold of each label.

        Parameters
        ----------
        believed
            Of each sentence, the mentions with a probability of at least ``FLOOR``.
        gold
            Of each sentence, the true ones.
        labels
            Those of the model.
        """
        return dict.fromkeys(labels, min(max(self.threshold(believed, gold), FLOOR), 1.0))

    @abstractmethod
    def threshold(self, believed: Scored, gold: Gold) -> float:
        """Return one threshold for all labels."""


@dataclass(frozen=True)
class ExpectedF1(ByThreshold):
    """The highest F1.

    Parameters
    ----------
    by_label
        Whether labels with at least ``ENOUGH`` mentions have thresholds of their own.
    """

    by_label: bool = True

    name = "f1"

    def threshold(self, believed: Scored, gold: Gold) -> float:
        """Of several with the same F1, the one nearest to 0.5."""
        return best_threshold([[(p - 0.5, m) for p, m in own] for own in believed], gold) + 0.5

    def choose(self, believed: Scored, gold: Gold, labels: Iterable[str]) -> dict[str, float]:
        chosen = super().choose(believed, gold, labels)
        if not self.by_label:
            return chosen
        curves = {label: _cuts(believed, gold, label) for label in chosen}
        common, total = dict(chosen), sum(curve.gold for curve in curves.values())
        moved = True
        while moved:  # label after label, until none moves: F1 rises with every step
            moved = False
            for label, curve in curves.items():
                if curve.gold < ENOUGH or not len(curve.values):
                    continue
                others = [(curves[other], t) for other, t in chosen.items() if other != label]
                given = sum(one.at(t)[0] for one, t in others) + curve.found
                right = sum(one.at(t)[1] for one, t in others) + curve.hits
                f1 = (2 * right / (given + total)).tolist()
                was_given, was_right = curve.at(chosen[label])
                now = (
                    2
                    * (sum(one.at(t)[1] for one, t in others) + was_right)
                    / (sum(one.at(t)[0] for one, t in others) + was_given + total)
                )
                # Of several with the same F1, the one nearest to the threshold for all.
                best = max(range(len(f1)), key=lambda i: (round(f1[i], 12), -abs(curve.values[i] - common[label])))
                if f1[best] > now + 1e-12:
                    chosen[label], moved = float(curve.values[best]), True
        return chosen


@dataclass(frozen=True)
class AtLeast(ByThreshold):
    """The most recall at a precision, or the most precision at a recall, over all labels.

    A share that is just reached on the data on which the threshold is chosen is missed on others half of the time. So
    its lower bound is to reach what is asked for: that of Wilson (1927), which is below the share by more where there
    are fewer mentions.

    Parameters
    ----------
    precision, recall
        What is to be reached, above 0 and at most 1: one of the two.
    confidence
        Of the bound, 0.5 or more and below 1; 0.5: the share itself is to reach it.

    Examples
    --------
    >>> a, b, c = (Mention("X", ((i, i + 1),)) for i in range(3))
    >>> believed = [[(0.9, a), (0.6, b), (0.2, c)]]
    >>> AtLeast(precision=0.6, confidence=0.5).choose(believed, [[a, c]], ["X"])
    {'X': 0.01}
    >>> AtLeast(recall=0.5, confidence=0.5).choose(believed, [[a, c]], ["X"])
    {'X': 0.75}
    """

    precision: float | None = None
    recall: float | None = None
    confidence: float = 0.9

    name = "at-least"

    def check(self) -> None:
        super().check()
        values = [value for value in (self.precision, self.recall) if value is not None]
        if len(values) != 1 or not isinstance(values[0], float | int) or not 0 < values[0] <= 1:
            raise ParameterError(
                "AtLeast takes one number above 0 and at most 1, precision=… or recall=…; got "
                f"precision={self.precision!r}, recall={self.recall!r}"
            )
        if not isinstance(self.confidence, float | int) or not 0.5 <= self.confidence < 1:
            raise ParameterError(
                "The 'confidence' parameter must be a number from 0.5 and below 1, 0.5 for no margin. Got "
                f"{self.confidence!r} instead."
            )

    @property
    def asked(self) -> float:
        """The precision or the recall that is wanted."""
        return self.precision or self.recall or 0.0

    def threshold(self, believed: Scored, gold: Gold) -> float:
        """The threshold that reaches the target, or comes nearest to it."""
        values, precision, recall = threshold_curve(believed, gold)
        if not len(values):
            return 0.5
        total = sum(len(set(mentions)) for mentions in gold)
        if self.precision is not None:
            given = np.divide(recall * total, precision, out=np.ones_like(recall), where=precision > 0)
            asked, other = lower_bound(precision, given, self.confidence), recall
        else:
            asked, other = lower_bound(recall, np.full(len(recall), max(total, 1)), self.confidence), precision
        enough = asked >= self.asked - 1e-12
        if not enough.any():
            return float(values[np.argmax(asked)])
        return float(values[np.argmax(np.where(enough, other, -1.0))])

    def facts(self, score: Score) -> dict[str, Any]:
        """Say what was asked for, and whether the lower bound of a score reaches it."""
        share, of = (score.precision, score.predicted) if self.precision is not None else (score.recall, score.gold)
        bound = float(lower_bound(np.array([share]), np.array([max(of, 1)]), self.confidence)[0])
        what = "precision" if self.precision is not None else "recall"
        return {"what": what, "asked": self.asked, "reached": bound >= self.asked - 1e-12, "lower_bound": bound}


def lower_bound(share: Floats, of: npt.ArrayLike, confidence: float) -> Floats:
    """Return the lower end of Wilson's one-sided interval of shares, given their denominators.

    Examples
    --------
    With 0.9 of ten and of a thousand; all of n have the bound n / (n + z²):

    >>> lower_bound(np.array([0.9, 0.9]), [10, 1000], 0.9).round(3).tolist()
    [0.718, 0.887]
    >>> lower_bound(np.array([1.0]), [10], 0.5).tolist()
    [1.0]
    """
    z, n = NormalDist().inv_cdf(confidence), np.asarray(of, np.float64)
    middle = share + z * z / (2 * n)
    wide = z * np.sqrt(np.maximum(share * (1 - share), 0.0) / n + z * z / (4 * n * n))
    return np.asarray((middle - wide) / (1 + z * z / n), np.float64)


DECISIONS: Mapping[str, type[Decision]] = {one.name: one for one in (Best, OnDev, ExpectedF1, AtLeast)}
"""The decisions by the name that model files and ``Recognizer(decide=…)`` know; for ``AtLeast`` see ``decision``."""


def decision(given: Decision | str) -> Decision:
    """Return a decision by its name; a decision stays what it is.

    Examples
    --------
    >>> decision("f1"), decision("precision=0.95")
    (ExpectedF1(exclusive='auto', calibrate='none', cross_fit=5, by_label=True),
     AtLeast(exclusive='auto', calibrate='none', cross_fit=5, precision=0.95, recall=None,
             confidence=0.9))
    """
    if not isinstance(given, str):
        return given
    name, mark, value = given.partition("=")
    if mark and name in ("precision", "recall"):
        try:
            share = float(value)
        except ValueError:
            raise ParameterError(f"decide={given!r}: {value!r} is no number; type e.g. {name}=0.9") from None
        return AtLeast(precision=share) if name == "precision" else AtLeast(recall=share)
    names = [one for one in DECISIONS if one != AtLeast.name]
    check_choice("decide", given, [*names, "precision=0.95", "recall=0.9"])
    return DECISIONS[given]()


def _cuts(believed: Scored, gold: Gold, label: str) -> Cuts:
    """The thresholds of one label, none below ``FLOOR``."""
    own = [[(p, m) for p, m in some if m.label == label] for some in believed]
    cuts = Cuts.of(own, [[m for m in some if m.label == label] for some in gold], below=0.0)
    return replace(cuts, values=np.maximum(cuts.values, FLOOR))
