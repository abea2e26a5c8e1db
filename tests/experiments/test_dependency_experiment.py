"""The experiment of paper 002: its lines, and what is made of results."""

from __future__ import annotations

from experiments.dependency import EXPERIMENT
from experiments.dependency_tables import LETTER, LONG, finish
from experiments.runner import Runner


def test_the_lines_are_those_of_the_paper(tmp_path):
    """Table 2 has the order chain, semi-Markov, DGM-S, DGM; names are unique."""
    Runner("dependency", EXPERIMENT, tmp_path, root=tmp_path)
    gold = {
        run.settings["model"]: run.paper["f1"]
        for run in EXPERIMENT.runs
        if run.name.startswith("uner, gold trees, dependency features:")
    }
    assert gold == {"chain": 77.8, "semimarkov": 79.6, "dgm-s": 79.0, "dgm": 80.5}


def test_every_corpus_has_all_models_with_both_kinds_of_trees():
    """Chain and semi-Markov without dependency features see no tree, so they have one line there, not two."""
    names = {run.name for run in EXPERIMENT.runs}
    for corpus in ("uner", "gum", "gum4"):
        conditions = [n.rpartition(": ") for n in names if n.startswith(f"{corpus},") and "trees" in n]
        usual = [model for name, _, model in conditions if not name.endswith((LONG, LETTER))]
        assert sum(model in ("chain", "semimarkov", "dgm-s", "dgm") for model in usual) == 14


def test_lines_by_the_letter_have_iob2_and_gold_trees_in_training():
    """And the paper's figures; what they share with the usual lines is not said to differ."""
    lines = [run for run in EXPERIMENT.runs if LETTER in run.name]
    assert len(lines) == 3 * (2 + 4 + 2)
    for run in lines:
        assert (run.settings.get("scheme") == "IOB2") is (run.settings["model"] == "chain")
        assert run.settings["trees"] == ("gold" if ", gold trees" in run.name else "predicted on test")
        assert not any("IOBES" in words or "jackknifed" in words for words in run.differs)
    (best,) = [run for run in lines if run.name == f"uner, predicted trees, dependency features{LETTER}: dgm"]
    assert best.paper["f1"] == 79.4


def test_models_are_compared_with_simpler_ones(tmp_path):
    """By paired bootstrap on the same sentences; a line without its base is left out. Sections, lengths and times are
    shown."""
    better, worse = ";".join(["2 2 2"] * 40), ";".join(["2 2 1"] * 40)
    results = {
        "uner, x: semimarkov": {"unit_counts": worse, "sections": {"blog": 0.5}},
        "uner, x: dgm": {"unit_counts": better, "sections": {"blog": 1.0}},
        "uner, x: chain": {"unit_counts": worse, "sections": {"blog": 0.25}},
        "gum: dgm": {"unit_counts": better},
        "uner: valid spans": {"by_length": {"1": 1.0, "2": 3.0}, "sentences": {"1": 5, "2": 7}},
    }
    results |= {f"uner, y: {model}": {"ms_per_iteration": 2.0} for model in ("chain", "semimarkov", "dgm-s", "dgm")}
    finish(results, tmp_path)
    table = (tmp_path / "dependency-details.md").read_text(encoding="utf-8")
    assert "| uner, x: dgm | semimarkov | +50.00 | +50.00 … +50.00 | < 0.0001 | < 0.0001 | better |" in table
    assert "| uner, x: dgm | chain | +50.00 |" in table
    assert "| uner, x: semimarkov | chain | +0.00 | +0.00 … +0.00 |" in table
    assert "| tie |" in table
    assert "| uner, x: dgm | 100.0 |" in table
    assert "gum" not in table
    for name in ("lengths", "times"):
        assert (tmp_path / f"dependency-{name}.png").read_bytes().startswith(b"\x89PNG")
