"""The settings of CRFsuite's training algorithms: names, types, defaults, what they mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from spanloom.base.errors import ParameterError

ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}
UNLIMITED = 2**31 - 1
LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")


@dataclass(frozen=True)
class Parameter:
    """One setting.

    Attributes
    ----------
    default
        What it is if it is not set; its type is the type of the setting.
    help
        One sentence.
    low
        The least value of a number.
    above
        Whether the least value itself is not allowed.
    """

    default: Any
    help: str
    low: float = 0.0
    above: bool = False

    def read(self, name: str, value: Any) -> Any:
        """Return a value in the type of the setting, as python-crfsuite takes it: a number, or text that says one."""
        if isinstance(self.default, str):
            if value not in LINE_SEARCHES:
                raise ParameterError(
                    f"The {name!r} parameter must be one of {', '.join(LINE_SEARCHES)}. Got {value!r}."
                )
            return value
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        whole = isinstance(self.default, int)  # bool is one
        if not math.isfinite(number) or number < self.low or (self.above and number == self.low):
            border = f"above {self.low:g}" if self.above else f"of at least {self.low:g}"
            raise ParameterError(f"The {name!r} parameter must be a number {border}. Got {value!r} instead.")
        if whole and number != int(number):
            raise ParameterError(f"The {name!r} parameter must be a whole number. Got {value!r} instead.")
        return type(self.default)(number)


_FEATURES = {
    "feature.minfreq": Parameter(0.0, "The minimum frequency of features.", low=-math.inf),
    "feature.possible_states": Parameter(False, "Weights for all pairs of attribute and label, also unseen ones."),
    "feature.possible_transitions": Parameter(False, "Weights for all pairs of labels, also unseen ones."),
}
_PERIOD = Parameter(10, "The number of iterations over which the stopping criterion is tested.", low=1)
_DELTA = "Training stops when the last `period` iterations improve the objective by less than this share."
_EPOCHS = Parameter(100, "The maximum number of iterations.", low=1)

ALGORITHMS: dict[str, dict[str, Parameter]] = {
    "lbfgs": {
        **_FEATURES,
        "c1": Parameter(0.0, "Coefficient for L1 regularization."),
        "c2": Parameter(1.0, "Coefficient for L2 regularization."),
        "max_iterations": Parameter(UNLIMITED, "The maximum number of iterations for L-BFGS optimization.", low=1),
        "num_memories": Parameter(6, "The number of steps that approximate the inverse Hessian.", low=1),
        "epsilon": Parameter(1e-5, "Training stops when the gradient's norm is below this share of the weights' norm."),
        "period": _PERIOD,
        "delta": Parameter(1e-5, _DELTA),
        "linesearch": Parameter(
            "MoreThuente",
            f"One of {', '.join(LINE_SEARCHES)}; spanloom has one line search, with weak Wolfe conditions.",
        ),
        "max_linesearch": Parameter(20, "The maximum number of trials for the line search algorithm.", low=1),
    },
    "l2sgd": {
        **_FEATURES,
        "c2": Parameter(1.0, "Coefficient for L2 regularization.", above=True),
        "max_iterations": Parameter(1000, "The maximum number of iterations (epochs) for SGD optimization.", low=1),
        "period": _PERIOD,
        "delta": Parameter(1e-6, _DELTA),
        "calibration.eta": Parameter(0.1, "The initial learning rate (eta) of the calibration.", above=True),
        "calibration.rate": Parameter(2.0, "The factor between learning rates of the calibration.", low=1, above=True),
        "calibration.samples": Parameter(1000, "The number of sequences used for calibration.", low=1),
        "calibration.candidates": Parameter(10, "The number of candidates of learning rate.", low=1),
        "calibration.max_trials": Parameter(20, "The maximum number of trials of learning rates.", low=1),
    },
    "averaged-perceptron": {
        **_FEATURES,
        "max_iterations": _EPOCHS,
        "epsilon": Parameter(0.0, "Training stops when the mean share of wrong labels is below this."),
    },
    "passive-aggressive": {
        **_FEATURES,
        "type": Parameter(1, "The update: 0 PA without slack variables, 1 PA type I, 2 PA type II."),
        "c": Parameter(1.0, "The aggressiveness parameter.", above=True),
        "error_sensitive": Parameter(
            True, "Whether the cost has the square root of the number of wrong labels, not 1."
        ),
        "averaging": Parameter(True, "Whether weights are averaged over all sequences seen, as a perceptron's."),
        "max_iterations": _EPOCHS,
        "epsilon": Parameter(0.0, "Training stops when the mean loss is below this."),
    },
    "arow": {
        **_FEATURES,
        "variance": Parameter(1.0, "The initial variance of every weight.", above=True),
        "gamma": Parameter(1.0, "The tradeoff between the loss and changes of weights.", above=True),
        "max_iterations": _EPOCHS,
        "epsilon": Parameter(0.0, "Training stops when the mean loss is at most this."),
    },
}
"""The algorithms by CRFsuite's full names, and what can be set."""


def algorithm(name: str) -> str:
    """Return the full name of an algorithm: ``averaged-perceptron`` for ``ap``."""
    full = ALIASES.get(name.lower(), name.lower())
    if full not in ALGORITHMS:
        raise ParameterError(f"there is no algorithm {name!r}; there are lbfgs, l2sgd, ap, pa and arow")
    return full


class Settings:
    """The settings of one algorithm, with what was set."""

    def __init__(self, name: str = "lbfgs", kind: str = "crf1d") -> None:
        if kind != "crf1d":
            raise ParameterError(f"there is no graphical model {kind!r}; CRFsuite and spanloom.compat have crf1d")
        self.algorithm = algorithm(name)
        self.known: Mapping[str, Parameter] = ALGORITHMS[self.algorithm]
        self._set: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return self._set.get(name, self._of(name).default)

    def __setitem__(self, name: str, value: Any) -> None:
        self._set[name] = self._of(name).read(name, value)

    def help(self, name: str) -> str:
        """Return what a setting means."""
        return self._of(name).help

    def _of(self, name: str) -> Parameter:
        if name not in self.known:
            takers = [other for other, known in ALGORITHMS.items() if name in known]
            raise ParameterError(
                f"Parameter not found: {name}. The algorithm {self.algorithm} has {', '.join(self.known)}"
                + (f"; {name} is for {', '.join(takers)}" if takers else "")
            )
        return self.known[name]


Say = Callable[..., None]
"""Called with an event, its lines of text, and what it says in numbers."""
