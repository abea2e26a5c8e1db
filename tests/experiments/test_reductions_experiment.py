"""The experiment on reductions: its test of significance, its runs, its second table."""

from __future__ import annotations

import gzip

import pytest
from scipy.stats import chi2_contingency

import spanloom
from experiments import reductions as experiment
from experiments.lexicons import references
from experiments.reductions import PATTERNS, RUNS, chi_square, finish
from experiments.runner import Context, Run
from spanloom.annotators import annotator
from spanloom.features import FeatureSet


def result(f1, correct, gold, predicted, **labels):
    """Two documents with half of everything each."""
    by_label = {label: {"f1": value} for label, value in labels.items()}
    counts = {"correct": correct, "gold": gold, "predicted": predicted}
    half = f"{gold // 2} {predicted // 2} {correct // 2}"
    more = {"documents": f"{half};{half}", "folds": 5, "patterns": PATTERNS}
    return {"f1": f1, **counts, "by_label": by_label, **more}


def test_chi_square_is_that_of_the_textbook():
    """Against scipy, without Yates' correction: right answers against false ones and misses."""
    a, b = result(0, 600, 1000, 900), result(0, 650, 1000, 950)
    table = [[600, 300 + 400], [650, 300 + 350]]
    assert chi_square(a, b) == pytest.approx(chi2_contingency(table, correction=False).pvalue)
    assert chi_square(a, a) == pytest.approx(1)


def test_every_row_of_the_table_is_there_for_both_bases():
    """Thirteen rows of the paper's table 4, with its figures, for each base; and the models to compare with."""
    assert sum(run.name.startswith("memm: ") and bool(run.paper) for run in RUNS) == 13
    assert sum(run.name.startswith("chain: ") and bool(run.paper) for run in RUNS) == 13
    assert max(run.paper["f1"] for run in RUNS if run.paper) == 67.88
    assert {"edge", "state", "hypergraph", "chains"} <= {run.name for run in RUNS}


def test_lines_of_the_paper_have_its_protocol():
    """Guesses by five models, gazetteers, lemmas of verbs, abbreviations of terms; no joined label backs off."""
    for run in (run for run in RUNS if run.paper):
        assert run.settings["lexicons"] == ["gene", "family", "species"]
        templates = {str(template) for template in FeatureSet.named(run.settings["features"]).templates}
        assert {"verb-lemma", "abbreviation-term[-1..1]"} <= templates
        assert templates.isdisjoint({"verb", "abbreviation[-1..1]", "font"})
        if run.settings["model"] == "cascade":
            assert run.settings["folds"] == 5
        assert "rare" not in run.settings
        assert "repairs" not in run.settings
    assert {run.paper["EPPI, not public"] for run in RUNS if "EPPI, not public" in run.paper} >= {70.07, 70.44, 70.37}
    names = {run.name for run in RUNS}
    for base in ("memm", "chain"):
        assert f"{base}: joined labels, rare ones back off" in names
        assert f"{base}: innermost, no gazetteers" in names
        assert f"{base}: innermost, post-processing" in names


def test_lexicons_are_unpacked_once_without_comments(tmp_path):
    (tmp_path / "lexicons").mkdir()
    with gzip.open(tmp_path / "lexicons" / "Species.tsv.gz", "wt", encoding="utf-8") as out:
        out.write("# names of species\nMus musculus\n\nyeast\n")
    context = Context(tmp_path, False, tmp_path / "work")
    (reference,) = references(["species"], context)
    lexicon = annotator(reference)
    sentence = spanloom.Sentence(["a", "mus", "musculus", "#", "names"])
    assert lexicon.columns([sentence])[0]["lexicon-species"] == ["O", "B", "E", "O", "O"]
    (tmp_path / "lexicons" / "Species.tsv.gz").unlink()
    assert references(["species"], context) == [reference]


def test_classes_and_significance_are_written(tmp_path):
    """The better of the two simple ones is what the others are compared with."""
    results = {
        "memm: innermost": result(0.6, 600, 1000, 1000, DNA=0.5),
        "memm: outermost": result(0.5, 500, 1000, 1000, DNA=0.4),
        "memm: joined labels": result(0.7, 700, 1000, 1000, DNA=0.625, RNA=0.25),
        "edge": result(0.7, 700, 1000, 1000),
    }
    finish(results, tmp_path)
    text = (tmp_path / "reductions-classes.md").read_text(encoding="utf-8")
    p = chi_square(results["memm: joined labels"], results["memm: innermost"])
    assert f"| memm: joined labels | 70.00 | {p:.3g} | +10.00 |" in text, "better in every resample"
    assert "| edge | 70.00 |  |  |  |" in text
    assert "| `( DNA ( protein t ) t )` | 907 | 907 |" in text
    assert "| DNA | 50.0 | 40.0 | 62.5 |  |" in text
    assert "| RNA |  |  | 25.0 |  |" in text


@pytest.mark.parametrize(("model", "least"), [("innermost", 0.5), ("joined", 0.5)])
def test_a_run_scores_every_document_once_and_goes_on_where_it_stopped(model, least, tmp_path, monkeypatch):
    """On the sample corpus in place of GENIA: all folds are tested, the second time from what was kept."""
    docs = list(spanloom.read("sample:dev"))

    def read(ref):
        return docs if ref.startswith("genia:") else spanloom.read(ref)

    monkeypatch.setattr(experiment, "read", read)
    settings = {
        "corpus": "genia",
        "features": "default",
        "min_count": 1,
        "model": model,
        "overlap": "outermost",
        "max_iter": 5,
    }
    run = Run("memm: x", {**settings, "base": "memm"})
    context = Context(tmp_path, False, tmp_path)
    first = experiment.execute(run, context)
    assert first["gold"] == sum(len(set(s.mentions)) for d in docs for s in d.sentences)
    assert least < first["ceiling"] <= 1
    assert first["folds"] == 5
    monkeypatch.setattr(spanloom.Recognizer, "fit", None)
    again = experiment.execute(run, context)
    assert {**again, "peak_mb": 0} == {**first, "peak_mb": 0}
