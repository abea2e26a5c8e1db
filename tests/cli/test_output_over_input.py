"""No command writes over what it reads, by whatever name, and --overwrite does not change that."""

from __future__ import annotations

import inspect
import os
import typing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.base.errors import ParameterError
from spanloom.cli.apart import INPUTS, OUTPUTS
from spanloom.cli.app import app
from spanloom.cli.commands import COMMANDS
from spanloom.learning import Auto

OTHER = {
    "by", "cache", "data", "decide", "engine", "form", "format", "grid", "host", "how", "keep", "labels",
    "language", "learn", "license",
    "lossy", "mention", "mentions", "name", "notes", "parts", "penalty", "project", "repair",
    "scheduler", "settings", "base", "shard_size", "threshold", "token_file", "tokenizer", "trainer", "weights",
}  # fmt: skip
"""Parameters of text that name no file of results, nor one that is read."""


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("model") / "m.loom"
    ner = Recognizer("chain", trainer=Auto(max_iter=2), keep="longest", threads=1)
    ner.fit(read("sample:train?domain=news")).save(path)
    return path.read_bytes()


@pytest.fixture
def place(tmp_path: Path, trained: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a model, corpora and links to them, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.loom").write_bytes(trained)
    docs = [Document([Sentence(["Anna", "sings", "."], [Mention("PER", ((0, 1),))])], id) for id in "abc"]
    for name in ("c.jsonl", "d.jsonl", "e.jsonl", "folder/f.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(docs, tmp_path / name)
    write(docs, f"brat:{tmp_path}/brat")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "t.txt").write_text("Anna sings.\n")
    (tmp_path / "raw.txt").write_text("Anna sings.\n")
    (tmp_path / "names.tsv").write_text("Anna\tPER\n")
    (tmp_path / "c.toml").write_text('model = "chain"\n')
    (tmp_path / "soft.jsonl").symlink_to("c.jsonl")
    os.link(tmp_path / "c.jsonl", tmp_path / "hard.jsonl")
    return tmp_path


REFUSED = [
    "train c.jsonl -o c.jsonl",
    "train d.jsonl c.jsonl -o ./c.jsonl",
    "train c.jsonl -o soft.jsonl",
    "train c.jsonl -o hard.jsonl",
    "train soft.jsonl -o c.jsonl",
    "train jsonl:c.jsonl?text=text -o c.jsonl",
    "train [ce].jsonl -o e.jsonl",
    "train folder -o folder/f.jsonl",
    "train brat -o brat/a.txt",
    "train brat/a.ann -o brat/a.txt",
    "train c.jsonl --dev d.jsonl -o d.jsonl",
    "train c.jsonl --start m.loom -o m.loom",
    "train c.jsonl --lexicon names=names.tsv?normalise=lower -o names.tsv",
    "train c.jsonl --config c.toml --write-config c.toml -o new.loom",
    "tag m.loom c.jsonl -o c.jsonl",
    "tag m.loom c.jsonl -o jsonl:c.jsonl --overwrite",
    "tag m.loom c.jsonl -o conll:c.jsonl?layers=2",
    "tag m.loom raw.txt -o m.loom --format jsonl",
    "tag m.loom c.jsonl -o ./ --overwrite",
    "evaluate m.loom c.jsonl --html c.jsonl",
    "evaluate --gold c.jsonl --pred d.jsonl --html d.jsonl",
    "evaluate m.loom c.jsonl --train d.jsonl --html d.jsonl",
    "explain m.loom Anna --corpus c.jsonl --html c.jsonl",
    "convert c.jsonl c.jsonl",
    "convert c.jsonl conll:c.jsonl --overwrite",
    "suggest m.loom c.jsonl -o c.jsonl",
    "suggest m.loom c.jsonl --other m.loom -o jsonl:m.loom",
    "audit c.jsonl -o c.jsonl",
    "audit c.jsonl --html c.jsonl",
    "compact m.loom -o m.loom",
    "compact m.loom -o c.jsonl --dev c.jsonl",
    "tune c.jsonl --dev d.jsonl -o d.jsonl",
    "tune c.jsonl --folds 2 --state c.jsonl",
    "crossval c.jsonl -o c.jsonl",
    "crossval c.jsonl --state c.jsonl",
    "combine c.jsonl d.jsonl -o d.jsonl",
    "sample c.jsonl -o c.jsonl",
    "cluster raw.txt -o raw.txt",
    "parse c.jsonl c.jsonl --parser udpipe:none",
    "parser train c.jsonl -o c.jsonl",
    "card model.loom -o .",
    "split train.jsonl -o . --overwrite",
    "convert-model crfsuite:x.crf -o crfsuite:x.crf",
]


@pytest.mark.parametrize("line", REFUSED)
def test_an_output_that_is_an_input_is_refused_before_any_work(place: Path, line: str) -> None:
    for name, like in (("model.loom", "m.loom"), ("x.crf", "m.loom"), ("train.jsonl", "c.jsonl")):
        (place / name).write_bytes((place / like).read_bytes())
    before = {p: p.read_bytes() for p in place.rglob("*") if p.is_file()}
    with pytest.raises(ParameterError, match="is an input of this command"):
        run(*line.split())
    assert {p: p.read_bytes() for p in place.rglob("*") if p.is_file() and "_spanloom" not in p.parts} == before


OF_ANOTHER_KIND = [
    "train c.jsonl -o d.jsonl",
    "compact m.loom -o d.jsonl",
    "tune c.jsonl --folds 2 -o d.jsonl",
    "demo -o d.jsonl",
    "convert-model crfsuite:x.crf -o text.loom",
    "convert-model m.loom -o crfsuite:d.jsonl",
    "cluster raw.txt -o d.jsonl",
    "vectors raw.txt -o d.jsonl",
    "vectors raw.txt -o new --vectors d.jsonl",
]


@pytest.mark.parametrize("line", OF_ANOTHER_KIND)
def test_a_file_of_another_kind_is_not_replaced(place: Path, line: str) -> None:
    """Said before anything is read: the file x.crf does not even exist."""
    (place / "text.loom").write_text("precious\n")
    before = {p: p.read_bytes() for p in place.rglob("*") if p.is_file()}
    with pytest.raises(ParameterError, match=r"(d\.jsonl|text\.loom) is there already and is no .*another name"):
        run(*line.split())
    assert {p: p.read_bytes() for p in place.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("old", ["m.loom", "empty", "format 1"])
def test_a_model_of_any_version_and_an_empty_file_are_replaced(place: Path, old: str) -> None:
    output, fixtures = place / "out.loom", Path(__file__).parents[1] / "fixtures"
    first = fixtures / "models-0.1" / "chain.loom"
    output.write_bytes(b"" if old == "empty" else (first if old == "format 1" else place / old).read_bytes())
    assert run("compact", "m.loom", "-o", output).exit_code == 0
    assert Recognizer.load(output).training_["compacted"] == 0.02


def test_clusters_and_vectors_are_replaced(place: Path) -> None:
    (place / "words.txt").write_text("a b a b a b\n" * 3)
    for _ in range(2):
        assert run("cluster", "words.txt", "-c", "2", "-o", "paths").exit_code == 0
        assert run("vectors", "words.txt", "-o", "wide", "--vectors", "table").exit_code == 0


@pytest.mark.parametrize(
    "line",
    [
        "convert c.jsonl d.jsonl",
        "convert brat brat/report.html",
        "convert jsonl:folder folder/out.conll",
        "tag m.loom texts/t.txt -o brat:texts",
        "evaluate m.loom c.jsonl --html brat/page.html",
        "card m.loom -o . --name m.loom",
        "split c.jsonl -o . --overwrite",
        "tag m.loom raw.txt -o /dev/null --format jsonl",
        "tag m.loom brat -o brat:brat --overwrite",
        "tag m.loom brat/a.ann -o brat/a.ann --overwrite",
    ],
)
def test_another_file_beside_the_inputs_is_written_and_written_again(place: Path, line: str) -> None:
    texts = {p: p.stat().st_ino for p in place.rglob("*.txt")}
    assert run(*line.split()).exit_code == 0
    if "brat:" not in line or "--overwrite" in line:  # whose annotations are not replaced without being asked
        assert run(*line.split()).exit_code == 0
    assert {p: p.stat().st_ino for p in texts} == texts, "texts that were read stay as they are"


def test_every_parameter_of_a_command_is_known_as_input_output_or_neither() -> None:
    """A new option for a file must be put into one of the lists, or it is not looked after."""
    found = set()
    for entry in COMMANDS.values():
        module, name = entry.place.split(":")
        function = getattr(import_module(f"spanloom.cli.{module}"), "train_parser" if name == "parser_app" else name)
        hints = inspect.get_annotations(function, eval_str=True)
        found |= {name for name, hint in hints.items() if _takes_text(hint)}
    assert found - set(INPUTS) - set(OUTPUTS) == OTHER
    assert set(OUTPUTS) | set(INPUTS) <= found


def _takes_text(hint: Any) -> bool:
    return hint in (str, Path) or any(_takes_text(one) for one in typing.get_args(hint))


def test_texts_longer_than_a_file_name_are_no_files(place: Path) -> None:
    """With and without a slash, also when the output is there already."""
    for text in ("Anna sings. " * 40, "Anna/Bert sing. " * 40):
        for _ in range(2):
            assert run("tag", "m.loom", text, "-o", "out.jsonl", "--overwrite").exit_code == 0


def test_a_kind_of_model_is_no_folder_that_is_read(place: Path) -> None:
    (place / "chain").mkdir()
    for _ in range(2):
        done = run("train", "c.jsonl", "--model", "chain", "--max-iter", 1, "-o", "chain/a.loom")
        assert done.exit_code == 0, done.output
