"""``--penalty`` of train and tag."""

from __future__ import annotations

import json

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
