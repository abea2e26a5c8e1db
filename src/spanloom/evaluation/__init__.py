"""Scores on sets of mentions, whatever they are: flat, nested, crossing or discontinuous."""

from spanloom.evaluation.report import Report, evaluate
from spanloom.evaluation.score import Score, by_label, micro

__all__ = ["Report", "Score", "by_label", "evaluate", "micro"]
