"""The commands that make and use models, run as a user would run them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from running import run
from spanloom import Mention, Recognizer, Sentence, read
from spanloom.cli.progress import TrainingProgress
from spanloom.learning import Auto


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.loom"
    done = run(
        "train",
        "sample:train",
        "--model",
        "chain",
        "--dev",
        "sample:dev",
        "--keep",
        "longest",
        "--max-iter",
        40,
        "-o",
        path,
    )
    assert done.returncode == 0, done.stderr
    assert "dev F1" in done.stdout
    assert "mentions were left out" in done.stdout
    return path


def test_train_writes_the_model_that_the_library_would(model, tmp_path):
    """The file predicts what a recogniser with the same settings predicts; with dev, it decides what is best there."""
    ner = Recognizer("chain", trainer=Auto(max_iter=40), keep="longest", decide="auto")
    ner.fit(read("sample:train"), dev=read("sample:dev"))
    test = list(read("sample:test"))
    assert Recognizer.load(model).predict(test) == ner.predict(test)


def test_train_json(tmp_path):
    """One JSON object with the record of the training."""
    done = run(
        "train",
        "sample:train",
        "--model",
        "chain",
        "--keep",
        "longest",
        "--max-iter",
        2,
        "--json",
        "-o",
        tmp_path / "m.loom",
    )
    record = json.loads(done.stdout)
    assert record["iterations"] == 2
    assert record["sentences"] == 210
    assert record["output"] == str(tmp_path / "m.loom")


def test_tag_streams_lines_as_json(model):
    """Standard input to standard output, one document a line, readable as our own format."""
    done = run("tag", model, stdin="IL-2 gene expression requires NF-kappa B.\n\nAnna Bell lives in Paris.\n")
    assert done.returncode == 0, done.stderr
    docs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [d["text"] for d in docs] == ["IL-2 gene expression requires NF-kappa B.", "Anna Bell lives in Paris."]
    found = [(d["text"][s:e], m["text"]) for d in docs for m in d["mentions"] for s, e in m["chars"]]
    assert found
    assert all(there == said for there, said in found)


def test_tag_answers_before_the_input_ends(model):
    """A line in, a document out, while the pipe is still open."""
    command = [sys.executable, "-m", "spanloom", "tag", str(model), "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write("The p53 gene.\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["text"] == "The p53 gene."
        process.stdin.close()
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("form", ["jsonl", "conll", "brat"])
def test_tag_writes_files_that_can_be_read_back(model, tmp_path, form):
    """--output with a format: the mentions are those that the library finds."""
    out = tmp_path / "out"
    done = run("tag", model, "sample:test", "-o", out, "--format", form)
    assert done.returncode == 0, done.stderr
    found = [m.label for doc in read(f"{form}:{out}") for m in doc.mentions]
    assert sorted(found) == sorted(
        m.label for d in Recognizer.load(model).predict(read("sample:test")) for m in d.mentions
    )


def test_tag_prints_any_format_of_lines(model):
    """--format without --output goes to the screen."""
    done = run("tag", model, "--format", "conll", stdin="The p53 gene.\n")
    assert done.returncode == 0, done.stderr
    assert [line.split("\t")[0] for line in done.stdout.splitlines() if line and line[0] != "#"] == [
        "The",
        "p53",
        "gene",
        ".",
    ]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--format", "foo"], "'foo' is none of auto, draw, "),
        (["--format", "brat"], "brat is not a format of lines and needs a path"),
        (["--format", "gum", "-o", "x"], "'gum' can be read only"),
        (["--format", "draw", "-o", "x.txt"], "leave --output out"),
        (
            ["-o", "x.foo"],
            "cannot tell the format of 'x.foo' from its name; write FORMAT:x.foo with one of jsonl, conll",
        ),
        (["-o", "no/such/x.jsonl"], "no/such: no such folder"),
        (["-o", "x.parquet", "--format", "mentions"], "x.parquet is the name of a parquet file"),
        (["-o", "x.jsonl.gz", "--format", "conll"], "x.jsonl.gz is the name of a jsonl file"),
        (["--above", "0.2", "--no-probabilities"], "--above goes by probabilities"),
    ],
)
def test_tag_says_what_is_wrong_with_its_target(model, tmp_path, monkeypatch, args, message):
    """The user's own words in the message, no temporary names, and nothing written."""
    monkeypatch.chdir(tmp_path)
    done = run("tag", model, *args, stdin="The p53 gene.\n")
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "/tmp" not in done.stderr
    assert ".part" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_tag_draws(model, tmp_path):
    """--format draw puts brackets under the words of a text file."""
    (tmp_path / "a.txt").write_text("Activation of the IL-2 gene promoter in human T cells.", encoding="utf-8")
    done = run("tag", model, tmp_path / "a.txt", "--format", "draw")
    assert "DNA" in done.stdout
    assert "╰" in done.stdout


