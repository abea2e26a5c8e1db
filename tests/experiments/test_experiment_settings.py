"""Settings of runs, under the names of the first version, become those of today's recogniser."""

from __future__ import annotations

import pytest

from experiments import dependency, reductions, separators
from experiments.settings import recognizer
from spanloom.learning import Adagrad
from spanloom.models import Innermost, Memm, named

OTHER = {"corpus", "trees", "folds", "parser", "task", "data", "clusters", "lexicons", "l2_folds"}
"""What a run does with its data."""


def test_a_base_keeps_its_settings_whatever_their_order() -> None:
    """A line of the paper's table 4: the scheme stands before the base that it belongs to."""
    run = next(run for run in reductions.RUNS if run.name == "memm: innermost")
    ner = recognizer({k: v for k, v in run.settings.items() if k not in OTHER})
    assert ner.model == Innermost(base=Memm(scheme="IOB2", order=2))
    assert ner.trainer == Adagrad(max_iter=20, l2=2.0)
    assert ner.keep == "outermost"
    assert ner.feature_set().min_count == 2


@pytest.mark.parametrize("experiment", [dependency, reductions, separators])
def test_every_line_is_a_recogniser_with_its_l2(experiment) -> None:
    """None is left out, none is refused."""
    for run in experiment.EXPERIMENT.runs:
        if "model" in run.settings:
            l2 = run.settings.get("l2")
            l2 = max(l2) if isinstance(l2, list) else l2  # of those that are tried
            ner = recognizer({k: v for k, v in {**run.settings, "l2": l2}.items() if k not in OTHER})
            ner.check(with_dev=False)
            params = ner.get_params()
            assert named(params["model"]).name == run.settings["model"]
            if l2 is not None:
                assert params["trainer__l2"] == l2
            if run.settings.get("longest"):
                assert params["model__longest"] == run.settings["longest"]
