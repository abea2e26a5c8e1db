"""``spanloom train --encoder``: a model file from a folder of weights, and settings of it by name and from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from encoders.tiny import make_encoder
from extras import needs
from spanloom import Recognizer
from spanloom.cli.app import app

needs("torch", "transformers", "tokenizers")
pytestmark = pytest.mark.extras

LINES = [
    {"tokens": ["Bill", "met", "Ann"], "mentions": [{"label": "PER", "parts": [[0, 1]]}]},
    {"tokens": ["nothing", "was", "seen"], "mentions": []},
]


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_from_a_folder_to_tagged_text(tmp_path: Path) -> None:
    folder = make_encoder(tmp_path / "weights")
    corpus, model, config = tmp_path / "train.jsonl", tmp_path / "m.loom", tmp_path / "c.toml"
    corpus.write_text("".join(json.dumps(line) + "\n" for line in LINES * 4))
    options = ["--model", "edge", "--set", "hidden=10", "--set", "rate=0.001", "--max-iter", 30]
    run("train", corpus, "-o", model, "--encoder", folder, "--write-config", config, *options)
    ner = Recognizer.load(model, threads=1)
    assert ner.get_params()["encoder__hidden"] == 10
    assert len(ner.training_["trainer"]) > 5
    assert ner.training_["trainer"]["rate"] == 0.001
    text = tmp_path / "a.txt"
    text.write_text("Bill met Ann")
    assert "Bill" in run("tag", model, text)
    run("train", corpus, "-o", tmp_path / "n.loom", "--config", config)
    assert (tmp_path / "n.loom").read_bytes() == model.read_bytes()
    assert "encoder" in run("info", model)