def test_info(model):
    """What the model is, in words and as JSON, with its strongest features."""
    text = run("info", model).stdout
    assert "contiguous mentions that do not overlap" in text
    facts = json.loads(run("info", model, "--json", "--top", 2).stdout)
    assert facts["model"] == "chain"
    assert facts["training"]["sentences"] == 210
    assert facts["bytes"] == model.stat().st_size
    assert all(len(side) <= 2 for sides in facts["top_weights"].values() for side in sides.values())


def test_demo():
    """The README's promise: trains, scores, draws, and says three commands to try."""
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert "F1" in done.stdout
    assert "╰" in done.stdout
    after = done.stdout.split("Try next")[1]
    assert len([line for line in after.splitlines() if "spanloom" in line]) == 3


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["train", "no.jsonl", "-o", "m.loom"], "no.jsonl"),
        (["train", "sample:train", "-o", "no/such/m.loom"], "no such folder"),
        (["train", "sample:train", "-o", "."], "is a folder"),
        (["train", "sample:train", "--model", "edge", "-o", "m.loom"], "--keep longest"),
        (["train", "sample:train", "-o", "m.loom", "--model", "chain", "--set", "scheme=magic"], "magic"),
        (["train", "sample:train", "-o", "m.loom", "--features", "none.toml"], "none.toml"),
        (["train", "empty.jsonl", "-o", "m.loom"], "nothing to learn"),
        (["train", "latin1.jsonl", "-o", "m.loom"], "UTF-8"),
        (["tag", "no.loom"], "no.loom"),
        (["tag", "empty.jsonl"], "empty.jsonl"),
        (["info", "latin1.jsonl"], "latin1.jsonl"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, monkeypatch, args, message):
    """No traceback, nothing written, the culprit named."""
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "latin1.jsonl").write_bytes(b'{"text": "caf\xe9"}\n')
    before = sorted(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    done = run(*args)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("spanloom: ")
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_a_failed_training_leaves_the_old_model(model, tmp_path):
    """The file that was there stays as it was."""
    old = tmp_path / "m.loom"
    old.write_bytes(model.read_bytes())
    assert run("train", "sample:train", "--model", "chain", "-o", old).returncode == 2
    assert old.read_bytes() == model.read_bytes()


@pytest.mark.parametrize("after", [1, 3])
def test_interrupting_keeps_the_model_so_far(tmp_path, monkeypatch, after):
    """Ctrl-C after some iterations: the model so far is written (nobody can be asked here), exit code 130.

    It gets a name of its own: nobody takes it for a whole one, and a whole one that was there stays.
    """
    out = tmp_path / "m.loom"

    def stop(self, record):
        if record.number == after:
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingProgress, "__call__", stop)
    done = run("train", "sample:train", "--model", "chain", "--keep", "longest", "-o", out)
    assert done.returncode == 130
    assert f"interrupted after {after} iterations" in done.stderr
    assert not out.exists()
    kept = tmp_path / "m.loom.interrupted"
    assert str(kept) in done.stderr
    assert Recognizer.load(kept).training_["interrupted"]
    assert run("tag", kept, "IL-2 gene expression").returncode == 0


def test_interrupting_before_the_first_iteration_writes_nothing(tmp_path, monkeypatch):
    """There is no model yet."""

    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Recognizer, "fit", interrupt)
    assert run("train", "sample:train", "-o", tmp_path / "m.loom").returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_every_command_has_help_with_an_example():
    """--help of each command says how to use it."""
    commands = ["demo", "train", "tag", "info", "evaluate", "compare"]
    for command in commands:
        done = run(command, "--help")
        assert done.returncode == 0
        assert "Example" in done.stdout


