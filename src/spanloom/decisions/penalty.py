"""The mention penalty (Lu & Roth 2015): a weight on every cell that starts a mention, set after training.

Likelihood makes careful models: they find too few mentions for the best F1. The penalty is added to the score of each
starting cell when tagging; values above 0 give more mentions (recall), values below 0 fewer (precision). It is chosen
by a sweep on development data, one for all labels or one for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.corpus import Mention
from spanloom.evaluation import micro
from spanloom.evaluation.calibration import Curve
from spanloom.evaluation.score import Score

AUTO = ("auto", "auto-by-label")
GRID = (*(round(-1 + 0.1 * i, 1) for i in range(41)), *(3 + 0.5 * i for i in range(1, 7)))
"""The values that a sweep tries: −1 to 3, then in larger steps to 6, where models of a few sentences are best."""

MOST = 1e6
"""Beyond it a penalty would drown the scores; within, it decides alone long before."""

Penalty = dict[str, float]
"""By label; labels that are not in it have none."""
Wanted = float | Mapping[str, float] | str
"""A number, a number by label, or one of ``AUTO``: to be chosen on development data."""


def check_penalty(value: Any) -> None:
    """Raise ``ParameterError`` unless ``value`` is a ``Wanted``."""
    if isinstance(value, str):
        valid = value in AUTO
    else:
        numbers = value.values() if isinstance(value, Mapping) else [value]
        valid = all(not isinstance(v, bool) and isinstance(v, Real) and abs(float(v)) <= MOST for v in numbers)
    if not valid:
        raise ParameterError(
            f"The 'penalty' parameter must be a number from -{MOST:g} to {MOST:g}, a number for each label, or "
            f"one of {', '.join(AUTO)}. Got {value!r} instead."
        )


def by_label(value: float | Mapping[str, float], labels: Iterable[str]) -> Penalty:
    """Return the penalty of each label.

    Examples
    --------
    >>> by_label(0.5, ["DNA", "protein"]), by_label({"DNA": 1}, ["DNA", "protein"])
    ({'DNA': 0.5, 'protein': 0.5}, {'DNA': 1.0})
    """
    labels = list(labels)
    if not isinstance(value, Mapping):
        return dict.fromkeys(labels, float(value)) if value else {}
    unknown = sorted(set(value) - set(labels))
    if unknown:
        raise ParameterError(f"there is no label {unknown[0]!r} to penalise; labels are {', '.join(labels)}")
    return {label: float(v) for label, v in value.items() if v}


def sweep(
    find: Callable[[Penalty], Sequence[Sequence[Mention]]], gold: Sequence[Sequence[Mention]], labels: Sequence[str]
) -> dict[str, Curve]:
    """Score every value of the grid, for each label on its own.

    ``find`` returns what is found with a penalty. Labels of different components do not influence each other, so that
    one sweep serves all of them.
    """
    golds = {label: [[m for m in mentions if m.label == label] for mentions in gold] for label in labels}
    scores: dict[str, list[Score]] = {label: [] for label in labels}
    for value in GRID:
        found = find(by_label(value, labels))
        for label in labels:
            own = [[m for m in mentions if m.label == label] for mentions in found]
            scores[label].append(micro(golds[label], own))
    return {label: Curve("mention penalty", list(GRID), scores[label]) for label in labels}


def choose_one(curves: Mapping[str, Curve]) -> Curve:
    """Add the curves of all labels up and choose the value with the highest micro F1."""
    summed = [_total(scores) for scores in zip(*(c.scores for c in curves.values()), strict=True)]
    curve = Curve("mention penalty", list(GRID), summed)
    return Curve(curve.name, curve.values, curve.scores, curve.best)


def choose_each(curves: Mapping[str, Curve]) -> Penalty:
    """Choose a value for each label so that micro F1 over all is highest: label after label, until none moves."""
    common = GRID.index(choose_one(curves).chosen or 0.0)
    chosen = dict.fromkeys(curves, common)
    moved = True
    while moved:
        moved = False
        for label, curve in curves.items():
            others = _total([curves[other].scores[i] for other, i in chosen.items() if other != label])
            best = max(range(len(GRID)), key=lambda i: ((others + curve.scores[i]).f1, -abs(i - common)))
            if (others + curve.scores[best]).f1 > (others + curve.scores[chosen[label]]).f1:
                chosen[label], moved = best, True
    return {label: GRID[i] for label, i in chosen.items() if GRID[i]}


def _total(scores: Iterable[Score]) -> Score:
    total = Score(0, 0, 0, 0)
    for score in scores:
        total = total + score
    return total
