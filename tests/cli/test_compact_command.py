"""``spanloom compact``: smaller files that find nearly the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.cli.app import app
from spanloom.learning import Auto
from spanloom.models import Cascade, Memm


def flat(result: str) -> str:
    return " ".join(result.split())


@pytest.mark.parametrize("model", ["chain", "edge", "memm", "layered", Cascade(base=Memm()), "semimarkov"])
def test_small_weights_go_and_others_stay(model: object, tmp_path: Path) -> None:
    ner = Recognizer(model, trainer=Auto(max_iter=15), keep="longest").fit(read("sample:dev"))  # type: ignore[arg-type]
    smaller = ner.compact(0.05)
    for whole, pruned in zip(ner.parts_, smaller.parts_, strict=True):
        names = pruned.extractor.names()
        assert 0 < len(names) < whole.extractor.size
        place = {name: k for k, name in enumerate(whole.extractor.names())}
        for before, after in zip(whole.weight_columns(), pruned.weight_columns(), strict=True):
            if len(after.weights) == len(names):  # of features; others are kept whole
                old = before.weights[[place[name] for name in names]]
                assert np.array_equal(after.weights, np.where(np.abs(old) < 0.05, 0, old))
    smaller.save(tmp_path / "small.loom", weights="int16")
    ner.save(tmp_path / "whole.loom")
    assert (tmp_path / "small.loom").stat().st_size < 0.6 * (tmp_path / "whole.loom").stat().st_size
    assert (
        abs(Recognizer.load(tmp_path / "small.loom").score(read("sample:dev")).f1 - ner.score(read("sample:dev")).f1)
        < 0.1
    )


def test_the_command_chooses_on_dev(tmp_path: Path) -> None:
    Recognizer("edge", trainer=Auto(max_iter=30), keep="longest").fit(read("sample:train")).save(tmp_path / "a.loom")
    arguments = ["compact", str(tmp_path / "a.loom"), "-o", str(tmp_path / "b.loom")]
    done = CliRunner().invoke(app, [*arguments, "--dev", "sample:dev", "--within", "1"])
    assert done.exit_code == 0, done.output
    before, after = (Recognizer.load(tmp_path / name).score(read("sample:dev")).f1 for name in ("a.loom", "b.loom"))
    assert 100 * (before - after) <= 1
    own = Recognizer.load(tmp_path / "a.loom").predict(read("sample:dev"))
    assert 100 * Recognizer.load(tmp_path / "b.loom").score(own).f1 >= 99
    assert f"{100 * after:.2f}" in flat(done.output)
    assert Recognizer.load(tmp_path / "b.loom").training_["compacted"] > 0
    bad = CliRunner().invoke(app, [*arguments, "--weights", "int4"])
    assert "float32, int16, float16, int8" in str(bad.exception)


def test_rare_features_are_left_out_and_the_settings_file_says_so(tmp_path: Path) -> None:
    def train(*options: str) -> int:
        arguments = ["train", "sample:train", "--model", "chain", "--keep", "longest", "--max-iter", "3"]
        done = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "m.loom"), *options])
        assert done.exit_code == 0, done.output
        return Recognizer.load(tmp_path / "m.loom").extractor_.size

    settings = str(tmp_path / "s.toml")
    whole, cut = train(), train("--min-count", "3", "--write-config", settings)
    assert cut < whole / 2
    assert train("--config", settings) == cut


def test_a_model_that_finds_nothing_loses_nothing(tmp_path: Path) -> None:
    Recognizer("edge", trainer=Auto(max_iter=2), keep="longest").fit(read("sample:train")).save(tmp_path / "a.loom")
    (tmp_path / "dev.txt").write_text("Nothing here.\n")
    small = str(tmp_path / "b.loom")
    done = CliRunner().invoke(
        app, ["compact", str(tmp_path / "a.loom"), "-o", small, "--dev", str(tmp_path / "dev.txt")]
    )
    assert done.exit_code == 0
    assert "loses" not in done.output


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model") / "a.loom"
    Recognizer("chain", trainer=Auto(max_iter=15), keep="longest").fit(read("sample:train")).save(path)
    return str(path)


def test_bad_options_and_an_empty_corpus_are_refused_before_any_work(model: str, tmp_path: Path) -> None:
    """There is not even a model to be read."""
    small = tmp_path / "b.loom"
    (tmp_path / "dev.jsonl").write_text("")

    def run(*options: str) -> Any:
        return CliRunner().invoke(app, ["compact", str(tmp_path / "none.loom"), "-o", str(small), *options])

    done = run("--within", "0.5")
    assert done.exit_code == 2
    assert "--dev CORPUS" in flat(done.output)
    with pytest.raises(CorpusError, match=r"dev\.jsonl: there is no text to measure on; .*leave out --dev"):
        raise run("--dev", str(tmp_path / "dev.jsonl")).exception
    for name in ("least", "within"):
        with pytest.raises(ParameterError, match=rf"'{name}' parameter must be a number .* Got inf"):
            raise run(f"--{name}", "inf", "--dev", "sample:dev").exception
    with pytest.raises(ParameterError, match="'least' parameter must be a number"):
        Recognizer.load(model).compact(float("inf"))


def test_the_last_line_says_what_was_written_and_what_it_costs(model: str, tmp_path: Path) -> None:
    small = tmp_path / "b.loom"
    run = lambda *options: CliRunner().invoke(app, ["compact", model, "-o", str(small), *options])  # noqa: E731
    assert run().stdout.strip().endswith("b.loom: without weights below 0.02; --dev CORPUS tells what that costs")
    done = run("--dev", "sample:dev", "--least", "0.5")
    before, after = (100 * Recognizer.load(path).score(read("sample:dev")).f1 for path in (model, small))
    assert after < before - 0.1
    assert done.stdout.strip().endswith(f"without weights below 0.5, F1 {after:.2f} ({after - before:+.2f})")
    assert "a smaller --least loses less" in done.stderr
    done = run("--dev", "sample:dev", "--least", "0", "--weights", "float32")
    assert done.stdout.strip().endswith(f"with all weights, F1 {before:.2f} (as before)")


def test_a_corpus_without_labels_of_the_model_is_said(model: str, tmp_path: Path) -> None:
    """What is lost is measured against the mentions of the model alone."""
    write([Document([Sentence(["The", "IL-2", "gene"], [Mention("other", ((0, 1),))])])], tmp_path / "dev.jsonl")
    done = CliRunner().invoke(
        app, ["compact", model, "-o", str(tmp_path / "b.loom"), "--dev", str(tmp_path / "dev.jsonl")]
    )
    assert done.exit_code == 0, done.output
    assert "has no mention of a label of" in done.stderr
