"""From what a model believes to an answer: penalties, thresholds, rescoring, repairs, combinations of systems."""
