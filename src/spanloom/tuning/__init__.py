"""Choosing settings on held-out data, and cross-validation."""

from spanloom.tuning.crossval import CrossValidation, cross_validate
from spanloom.tuning.folds import folds
from spanloom.tuning.search import DECODING, L2_VALUES, Trial, Tuning, tune

__all__ = ["DECODING", "L2_VALUES", "CrossValidation", "Trial", "Tuning", "cross_validate", "folds", "tune"]
