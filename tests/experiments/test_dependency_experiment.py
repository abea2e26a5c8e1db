"""The experiment of paper 002: its lines, and what is made of results."""

from __future__ import annotations

from experiments.dependency import EXPERIMENT, finish
from experiments.runner import Runner


def test_the_lines_are_those_of_the_paper(tmp_path):
    """Table 2 has the order chain, semi-Markov, DGM-S, DGM; names are unique."""
    Runner("dependency", EXPERIMENT, tmp_path, root=tmp_path)
    gold = {
        run.settings["model"]: run.paper["f1"]
        for run in EXPERIMENT.runs
        if run.name.startswith("uner, gold trees, dependency features")
    }
    assert gold == {"chain": 77.8, "semimarkov": 79.6, "dgm-s": 79.0, "dgm": 80.5}


def test_models_are_compared_with_the_semi_markov_one(tmp_path):
    """By paired bootstrap on the same sentences; a line without its base is left out. Lengths are drawn."""
    better, worse = [2, 2, 2] * 40, [2, 2, 1] * 40
    results = {
        "uner: semimarkov": {"unit_counts": worse},
        "uner: dgm": {"unit_counts": better},
        "gum: dgm": {"unit_counts": better},
        "uner: valid spans": {"by_length": {"1": 1.0, "2": 3.0}, "sentences": {"1": 5, "2": 7}},
    }
    finish(results, tmp_path)
    table = (tmp_path / "dependency-bootstrap.md").read_text(encoding="utf-8")
    assert "| uner: dgm | +50.00 | +50.00 … +50.00 | 0.0000 |" in table
    assert "gum" not in table
    assert "<svg" in (tmp_path / "dependency-lengths.svg").read_text(encoding="utf-8")
