"""Scores on sets of mentions, whatever they are: flat, nested, crossing or discontinuous."""

from spanloom.evaluation.comparison import Comparison, compare
from spanloom.evaluation.evaluation import Evaluation, evaluate
from spanloom.evaluation.score import Score, by_label, micro
from spanloom.evaluation.tags import by_label_from_tags

__all__ = ["Comparison", "Evaluation", "Score", "by_label", "by_label_from_tags", "compare", "evaluate", "micro"]
