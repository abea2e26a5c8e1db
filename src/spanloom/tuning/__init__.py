"""Choosing settings on held-out data, cross-validation, what to annotate next, annotation errors."""

from spanloom.tuning.audit import Audit, Suspect, audit
from spanloom.tuning.crossval import CrossValidation, cross_validate
from spanloom.tuning.folds import folds
from spanloom.tuning.search import DECODING, L2_VALUES, Trial, Tuning, tune
from spanloom.tuning.suggest import Suggestion, suggest

__all__ = [
    "DECODING",
    "L2_VALUES",
    "Audit",
    "CrossValidation",
    "Suggestion",
    "Suspect",
    "Trial",
    "Tuning",
    "audit",
    "cross_validate",
    "folds",
    "suggest",
    "tune",
]