def test_multilabel_settings_reach_the_model_and_tagging_may_change_the_threshold(tmp_path):
    """Restrictions, gap and threshold of ``multilabel``; a threshold that nothing reaches finds nothing."""
    path = tmp_path / "m.loom"
    options = ["--model", "multilabel", "--max-iter", "2", "--set", "max_gap=3", "--keep", "longest"]
    done = run("train", "sample:train", *options, "--set", "restrictions=[]", "-o", path)
    assert done.returncode == 0, done.stderr
    ner = Recognizer.load(path)
    assert (ner.trained_.gap, ner.trained_.restrictions) == (3, ())
    found = run("tag", path, "sample:dev", "--format", "jsonl")
    nothing = run("tag", path, "sample:dev", "--format", "jsonl", "--threshold", "1e9")
    assert any(json.loads(line)["mentions"] for line in found.stdout.splitlines())
    assert not any(json.loads(line)["mentions"] for line in nothing.stdout.splitlines())
    one = run(
        "tag", path, "sample:dev", "--format", "jsonl", "--threshold", json.dumps(dict.fromkeys(ner.labels_[1:], 1e9))
    )
    assert {m["label"] for line in one.stdout.splitlines() for m in json.loads(line)["mentions"]} == {ner.labels_[0]}
    told = json.loads(run("info", path, "--json").stdout)
    assert (told["chosen"]["max_gap"], told["chosen"]["restrictions"]) == (3, [])
    assert told["settings"]["model"]["name"] == "multilabel"
    assert told["settings"]["trainer"]["max_iter"] == 2
    assert "l2" not in told["settings"]["trainer"], "mira has no such penalty"


def test_version():
    """--version says which."""
    import spanloom

    assert run("--version").stdout.strip() == f"spanloom {spanloom.__version__}"


@pytest.mark.parametrize("name", ["multilabel", "memm"])
def test_info_shows_what_models_without_components_go_by(name, tmp_path):
    """The strongest features of every column, and how many weights there are."""
    words = ["the", "lacZ", "gene"]
    ner = Recognizer(name, features=["word", "distance"], trainer=Auto(max_iter=5))
    ner.fit([Sentence(words, [Mention("DNA", ((1, 3),))])]).save(tmp_path / "m.loom")
    facts = json.loads(run("info", tmp_path / "m.loom", "--json", "--top", 1).stdout)
    assert facts["weights"] > 0
    assert facts["columns"] == len(facts["top_weights"])
    first = {"multilabel": "DNA start", "memm": "B-DNA"}[name]
    ((feature, weight),) = facts["top_weights"][first]["for"]
    assert (feature, weight > 0) == ("word[0]=lacZ", True)


def test_ceilings_penalties_and_columns_of_every_label_are_told(tmp_path):
    """Crossing mentions of a label that come back otherwise; the penalties in use; weights by label."""
    mentions = [{"label": label, "parts": [part]} for label, part in (("X", [0, 3]), ("X", [1, 4]), ("Y", [0, 1]))]
    crossing = {"tokens": ["a", "b", "c", "d"], "mentions": mentions}
    (tmp_path / "c.jsonl").write_text(json.dumps(crossing) + "\n")
    options = ["--model", "edge", "--max-iter", "3", "--features", "crfsuite-like"]
    corpus, model = tmp_path / "c.jsonl", tmp_path / "m.loom"
    done = run("train", corpus, "--dev", corpus, "--penalty", "auto-by-label", *options, "-o", model)
    assert done.returncode == 0, done.stderr
    assert "2 are read back as other mentions: its recall on such data is at most 33.3 %" in done.stdout
    assert "mention penalties in use: X " in done.stdout
    facts = json.loads(run("info", model, "--json").stdout)
    assert {name.partition(": ")[0] for name in facts["top_weights"]} == {"X", "Y"}
    assert facts["training"]["ceiling"] == pytest.approx(1 / 3)
    assert facts["mention_penalty"] == Recognizer.load(model).mention_penalty_
    assert "penalty_curve" not in facts["training"]
