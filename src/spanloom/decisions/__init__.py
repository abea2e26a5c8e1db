"""From what a model believes to an answer: penalties, thresholds, rescoring, repairs, combinations of systems."""

from spanloom.decisions.decision import AtLeast, Best, Decision, ExpectedF1, OnDev

__all__ = ["AtLeast", "Best", "Decision", "ExpectedF1", "OnDev"]
