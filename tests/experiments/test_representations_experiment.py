"""The experiment of paper 004: its protocol, its lines, and what is made of results."""

from __future__ import annotations

import json

import numpy as np
import pytest

import spanloom
from experiments import genes, representations
from experiments.bc2gm import counts
from experiments.counts import unpack
from experiments.representations import EXPERIMENT, L2, parts
from experiments.representations_tables import _bootstrap, finish
from experiments.runner import Context, Run
from spanloom import Document, Mention, Sentence
from spanloom.evaluation.significance import bootstrap


def test_l2_is_chosen_on_the_last_tenth_of_all_training_sentences():
    """Whatever share is learned from; only a model of all of them learns from that tenth in the end."""
    sentences = [Sentence([str(i)]) for i in range(100)]
    whole, learned, watched = parts(sentences, 1.0)
    assert (len(whole), learned, watched) == (100, sentences[:90], sentences[90:])
    some, learned, watched = parts(sentences, 0.2)
    assert some == learned == sentences[:20]
    assert watched == sentences[90:]


def test_lines_have_the_papers_features_grid_and_iterations():
    assert len(L2) == 10
    assert min(L2) < 0.02, "the smallest of the grid before was chosen on UNER-EWT"
    lines = {run.name: run for run in EXPERIMENT.runs}
    for scheme in (*representations.SINGLE, *representations.SEVERAL):
        assert lines[f"bc2gm {scheme}"].settings["features"] == "cho-bio"
        assert lines[f"uner-ewt {scheme}"].settings["features"] == "cho-conll"
    for run in lines.values():
        assert run.settings["max_iter"] == 2000
        assert run.settings["l2"] == list(L2)
    assert sum(name.endswith("%") for name in lines) == 18


def test_chances_are_those_of_the_pairwise_bootstrap():
    """Against the paired bootstrap of two systems; a system is never better than itself."""
    random = np.random.default_rng(0)
    gold = random.integers(0, 4, 200)
    units = [np.stack([gold, gold, np.minimum(gold, random.integers(0, 4, 200))], axis=1) for _ in range(2)]
    chances = _bootstrap(units)
    assert chances[0, 0] == chances[1, 1] == 1
    winner, loser = (0, 1) if units[0][:, 2].sum() > units[1][:, 2].sum() else (1, 0)
    expected = bootstrap(units[0], units[1], resamples=10_000).p["f1"]  # of the better one
    assert 0.01 < expected < 0.4
    assert chances[winner, loser] == pytest.approx(expected, abs=0.02)
    assert chances[loser, winner] == pytest.approx(1 - expected, abs=0.05)


def test_significance_on_both_corpora_and_table_11_are_written(tmp_path):
    """By exact match, on BC2GM also by the rule of the task; learning curves and words are left out."""
    folder = tmp_path / "x.quick"
    folder.mkdir()
    better, worse = ";".join(["2 2 2"] * 40), ";".join(["2 2 1"] * 40)
    results = {"bc2gm words IO": {"units": better}, "bc2gm IO 10%": {"units": better, "precision": 0, "recall": 0}}
    for corpus in ("bc2gm", "uner-ewt"):
        for scheme, units in (("IO", worse), ("BIES", better), ("BIES,IO", better)):
            results[f"{corpus} {scheme}"] = {"units": units, "alt_units": units}
            mentions = [[["G", 0, 1]], [["G", 2, 3]]] if scheme != "IO" else [[["G", 0, 1]], [["H", 2, 3]]]
            (folder / f"{corpus}-{scheme}.mentions.json").write_text(json.dumps(mentions))
        (folder / f"{corpus}-gold.mentions.json").write_text(json.dumps([[["G", 0, 1]], [["G", 2, 3]]]))
    finish(results, folder)
    text = (folder / "representations-changes.md").read_text(encoding="utf-8")
    for title in ("bc2gm, exact match", "bc2gm, the rule of the task", "uner-ewt, exact match"):
        assert f"## {title}" in text
    assert "uner-ewt, the rule" not in text
    assert "| BIES | < 0.0001 |  | 1.0000 |" in text
    assert text.count("| both | right | 1 | 1 |") == 2
    assert text.count("| the first alone | wrong | 1 | 0 |") == 2, "a mention of another label is another"
    assert "words" not in text


def test_counts_by_document_are_those_of_the_scores():
    """Strictly, and with alternatives: a mention that equals one is right by the rule of the task only."""
    words = ["the", "human", "gene"]
    gold, other = Mention("GENE", ((1, 3),)), Mention("GENE", ((2, 3),))
    right = Document([Sentence(words, [gold], meta={"alternatives": [other]})])
    found = Document([Sentence(words, [other])])
    made = counts([right, right], [found, right])
    assert unpack(made["units"]).tolist() == [[1, 1, 0], [1, 1, 1]]
    assert unpack(made["alt_units"]).tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("module", [representations, genes])
def test_a_line_runs_on_the_sample(module, tmp_path, monkeypatch):
    """The sample in the place of BC2GM: choices are made on its last tenth, and what results keep is there."""
    docs = {part: list(spanloom.read(f"sample:{part}")) for part in ("train", "test")}
    flat = {
        part: [
            Document(
                [s.with_mentions([Mention("GENE", m.parts) for m in s.mentions if not m.discontinuous][:1])], str(i)
            )
            for i, s in enumerate(s for d in some for s in d.sentences)
        ]
        for part, some in docs.items()
    }
    if module is genes:
        monkeypatch.setattr(genes, "load", lambda part, data: flat[part])
        run = Run(
            "x", {"scheme": "BIES", "features": "default", "with": {}, "l2": [1.0, 4.0], "max_iter": 3, "tol": 1e-3}
        )
    else:
        monkeypatch.setattr(representations, "load", lambda corpus, part, data: flat[part])
        settings = {"corpus": "bc2gm", "features": "default", "scheme": "BIES,IO", "share": 1.0, "tol": 1e-3}
        run = Run("x", {**settings, "max_iter": 3, "l2": list(L2)})
    result = module.execute(run, Context(tmp_path, False, tmp_path))
    assert result["l2"] in run.settings["l2"]
    assert len(unpack(result["units"])) == len(flat["test"])
    assert 0 <= result["f1"] <= 1
    if module is genes:
        assert len(result["tried"]) == 2 * len(genes.REPAIRS)
