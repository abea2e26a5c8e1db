"""From the probabilities of a model to how often such mentions are right, learned on data that it has not seen.

    temperature   P = σ(slope · logit p): sharper or blunter, one number
    platt         P = σ(slope · logit p + offset) (Platt 1999)
    beta          P = σ(a · log p − b · log(1 − p) + offset): bends differently at both ends (Kull et al. 2017)
    isotonic      the rising steps that are nearest to what is right (Zadrozny & Elkan 2002), joined by lines

All of them rise with p. The best structure stays what it is, as it is chosen by scores. Mentions of the best structure
and others have a curve each: that a mention is in the best structure says more of it than its probability does, where a
model is too sure of itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.decisions.platt import logistic, platt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

TINY = 1e-12
"""Probabilities are taken to be this far from 0 and 1 at least."""
PARTS = 5
"""Kinds are compared on data that they were not learned from, by parts of the sentences."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising curve from probability to probability.

    Parameters
    ----------
    kind
        One of ``CALIBRATIONS``.
    values
        Slope and offset; for ``beta`` two slopes and an offset; for ``isotonic`` the points of the curve, x and y in
        turn.
    others
        The curve of mentions outside of the best structure; None: this one is for all.

    Examples
    --------
    >>> halved = Calibration("temperature", (0.5, 0.0))
    >>> halved([0.5, 0.9]).round(3).tolist()
    [0.5, 0.75]
    >>> round(halved.inverse(0.75), 3)
    0.9
    """

    kind: str
    values: tuple[float, ...]
    others: Calibration | None = None

    def __call__(self, p: npt.ArrayLike) -> Floats:
        """Return the calibrated probabilities."""
        given = np.asarray(p, np.float64)
        if self.kind == "isotonic":
            return np.interp(given, self.values[::2], self.values[1::2])
        if self.kind == "beta":
            return _sigmoid(_ends(given) @ np.array(self.values))
        slope, offset = self.values
        return _sigmoid(slope * _logit(given) + offset)

    def of(self, p: npt.ArrayLike, answered: npt.ArrayLike) -> Floats:
        """Return the calibrated probabilities of mentions that are ``answered``, in the best structure, or not."""
        return self(p) if self.others is None else np.where(answered, self(p), self.others(p))

    def least(self, p: float) -> float:
        """Return the lowest probability of any mention that becomes ``p`` or more; 1 if there is none."""
        return min(self.inverse(p), 1.0 if self.others is None else self.others.inverse(p))

    def inverse(self, p: float) -> float:
        """Return the lowest probability that this curve makes ``p`` or more; 1 if there is none."""
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if float(self(middle)) >= p else (middle, high)
        return high

    def to_json(self) -> dict[str, Any]:
        """Return a plain dict."""
        made: dict[str, Any] = {"kind": self.kind, "values": list(self.values)}
        return made if self.others is None else {**made, "others": self.others.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """Undo ``to_json``; ``ValueError`` if it makes no sense."""
        kind, values = str(data["kind"]), tuple(float(value) for value in data["values"])
        x, y = np.array(values[::2]), np.array(values[1::2])
        rising = len(x) == len(y) >= 2 and not (np.diff(x) < 0).any() and not (np.diff(y) < 0).any()
        sloped = len(values) == (3 if kind == "beta" else 2) and min(values[:-1]) >= 0 and max(values[:-1]) > 0
        if kind not in CALIBRATIONS or not (rising if kind == "isotonic" else sloped):
            raise ValueError(f"the calibration {kind!r} has no values {values}")
        others = data.get("others")
        return cls(kind, values, None if others is None else cls.from_json(others))


UNCHANGED = Calibration("temperature", (1.0, 0.0))
"""The curve that changes nothing."""


def temperature(p: Floats, right: Bools) -> Calibration | None:
    """Return the curve with one slope of the highest likelihood, by Newton's method.

    Examples
    --------
    Of mentions with 0.9, three of four are right; so are one of four with 0.1:

    >>> made = temperature(np.array([0.9] * 4 + [0.1] * 4), np.array([1, 1, 1, 0, 1, 0, 0, 0], bool))
    >>> made([0.9]).round(3).tolist()
    [0.75]
    """
    z, slope = _logit(p), 1.0
    for _ in range(100):
        q = _sigmoid(slope * z)
        curvature = float(z * z @ (q * (1 - q))) + 1e-12
        step = float(z @ (q - right)) / curvature
        slope = min(max(slope - step, slope / 4), slope * 4)  # never below 0, never far at once
        if abs(step) < 1e-10:
            break
    return Calibration("temperature", (slope, 0.0))


def scaled(p: Floats, right: Bools) -> Calibration | None:
    """Return Platt's curve over log-odds; None if it does not rise."""
    slope, offset = platt(_logit(p), right)
    return Calibration("platt", (slope, offset)) if slope > 0 else None


def beta(p: Floats, right: Bools) -> Calibration | None:
    """Return the curve over log p and −log(1 − p); None if it does not rise with both.

    Examples
    --------
    Where both slopes are alike it is Platt's curve:

    >>> p, right = np.array([0.9] * 4 + [0.1] * 4 + [0.5] * 4), np.array([1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0], bool)
    >>> made = beta(p, right)
    >>> made([0.1, 0.5, 0.9]).round(2).tolist()
    [0.31, 0.5, 0.69]
    """
    a, b, offset = logistic(_ends(p), right).tolist()
    return Calibration("beta", (a, b, offset)) if min(a, b) >= 0 and max(a, b) > 0 else None


