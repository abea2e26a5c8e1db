"""``spanloom compare`` from files to a verdict."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.cli.app import app
from spanloom.learning import Auto


@pytest.fixture
def files(tmp_path):
    """Twenty sentences: A finds everything, B half of it."""
    m, n = Mention("X", ((0, 1),)), Mention("X", ((2, 3),))
    for name, mentions in (("gold", [m, n]), ("a", [m, n]), ("b", [m])):
        docs = [Document([Sentence(["a", "b", "c"], mentions)], id=str(i)) for i in range(20)]
        write(docs, tmp_path / f"{name}.jsonl")
    return tmp_path


def run(files, *arguments):
    """Run compare on A and B."""
    paths = [str(files / "a.jsonl"), str(files / "b.jsonl"), "--gold", str(files / "gold.jsonl")]
    return CliRunner().invoke(app, ["compare", *paths, *arguments], catch_exceptions=False).stdout


def test_json_has_difference_and_tests(files):
    """A is perfect, B's F1 is 2/3 in every draw: p = 0, and the interval is a point."""
    data = json.loads(run(files, "--json", "--resamples", "200", "--by", "document"))
    assert data["difference"]["f1"]["value"] == pytest.approx(1 / 3)
    assert data["bootstrap"]["p"]["f1"] == 0.0
    assert data["randomisation"]["f1"] == pytest.approx(1 / 201)
    assert data["changes"]["gold"] == {"both right": 20, "only A right": 20, "only B right": 0, "both wrong": 0}


def test_terminal_shows_who_is_right_and_where(files):
    """Both drawings of the first sentence where they differ; the third system in the table."""
    out = run(files, "--show", "1", "--resamples", "50", "--third", str(files / "b.jsonl"))
    assert "+33.33" in out
    assert out.count("✗ X") == 1
    assert "0 of 20" in out


def test_a_system_may_be_a_model(files):
    """A model in place of B, recognised by its name or by how the file begins."""
    ner = Recognizer(trainer=Auto(max_iter=30), threads=1).fit(read(files / "gold.jsonl"))
    for name in ("b.loom", "b.model"):
        ner.save(files / name)
        paths = [str(files / "a.jsonl"), str(files / name), "--gold", str(files / "gold.jsonl")]
        result = CliRunner().invoke(app, ["compare", *paths, "--json", "--resamples", "50"], catch_exceptions=False)
        assert json.loads(result.stdout)["b"]["f1"] == 1.0
