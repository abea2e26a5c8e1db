"""Records of a training, one an iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration of training.

    Attributes
    ----------
    number
        From 1, anew for each component.
    component
        Which component was trained, from 0.
    objective
        The regularised objective after the iteration (for the perceptron: the number of wrong sentences).
    gradient_norm, weight_norm
        Euclidean norms; 0 where the algorithm has none.
    evaluations
        How often the objective was evaluated; for stochastic trainers, passes over the sentences.
    seconds
        Since training began.
    dev_f1
        Micro F1 on the development data, if they were given: of the component's own labels. Without patience, of the
        first ten iterations, every fifth and the last one.
    bound
        A lower bound of the objective's minimum; None where the algorithm has none.
    part, parts
        What is trained, e.g. the labels of the component, and how many such parts there are; empty for a model of one.
    share
        Which share of the training is done, where the trainer knows it; None: it does not. Then there are also records
        from within an iteration, for listeners only.
    """

    number: int
    component: int
    objective: float
    gradient_norm: float
    weight_norm: float
    evaluations: int
    seconds: float
    dev_f1: float | None = None
    part: str = ""
    parts: int = 1
    bound: float | None = None
    share: float | None = None


Listener = Callable[[Iteration], None]
"""Called after every iteration."""
