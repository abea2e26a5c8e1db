"""train with --target, --annotate, --lexicon, --repair and --set, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, write
from spanloom.base.errors import ParameterError
from spanloom.cli.app import app
from spanloom.models import Chain


def run(*arguments: str) -> Any:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    """Nouns are mentions; the two words of a sentence that say so are its determiner and its verb."""
    sentences = [
        Sentence([d, n, v], [Mention("thing", ((1, 2),))], {"pos": ["DT", "NN", "VBZ"]})
        for d in ("the", "a")
        for n in ("gene", "cell", "mouse")
        for v in ("binds", "grows")
    ]
    write([Document(sentences, "a")], str(tmp_path / "train.jsonl"))
    return str(tmp_path / "train.jsonl")


def test_a_tagger_is_trained_and_its_column_used(corpus: str, tmp_path: Path) -> None:
    pos, ner, text = tmp_path / "pos.loom", tmp_path / "ner.loom", tmp_path / "new.txt"
    text.write_text("a mouse binds\n")
    run("train", corpus, "--target", "pos", "--set", "support=observed", "--l2", "0.01", "-o", str(pos))
    tagged = json.loads(run("tag", str(pos), f"text:{text}", "--format", "jsonl").stdout)
    assert tagged["columns"]["pos"] == ["DT", "NN", "VBZ"]
    (tmp_path / "pos.toml").write_text('templates = ["pos[-1..1]"]\n')
    run("train", corpus, "--annotate", str(pos), "--features", str(tmp_path / "pos.toml"), "-o", str(ner))
    pos.unlink()  # the recogniser has it
    found = json.loads(run("tag", str(ner), f"text:{text}", "--format", "jsonl").stdout)
    assert [m["label"] for m in found["mentions"]] == ["thing"]


def test_lexicons_and_representations(corpus: str, tmp_path: Path) -> None:
    (tmp_path / "things.txt").write_text("gene\ncell\nmouse\nrat\n")
    (tmp_path / "bias.toml").write_text('templates = ["bias"]\n')
    options = ["--features", str(tmp_path / "bias.toml"), "--set", 'scheme=["BIES", "IO"]']
    lexicons = ["--lexicon", f"things={tmp_path / 'things.txt'}", "--lexicon", "induced"]
    run("train", corpus, *options, *lexicons, "--model", "chain", "--l2", "0.01", "-o", str(tmp_path / "ner.loom"))
    assert Recognizer.load(tmp_path / "ner.loom").model == Chain(scheme=["BIES", "IO"])
    (tmp_path / "new.txt").write_text("the rat sings\n")
    out = run("tag", str(tmp_path / "ner.loom"), f"text:{tmp_path / 'new.txt'}", "--format", "jsonl").stdout
    assert len(json.loads(out)["mentions"]) == 1
    assert json.loads(run("info", str(tmp_path / "ner.loom"), "--json").stdout)["lexicons"] == ["things", "train"]


@pytest.mark.parametrize("second", ["things=more.txt", "induced"])
def test_a_second_lexicon_of_a_name_is_refused(corpus: str, second: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("things.txt", "more.txt"):
        Path(name).write_text("gene\n")
    first = f"{'train' if second == 'induced' else 'things'}=things.txt"
    command = ["train", corpus, "--lexicon", first, "--lexicon", second, "-o", "x.loom"]
    with pytest.raises(ParameterError, match=r"lexicon-\w+ would be made twice.*give each lexicon a name of its own"):
        CliRunner().invoke(app, command, catch_exceptions=False)
    assert not Path("x.loom").exists()


@pytest.mark.parametrize(("options", "more"), [([], []), (["--repair", "abbreviations"], ["HSF"])])
def test_repairs(options: list[str], more: list[str], tmp_path: Path) -> None:
    """A short form that was never a mention is one where its long form is, and only with the repair."""
    train = [Sentence(["the", "heat", "shock", "factor", "is"], [Mention("g", ((1, 4),))])] * 3
    train += [Sentence(["the", word, "is"]) for word in ("HSF", "(", ")")]
    write([Document(train)], str(tmp_path / "train.jsonl"))
    (tmp_path / "word.toml").write_text('templates = ["word"]\n')
    model, text = str(tmp_path / "ner.loom"), tmp_path / "new.txt"
    features = ["--features", str(tmp_path / "word.toml"), "--l2", "0.01", "--model", "chain"]
    run("train", str(tmp_path / "train.jsonl"), *features, *options, "-o", model)
    text.write_text("the heat shock factor ( HSF ) is\n")
    found = json.loads(run("tag", model, f"text:{text}", "--format", "jsonl").stdout)["mentions"]
    assert [m["text"] for m in found] == ["heat shock factor", *more]


def test_a_lexicon_without_a_name_is_answered_in_the_form_of_the_option(corpus: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"written NAME=FILE.* got 'genes.txt': write e.g. genes=genes.txt"):
        CliRunner().invoke(
            app, ["train", corpus, "--lexicon", "genes.txt", "-o", str(tmp_path / "x")], catch_exceptions=False
        )


def test_a_lexicon_is_normalised_as_the_option_says(corpus: str, tmp_path: Path) -> None:
    """All of the numbered words are one to the lexicon, and to a recogniser that sees nothing else."""
    (tmp_path / "things.txt").write_text("gene1\n")
    (tmp_path / "bias.toml").write_text('templates = ["bias"]\n')
    sentences = [Sentence(["the", f"gene{i}", "x"], [Mention("g", ((1, 2),))]) for i in range(5)]
    write([Document(sentences, "a")], str(tmp_path / "numbered.jsonl"))
    lexicon = f"things={tmp_path / 'things.txt'}?normalise=lower,squeezed"
    options = ["--features", str(tmp_path / "bias.toml"), "--lexicon", lexicon, "--l2", "0.01"]
    run("train", str(tmp_path / "numbered.jsonl"), *options, "-o", str(tmp_path / "ner.loom"))
    (tmp_path / "new.txt").write_text("the Gene77 sings\n")
    out = run("tag", str(tmp_path / "ner.loom"), f"text:{tmp_path / 'new.txt'}", "--format", "jsonl").stdout
    assert len(json.loads(out)["mentions"]) == 1
