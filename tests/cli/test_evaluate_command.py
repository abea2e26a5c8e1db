"""``spanloom evaluate`` from files to figures."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.cli.app import app
from spanloom.learning import Auto

WORDS = ["the", "IL-2", "receptor", "gene", "is", "active"]
PROTEIN, DNA = Mention("protein", ((1, 3),)), Mention("DNA", ((1, 4),))


@pytest.fixture
def files(tmp_path):
    """Gold with two nested mentions; a prediction with the outer one and a wrong one."""
    wrong = Mention("RNA", ((5, 6),))
    for name, mentions in (("gold", [PROTEIN, DNA]), ("pred", [DNA, wrong])):
        write([Document([Sentence(WORDS, mentions)], id="d1")], tmp_path / f"{name}.jsonl")
    return tmp_path


def run(*arguments):
    """Run the command; errors come through as exceptions."""
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)


def test_json_has_fractions(files):
    """One of two right, one of two found."""
    result = run("evaluate", "--gold", files / "gold.jsonl", "--pred", files / "pred.jsonl", "--json")
    data = json.loads(result.stdout)
    assert {k: data["micro"][k] for k in ("precision", "recall", "f1")} == {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert data["by_label"]["DNA"]["f1"] == 1.0
    assert data["by_kind"]["embedded"]["gold"] == 1
    assert data["counts"]["spurious"] == 1
    assert data["intervals"]["f1"]["value"] == 0.5


def test_terminal_shows_tables_and_draws_mistakes(files):
    """Percentages in the tables, the mistake drawn with its label."""
    result = run("evaluate", "--gold", files / "gold.jsonl", "--pred", files / "pred.jsonl", "--show", 1, "--all")
    assert "F1 50.00" in result.stdout
    assert "same type nested" not in result.stdout
    assert "By document" in result.stdout
    assert "✗ protein" in result.stdout
    assert "+ RNA" in result.stdout


def test_training_corpus_tells_seen_from_unseen(files):
    """Trained on the gold itself, its mentions were seen."""
    ref = files / "gold.jsonl"
    result = run("evaluate", "--gold", ref, "--pred", files / "pred.jsonl", "--train", ref, "--json")
    assert json.loads(result.stdout)["by_novelty"]["seen"]["gold"] == 2


def test_plot_writes_a_picture(files):
    """A picture by its ending; another ending is refused before anything is read."""
    pytest.importorskip("matplotlib")
    run("evaluate", "--gold", files / "gold.jsonl", "--pred", files / "pred.jsonl", "--plot", files / "a.svg")
    assert b"<svg" in (files / "a.svg").read_bytes()
    with pytest.raises(ParameterError, match="must end in"):
        run("evaluate", "--gold", "absent.jsonl", "--pred", "absent.jsonl", "--plot", files / "a.gif")


def test_html_writes_a_page(files):
    """With the names of the two files in its title."""
    run("evaluate", "--gold", files / "gold.jsonl", "--pred", files / "pred.jsonl", "--html", files / "r.html")
    text = (files / "r.html").read_text(encoding="utf-8")
    assert "pred.jsonl against" in text
    assert '"kind":"spurious"' in text


def test_a_model_is_run_on_the_corpus(files):
    """A model that learned the outer mentions finds them; the time is in the report."""
    model = files / "m.loom"
    Recognizer("chain", trainer=Auto(max_iter=30), keep="outermost", threads=1).fit(read(files / "gold.jsonl")).save(
        model
    )
    data = json.loads(run("evaluate", model, files / "gold.jsonl", "--json").stdout)
    assert (data["micro"]["precision"], data["micro"]["recall"]) == (1.0, 0.5)
    assert data["throughput"]["words_per_second"] > 0
    assert data["calibration"]["expected_calibration_error"] < 0.5
    assert "calibration error" in run("evaluate", model, files / "gold.jsonl").stdout
    plain = json.loads(run("evaluate", model, files / "gold.jsonl", "--json", "--no-probabilities").stdout)
    assert plain["calibration"] is None


@pytest.mark.parametrize(
    "arguments", [[], ["m.loom"], ["m.loom", "a.jsonl", "--gold", "a.jsonl"], ["--gold", "a.jsonl"]]
)
def test_there_are_two_ways(arguments):
    """Anything else is refused with both."""
    with pytest.raises(ParameterError, match="either MODEL and REF, or --gold REF and --pred REF"):
        run("evaluate", *arguments)


def test_other_text_is_an_error(files):
    """The message names the document and the words."""
    write([Document([Sentence([*WORDS[:5], "silent"])], id="d1")], files / "other.jsonl")
    with pytest.raises(
        CorpusError, match=r"document 'd1' has another text .* goes on 'active' and the prediction 'silent'"
    ):
        run("evaluate", "--gold", files / "gold.jsonl", "--pred", files / "other.jsonl")
