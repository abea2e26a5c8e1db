"""The experiment of paper 002: its lines, and what is made of results."""

from __future__ import annotations

from experiments import penalties
from experiments.dependency import EXPERIMENT, chosen_l2
from experiments.dependency_tables import LETTER, finish
from experiments.runner import Context, Runner
from spanloom import Document, Sentence
from spanloom.features import FeatureSet


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
    """By the paper's protocol and by ours. Chain and semi-Markov without dependency features see no tree, so they have
    one line there, not two."""
    for corpus in ("uner", "gum", "gum4"):
        lines = [run for run in EXPERIMENT.runs if run.name.startswith(f"{corpus},") and run.paper]
        assert sum(LETTER in run.name for run in lines) == 14
        assert sum(LETTER not in run.name for run in lines) == 14


def test_lines_by_the_letter_have_the_papers_labels_shapes_arcs_and_trees():
    """IOB2, Stanford's shapes, the label of the head, gold trees in training, L2 by cross-validation."""
    lines = [run for run in EXPERIMENT.runs if LETTER in run.name]
    for run in lines:
        assert (run.settings.get("scheme") == "IOB2") is (run.settings["model"] == "chain")
        assert run.settings["trees"] == ("gold" if ", gold trees" in run.name else "predicted on test")
        templates = [str(template) for template in FeatureSet.named(run.settings["features"]).templates]
        assert not any("shape(" in text for text in templates)
        assert any("jenny1" in text for text in templates)
        labels = [text for text in templates if "deprel" in text]
        assert len(labels) == (2 if "dependency features" in run.name else 0)
        assert all("head(deprel)" in text for text in labels)
        assert isinstance(run.settings["l2"], list)
        assert run.settings["l2_folds"] >= 2
        assert not any("IOBES" in words or "jackknifed" in words or "shapes" in words for words in run.differs)
    (best,) = [run for run in lines if run.name == f"uner, predicted trees, dependency features{LETTER}: dgm"]
    assert best.paper["f1"] == 79.4


def test_lines_of_one_model_on_the_same_training_data_share_the_choice_of_l2(tmp_path, monkeypatch):
    """Whatever trees the test part has, L2 is chosen with the same settings on the same documents."""
    asked = []
    monkeypatch.setattr(penalties, "choose", lambda docs, parts, own, *, state: asked.append((parts, own, state)))
    docs = [Document([Sentence(["a"])], id=str(i)) for i in range(6)]
    for trees in ("gold", "predicted"):
        name = f"uner, {trees} trees, dependency features{LETTER}: dgm"
        (run,) = [run for run in EXPERIMENT.runs if run.name == name]
        own = {key: run.settings.get(key) for key in ("model", "features", "longest", "l2", "tol", "max_iter")}
        chosen_l2(docs, own, run.settings, Context(tmp_path, False, tmp_path))
    assert asked[0] == asked[1]


def test_models_are_compared_with_simpler_ones(tmp_path):
    """By paired bootstrap on the same sentences; a line without its base is left out. Sections, lengths and times are
    shown."""
    better, worse = ";".join(["2 2 2"] * 40), ";".join(["2 2 1"] * 40)
    results = {
        "uner, x: semimarkov": {"unit_counts": worse, "sections": {"blog": 0.5}},
        "uner, x: dgm": {"unit_counts": better, "sections": {"blog": 1.0}},
        "uner, x: chain": {"unit_counts": worse, "sections": {"blog": 0.25}},
        "gum: dgm": {"unit_counts": better},
        "gum4, y, ends: dgm": {"unit_counts": better},
        "gum4, y: dgm": {"unit_counts": worse},
        "gum4, gold trees, soft guidance: semimarkov": {"unit_counts": worse},
        "gum4, gold trees: dgm": {"unit_counts": better},
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
    assert "| gum4, y, ends: dgm | dgm without | +50.00 |" in table
    assert "| gum4, gold trees, soft guidance: semimarkov | dgm without | -50.00 |" in table
    assert "| gum: dgm |" not in table
    for name in ("lengths", "times"):
        assert (tmp_path / f"dependency-{name}.png").read_bytes().startswith(b"\x89PNG")
