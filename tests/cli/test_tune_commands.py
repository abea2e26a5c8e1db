"""``spanloom tune`` and ``spanloom crossval`` on the sample corpus."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from spanloom import Recognizer, read
from spanloom.base.errors import ParameterError
from spanloom.cli.app import app
from spanloom.configuration import configure

SETTINGS = ["--set", "keep=outermost", "--set", "max_iter=3", "--set", "threads=1", "--jobs", "1"]


def run(*arguments):
    """Run a command; errors come through as exceptions."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_tune_shows_all_trials_and_trains_the_best(tmp_path):
    """Two trials, kept in a file; the model has the better setting."""
    state, model = tmp_path / "t.jsonl", tmp_path / "best.loom"
    command = ["tune", "sample:train", "--dev", "sample:dev", "--grid", "l2=0.1,5", *SETTINGS, "--state", state]
    data = json.loads(run(*command, "--json", "-o", model))
    assert [t["settings"]["l2"] for t in data["trials"]] == [0.1, 5]
    assert data["best"]["f1"] == max(t["f1"] for t in data["trials"])
    assert Recognizer.load(model).trainer.l2 == data["best"]["settings"]["l2"]
    assert len(state.read_text().splitlines()) == 2
    assert "best: l2=" in run(*command)


def test_tune_draws(tmp_path):
    """A setting, a learning curve, the objective; not a grid of two settings."""
    pytest.importorskip("matplotlib")
    start = ["tune", "sample:dev", "--folds", "2", *SETTINGS]
    run(*start, "--grid", "l2=0.1,5", "--plot", tmp_path / "l2.svg", "--objective", tmp_path / "o.svg")
    chain = ["--set", "model=chain"]
    run(*start, *chain, "--grid", "share=0.5,1", "--grid", "scheme=IOB2,IO", "--plot", tmp_path / "curve.svg")
    for name, words in (("l2.svg", "chosen"), ("o.svg", "Objective"), ("curve.svg", "scheme=IOB2")):
        assert words in (tmp_path / name).read_text()
    with pytest.raises(ParameterError, match="over one number"):
        run(*start, *chain, "--grid", "l2=0.1", "--grid", "scheme=IO", "--plot", tmp_path / "x.svg")


def test_crossval_writes_predictions_that_evaluate_reads(tmp_path):
    """The figure of the command is that of its predictions."""
    out = tmp_path / "p.jsonl"
    data = json.loads(run("crossval", "sample:dev", "--folds", "2", *SETTINGS, "-o", out, "--json"))
    again = json.loads(run("evaluate", "--gold", "sample:dev", "--pred", out, "--json"))
    assert again["micro"] == data["micro"]
    assert len(data["folds"]) == 2
    assert len(list(read(out))) == len(list(read("sample:dev")))


def test_bad_settings_are_refused():
    """The message shows how it is written."""
    with pytest.raises(ParameterError, match="written NAME=VALUE, got 'l2'"):
        run("tune", "sample:train", "--dev", "sample:dev", "--set", "l2")
    with pytest.raises(ParameterError, match="no parameter 'l3'"):
        run("tune", "sample:train", "--dev", "sample:dev", "--grid", "l3=1", "--jobs", "1")


@pytest.mark.parametrize("given", [["--grid", "penalty=auto,1"], ["--set", "penalty=auto", "--grid", "l2=1"]])
def test_a_penalty_to_try_is_a_number(given):
    """What is chosen on development data is not tried: it would be scored at another value."""
    with pytest.raises(ParameterError, match="give numbers to try"):
        run("tune", "sample:train", "--dev", "sample:dev", *given, *SETTINGS)


def test_a_grid_of_penalties_by_label_and_of_cut_offs_with_clusters(tmp_path):
    """Commas in brackets do not part values; a cut-off leaves the tables of a set where they are."""
    (tmp_path / "paths").write_text("0110\tgene\t3\n0111\tp53\t2\n")
    command = ["tune", "sample:train", "--dev", "sample:dev", "--set", "keep=longest", *SETTINGS[2:], "--json"]
    grid = 'penalty={"PER": 1, "ORG": 0.5},0'
    data = json.loads(run(*command, "--set", "model=edge", "--grid", grid))
    assert [t["settings"]["penalty"] for t in data["trials"]] == [{"PER": 1, "ORG": 0.5}, 0]
    made = configure({"features": "muis-lu-genia", "clusters": tmp_path / "paths", "min_count": 2}).features
    assert (made.min_count, made.resources["brown"]["p53"]) == (2, ["0111"])