def isotonic(p: Floats, right: Bools) -> Calibration | None:
    """Return the rising curve of the least squared error: pool adjacent violators.

    Each pool is a point, at its mean probability, and the points are joined; 0 stays 0, and the curve is flat after the
    last pool. That all n mentions of the last pool were right makes nothing certain: it has (n + 1) / (n + 2), a first
    pool that was all wrong 1 / (n + 2) (Laplace's rule of succession), as far as the curve rises then.

    Examples
    --------
    >>> made = isotonic(np.array([0.2, 0.4, 0.6, 0.8]), np.array([0, 1, 0, 1], bool))
    >>> made([0.2, 0.35, 0.5, 0.65, 0.8]).round(3).tolist()
    [0.333, 0.417, 0.5, 0.583, 0.667]
    """
    values, place, counts = np.unique(p, return_inverse=True, return_counts=True)  # what is as probable is one pool
    sums = np.bincount(place.reshape(-1), weights=right, minlength=len(values))
    pools: list[tuple[float, float, int]] = []  # sums of right and of probability, and how many
    for q, y, n in zip(values.tolist(), sums.tolist(), counts.tolist(), strict=True):
        pool = (y, q * n, n)
        while pools and pools[-1][0] * pool[2] >= pool[0] * pools[-1][2]:  # means must rise
            before = pools.pop()
            pool = (before[0] + pool[0], before[1] + pool[1], before[2] + pool[2])
        pools.append(pool)
    means = [y / n for y, _, n in pools]
    if means[0] == 0.0:
        means[0] = min([1 / (pools[0][2] + 2), *means[1:2]])
    if means[-1] == 1.0:
        means[-1] = max([(pools[-1][2] + 1) / (pools[-1][2] + 2), *means[-2:-1]])
    points = [(0.0, 0.0), *((q / n, mean) for (_, q, n), mean in zip(pools, means, strict=True))]
    return Calibration("isotonic", tuple(value for point in points for value in point))


CALIBRATIONS: Mapping[str, Callable[[Floats, Bools], Calibration | None]] = {
    "temperature": temperature,
    "platt": scaled,
    "beta": beta,
    "isotonic": isotonic,
}


@dataclass(frozen=True, slots=True)
class Checked:
    """What a kind of calibration gives on data that it was not learned from.

    Attributes
    ----------
    calibration
        Learned from all data; None: probabilities stay as they are.
    probs
        Of each mention, by a curve learned from other sentences.
    loss
        Their Brier score, the mean of (p − right)²; of those in the best structures, if these are told apart.
    """

    calibration: Calibration | None
    probs: Floats
    loss: float


def calibrate(
    kind: str, p: Floats, right: Bools, sentence: npt.NDArray[np.int64], answered: Bools | None = None
) -> Checked:
    """Learn curves; ``"auto"``: those of the least Brier score on data they were not learned from, or none.

    Parameters
    ----------
    kind
        One of ``CALIBRATIONS``, ``"none"`` or ``"auto"``.
    p, right, sentence
        Of mentions: what the model believes, whether they are right, and their sentence, by which they are parted.
    answered
        Which of them are in the best structures: these and the others have a curve each. None: one for all.
    """
    if answered is None or answered.all() or not answered.any():
        return _calibrate(kind, p, right, sentence)
    answers, others = (_calibrate(kind, p[own], right[own], sentence[own]) for own in (answered, ~answered))
    probs = p.copy()
    probs[answered], probs[~answered] = answers.probs, others.probs
    if answers.calibration is None and others.calibration is None:
        return Checked(None, probs, answers.loss)
    curve = answers.calibration or UNCHANGED
    return Checked(replace(curve, others=others.calibration or UNCHANGED), probs, answers.loss)


def _calibrate(kind: str, p: Floats, right: Bools, sentence: npt.NDArray[np.int64]) -> Checked:
    plain = Checked(None, p, _loss(p, right))
    if kind == "none" or len(set(right.tolist())) < 2:
        return plain
    part = sentence % PARTS
    tried = [plain] if kind == "auto" else []
    for name in CALIBRATIONS if kind == "auto" else (kind,):
        learned, probs = CALIBRATIONS[name](p, right), p.copy()
        for number in range(PARTS):
            held = part == number
            other = None if len(set(right[~held].tolist())) < 2 else CALIBRATIONS[name](p[~held], right[~held])
            if other is not None:
                probs[held] = other(p[held])
        if learned is not None:
            tried.append(Checked(learned, probs, _loss(probs, right)))
    return min(tried, key=lambda one: one.loss, default=plain)


def _loss(p: Floats, right: Bools) -> float:
    """The Brier score: proper as −log P is, but one mention on a step at 0 or 1 does not outweigh all others."""
    return float(((p - right) ** 2).mean()) if len(p) else 0.0


def _ends(p: Floats) -> Floats:
    q = np.clip(p, TINY, 1 - TINY)
    return np.stack([np.log(q), -np.log1p(-q), np.ones_like(q)], axis=-1)


def _logit(p: Floats) -> Floats:
    q = np.clip(p, TINY, 1 - TINY)
    return np.log(q) - np.log1p(-q)


def _sigmoid(z: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(z, -700, 700))), np.float64)
