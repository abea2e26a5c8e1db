"""Objectives and optimisers: they know score tables and graphs, not mentions."""

from spanloom.learning.likelihood import Settings, Weights, compress, maximise_likelihood
from spanloom.learning.perceptron import averaged_perceptron
from spanloom.learning.records import Iteration, Listener

__all__ = ["Iteration", "Listener", "Settings", "Weights", "averaged_perceptron", "compress", "maximise_likelihood"]
