"""``--penalty`` of train and tag."""

from __future__ import annotations

import json
import math
import re

from typer.testing import CliRunner

from spanloom.cli.app import app
from spanloom.recognizer import Recognizer


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_train_chooses_and_tag_overrides(tmp_path):
    """auto is chosen on --dev and told; tag takes another value; a great one finds more, a small one nothing."""
    model, text = tmp_path / "m.loom", tmp_path / "a.txt"
    text.write_text("IL-2 gene expression in T cells requires NF-kappa B.\n")
    told = run(
        *("train", "sample:train", "--dev", "sample:dev", "--keep", "longest", "--max-iter", 15, "--l2", 1),
        *("--features", "crfsuite-like", "--penalty", "auto", "--threads", 1, "-o", model),
    )
    assert "mention penalty" in told
    ner = Recognizer.load(model)
    assert ner.model_.name == "state"
    curve = ner.training_["penalty_curve"]
    assert set(ner.mention_penalty_.values()) <= {curve["best"]}

    def count(penalty: float) -> int:
        out = run("tag", model, text, "--format", "jsonl", "--penalty", penalty)
        return sum(len(json.loads(line)["mentions"]) for line in out.splitlines())

    assert count(-100) == 0 < count(20)


def test_a_calibration_leaves_the_default_penalty(tmp_path):
    """``--set calibrate=…`` says nothing of how to decide: the penalty is chosen all the same, and both are told."""
    model = tmp_path / "m.loom"
    told = run(
        *("train", "sample:train", "--dev", "sample:dev", "--keep", "longest", "--max-iter", 10, "--threads", 1),
        *("--set", "calibrate=beta", "-o", model),
    )
    ner = Recognizer.load(model)
    assert ner.training_["penalty_curve"]["chosen"] == next(iter(ner.mention_penalty_.values()))
    assert "mention penalty" in told
    assert re.search(r"calibration \w+: error [0-9.]+ %", told)  # of which kind hangs on a hair with so little data


def test_a_penalty_that_finds_unlikely_mentions_is_pointed_out(tmp_path, monkeypatch):
    """With a penalty p, mentions of the probability 1 / (1 + exp p) are as good as none."""
    arguments = ("train", "sample:train", "--dev", "sample:dev", "--keep", "longest", "--max-iter", 5, "--threads", 1)
    assert "for surer ones" not in run(*arguments, "-o", tmp_path / "a.loom")
    monkeypatch.setattr("spanloom.cli.summary.UNSURE", 0.5)
    low = 1 / (1 + math.exp(Recognizer.load(tmp_path / "a.loom").training_["penalty_curve"]["chosen"]))
    assert f"with a probability of {low:.2g}" in run(*arguments, "-o", tmp_path / "b.loom").replace("\n", " ")
