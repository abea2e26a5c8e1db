"""Objectives and optimisers: they know score tables and graphs, not mentions."""

from spanloom.learning.adagrad import EPOCHS, stochastic_likelihood
from spanloom.learning.likelihood import Settings, Weights, along_l2, compress, maximise_likelihood
from spanloom.learning.online import SubsetWeights, learn_subsets
from spanloom.learning.perceptron import averaged_perceptron
from spanloom.learning.records import Iteration, Listener

__all__ = [
    "EPOCHS",
    "Iteration",
    "Listener",
    "Settings",
    "SubsetWeights",
    "Weights",
    "along_l2",
    "averaged_perceptron",
    "compress",
    "learn_subsets",
    "maximise_likelihood",
    "stochastic_likelihood",
]
