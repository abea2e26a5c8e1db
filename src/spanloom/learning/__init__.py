"""Objectives and trainers: they know scores and structures, not mentions."""

from spanloom.learning.adagrad import Adagrad
from spanloom.learning.adamw import AdamW
from spanloom.learning.follow import Interrupted, Steps, follow, named
from spanloom.learning.lbfgs import LBFGS
from spanloom.learning.online import LogLinear, Mira, Online, SubsetProblem, SubsetWeights, learn_subsets
from spanloom.learning.perceptron import Perceptron
from spanloom.learning.problem import Auto, LearningProblem, StructureTrainer, Trainer, Weights
from spanloom.learning.records import Iteration, Listener
from spanloom.learning.sdca import SDCA
from spanloom.learning.shares import Watched

TRAINERS: dict[str, type[Trainer]] = {
    trainer.name: trainer for trainer in (Auto, LBFGS, SDCA, Adagrad, Perceptron, Mira, LogLinear, AdamW)
}
"""The trainers by the name that ``Recognizer(trainer=…)`` takes."""

__all__ = [
    "LBFGS",
    "SDCA",
    "TRAINERS",
    "Adagrad",
    "AdamW",
    "Auto",
    "Interrupted",
    "Iteration",
    "LearningProblem",
    "Listener",
    "LogLinear",
    "Mira",
    "Online",
    "Perceptron",
    "Steps",
    "StructureTrainer",
    "SubsetProblem",
    "SubsetWeights",
    "Trainer",
    "Watched",
    "Weights",
    "follow",
    "learn_subsets",
    "named",
]
