"""What ``spanloom train`` says of its decision, and what it checks before it begins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.base.errors import CorpusError
from spanloom.cli.app import app

QUICK = ("--keep", "longest", "--max-iter", 10, "--threads", 1)


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return " ".join(done.stdout.split())


def test_development_data_without_mentions_are_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be chosen there; the best structure needs no choice."""
    write([Document([Sentence(["Nobody", "sings", "."])], "a")], tmp_path / "dev.jsonl")
    arguments = ("train", "sample:dev", "--dev", tmp_path / "dev.jsonl", *QUICK, "-o", tmp_path / "m.loom")

    def never(*_: Any) -> None:
        raise AssertionError("training has begun")

    with monkeypatch.context() as patch:
        patch.setattr("spanloom.training.fit_model", never)
        with pytest.raises(CorpusError, match=r"no mention of a label.*--decide best"):
            run(*arguments)
    assert "dev F1" in run(*arguments, "--decide", "best")


def test_every_rule_that_was_tried_is_told(tmp_path: Path) -> None:
    """With its F1 on the development data; the thresholds of the one that is taken; on how much that was chosen."""
    told = run("train", "sample:train", "--dev", "sample:dev", "--model", "edge", *QUICK, "-o", tmp_path / "m.loom")
    ner = Recognizer.load(tmp_path / "m.loom")
    decision = ner.training_["decision"]
    assert decision["chosen"] == "penalty"
    assert f"decision mention penalty {ner.penalty_curve_.chosen:g}: F1 {100 * decision['f1']:.2f}" in told
    assert f"best structure: F1 {100 * decision['tried']['best']:.2f}" in told
    assert f"thresholds on probabilities: F1 {100 * decision['tried']['f1']:.2f}" in told
    assert f"chosen on {decision['gold']} mentions; new text may have less" in told


def test_thresholds_are_told(tmp_path: Path) -> None:
    told = run(
        *("train", "sample:train", "--dev", "sample:dev", "--model", "edge", *QUICK, "--decide", "f1"),
        *("-o", tmp_path / "m.loom"),
    )
    decision = Recognizer.load(tmp_path / "m.loom").training_["decision"]
    (threshold,) = {f"{value:.3g}" for value in decision["thresholds"].values()}
    assert f"decision thresholds on probabilities (from {threshold}): F1 {100 * decision['f1']:.2f}" in told


def test_a_precision_that_is_not_assured_is_said(tmp_path: Path) -> None:
    """The lower bound of few mentions is far below what they have: 0.999 takes more than a thousand right ones."""
    arguments = ("train", "sample:train", "--dev", "sample:dev", "--model", "edge", *QUICK, "-o", tmp_path / "m.loom")
    told = run(*arguments, "--decide", "precision=0.999")
    decision = Recognizer.load(tmp_path / "m.loom").training_["decision"]
    assert not decision["reached"]
    assert decision["lower_bound"] < 0.999
    assert "decision precision 0.999 (from" in told
    assert f"not reached: the lower bound of the precision is {decision['lower_bound']:.3f}" in told


def test_development_data_that_were_trained_on_are_pointed_out(tmp_path: Path) -> None:
    told = run("train", "sample:dev", "--dev", "sample:dev", *QUICK, "-o", tmp_path / "m.loom")
    assert "100 % of the development sentences are training sentences" in told
    told = run("train", "sample:train", "--dev", "sample:dev", *QUICK, "-o", tmp_path / "m.loom")
    assert "are training sentences" not in told


def test_too_little_data_to_choose_a_penalty_are_told(tmp_path: Path) -> None:
    write([Document([Sentence(["Anna", "sings", "."], [Mention("PER", ((0, 1),))])] * 8, "a")], tmp_path / "in.jsonl")
    assert "no mention penalty was chosen" in run("train", tmp_path / "in.jsonl", "-o", tmp_path / "m.loom")


def test_a_penalty_for_tagging_takes_the_place_of_thresholds(tmp_path: Path) -> None:
    """Answers are then those of the best structure with that penalty."""
    model, text = tmp_path / "m.loom", tmp_path / "a.txt"
    text.write_text("IL-2 gene expression in T cells requires NF-kappa B.\n")
    run("train", "sample:train", *QUICK, "--model", "edge", "--decide", "recall=0.9", "-o", model)
    ner = Recognizer.load(model)
    assert ner.rule_.thresholds is not None

    def found(*arguments: object) -> list[Any]:
        return [json.loads(run("tag", model, text, "--format", "jsonl", *arguments))["mentions"]]

    assert found("--penalty", -1000) == [[]] != found()
    best = ner.set_mention_penalty(0.0).predict(text.read_text()).mentions
    assert [m["label"] for m in found("--penalty", 0)[0]] == [m.label for m in best]


def test_one_document_is_audited_by_sentence_and_says_how_it_can_be_divided(tmp_path: Path) -> None:
    """CoNLL files often have no marks of documents."""
    sentences = [s for doc in read("sample:dev") for s in doc.sentences][:60]
    write([Document(sentences, "all")], tmp_path / "one.jsonl")
    run("audit", tmp_path / "one.jsonl", "--set", "max_iter=5", "-o", tmp_path / "suspects.jsonl")
    suspects = [json.loads(line) for line in (tmp_path / "suspects.jsonl").read_text().splitlines()]
    assert len({one["sentence"] for one in suspects}) > 5
    assert all(sentences[one["sentence"]].text == one["text"] for one in suspects)
    with pytest.raises(CorpusError, match="1 document cannot be divided into 2 parts; divide it by sentence"):
        run("split", tmp_path / "one.jsonl", "--parts", "80/20", "-o", tmp_path / "parts")
