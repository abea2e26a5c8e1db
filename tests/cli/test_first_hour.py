"""What new users stumbled over: late errors, lost work, labels read as markup, empty files, one bad record."""

from __future__ import annotations

import ast
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

import spanloom.cli
from spanloom import Document, Mention, Recognizer, Sentence, read, write
from spanloom.base.errors import CorpusError, SpanloomError
from spanloom.cli.app import app
from spanloom.cli.progress import TrainingProgress
from spanloom.cli.summary import tell
from spanloom.learning import Auto, Iteration


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)


def doc(id: str, label: str = "PER") -> Document:
    return Document([Sentence(["Anna", "sings", "."], [Mention(label, ((0, 1),))])], id)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.loom"
    Recognizer("chain", trainer=Auto(max_iter=5), keep="longest", threads=1).fit(read("sample:train?domain=news")).save(
        path
    )
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Four lines: the second is no JSON, the third a mention outside of its text."""
    path = tmp_path / "in.jsonl"
    lines = [
        {"id": "a", "text": "Anna sings."},
        None,
        {"id": "c", "text": "Bert.", "mentions": [{"label": "PER", "chars": [[3, 9]]}]},
        {"id": "d", "text": "Carl sings."},
    ]
    path.write_text("".join("{\n" if line is None else json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("command", ["convert", "tag"])
def test_bad_records_are_skipped_listed_and_counted(model: Path, broken: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out.jsonl"
    arguments = [broken, out] if command == "convert" else [model, broken, "-o", out]
    done = run(command, *arguments, "--on-error", "skip")
    assert done.exit_code == 3
    assert [d.id for d in read(out)] == ["a", "c", "d"]
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl.skipped.jsonl").read_text().splitlines()]
    assert [(row["file"], row["line"], row["kind"]) for row in rows] == [
        (str(broken), 2, "json"),
        (str(broken), 3, "out-of-text"),
    ]
    assert "not JSON" in rows[0]["why"]
    assert "2 skipped" in done.stderr
    assert "out.jsonl.skipped.jsonl" in done.stderr


def test_nothing_skipped_is_success(tmp_path: Path) -> None:
    write([doc("a")], tmp_path / "in.jsonl")
    done = run("convert", tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--on-error", "skip")
    assert done.exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_by_default_a_bad_record_stops_and_what_was_done_is_kept(model: Path, broken: Path, tmp_path: Path) -> None:
    for arguments in (["convert", broken, tmp_path / "c.jsonl"], ["tag", model, broken, "-o", tmp_path / "t.jsonl"]):
        with pytest.raises(CorpusError, match=r"in\.jsonl:2: not JSON.*\n.*is in .*\.jsonl\.partial"):
            run(*arguments)
    assert [d.id for d in read(f"jsonl:{tmp_path}/c.jsonl.partial")] == ["a"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.jsonl.partial", "in.jsonl", "t.jsonl.partial"]


def test_one_line_says_what_was_written(model: Path, tmp_path: Path) -> None:
    write([doc("a"), doc("b")], tmp_path / "in.jsonl")
    done = run("convert", tmp_path / "in.jsonl", tmp_path / "out.conll")
    assert done.stderr == f"2 documents, 2 mentions written to {tmp_path}/out.conll\n"
    done = run("tag", model, tmp_path / "in.jsonl", "-o", tmp_path / "out.jsonl")
    found = sum(len(d.mentions) for d in read(tmp_path / "out.jsonl"))
    assert f"2 documents, {found} mention" in done.stderr
    assert f"written to {tmp_path}/out.jsonl\n" in done.stderr


def test_tagging_again_into_a_brat_folder_is_refused(model: Path, tmp_path: Path) -> None:
    write([doc("a")], tmp_path / "in.jsonl")
    run("tag", model, tmp_path / "in.jsonl", "-o", f"brat:{tmp_path}/out")
    (tmp_path / "out" / "a.ann").write_text("T1\tMINE 0 4\tAnna\n")
    with pytest.raises(CorpusError, match="--overwrite"):
        run("tag", model, tmp_path / "in.jsonl", "-o", f"brat:{tmp_path}/out")
    assert "MINE" in (tmp_path / "out" / "a.ann").read_text()
    run("tag", model, tmp_path / "in.jsonl", "-o", f"brat:{tmp_path}/out", "--overwrite")
    assert "MINE" not in (tmp_path / "out" / "a.ann").read_text()


def test_a_new_chapter_goes_into_the_brat_folder_of_others(model: Path, tmp_path: Path) -> None:
    """Only files of the same names are in the way; probabilities are written for people."""
    (tmp_path / "checked").mkdir()
    (tmp_path / "checked" / "new.ann").write_text("T1\tMINE 0 4\tAnna\n")
    (tmp_path / "checked" / "new.txt").write_text("Anna sings.")
    (tmp_path / "new2.txt").write_text("President Bill Clinton went to Paris.")
    run("tag", model, tmp_path / "new2.txt", "-o", f"brat:{tmp_path}/checked", "--above", 0.001)
    assert sorted(p.name for p in (tmp_path / "checked").iterdir()) == ["new.ann", "new.txt", "new2.ann", "new2.txt"]
    assert "MINE" in (tmp_path / "checked" / "new.ann").read_text()
    probs = re.findall(r"\tprob T\d+\t(\S+)", (tmp_path / "checked" / "new2.ann").read_text())
    assert probs
    assert all(len(prob.partition("e")[0].replace(".", "").lstrip("0")) <= 6 for prob in probs if float(prob) < 0.99999)


def test_refusals_of_the_command_line_speak_of_options(model: Path, tmp_path: Path) -> None:
    """In Python, they speak of arguments; see the tests of batches."""
    write([doc("a")], tmp_path / "in.jsonl")
    arguments = ["tag", model, tmp_path / "in.jsonl", "-o", f"{tmp_path}/out/", "--jobs", 1]
    assert run(*arguments).exit_code == 0
    with pytest.raises(SpanloomError, match=r"--resume does what is missing.* --overwrite begins anew") as caught:
        run(*arguments)
    assert "=True" not in str(caught.value)
    with pytest.raises(SpanloomError, match="without --jobs"):
        run("tag", model, "jsonl:-", "-o", f"{tmp_path}/more/")
    write([doc("a")], f"brat:{tmp_path}/brat")
    with pytest.raises(SpanloomError, match="with --overwrite"):
        run("convert", tmp_path / "in.jsonl", f"brat:{tmp_path}/brat")
    with pytest.raises(SpanloomError, match="with overwrite=yes"):
        write([doc("a")], f"brat:{tmp_path}/brat")


def test_existing_parts_are_refused(tmp_path: Path) -> None:
    write([doc(str(k)) for k in range(5)], tmp_path / "in.jsonl")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "dev.jsonl").write_text("mine")
    with pytest.raises(CorpusError, match=r"dev\.jsonl already.*--overwrite"):
        run("split", tmp_path / "in.jsonl", "-o", tmp_path / "parts")
    assert [p.name for p in (tmp_path / "parts").iterdir()] == ["dev.jsonl"]
    assert run("split", tmp_path / "in.jsonl", "-o", tmp_path / "parts", "--overwrite").exit_code == 0


@pytest.mark.parametrize("label", ["[person]", "[/person]", ":dna:", "[bold]x"])
def test_labels_are_not_markup(tmp_path: Path, label: str) -> None:
    path = tmp_path / "in.jsonl"
    write([doc("a", label)], path)
    assert label in run("stats", path).stdout
    assert label in run("evaluate", "--gold", path, "--pred", path, "--all").stdout
    assert label in run("compare", path, path, "--gold", path).stdout


def test_commands_print_through_one_console() -> None:
    """A console made elsewhere would read markup again."""
    own = {"console.py"}
    for file in Path(spanloom.cli.__file__).parent.glob("*.py"):
        calls = [n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Call)]
        made = any(isinstance(call.func, ast.Name) and call.func.id == "Console" for call in calls)
        assert not made or file.name in own, file.name


@pytest.mark.parametrize("content", ["", '{"id": "a", "text": "Anna sings."}\n'])
def test_stats_of_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(content)
    done = run("stats", path)
    assert done.exit_code == 0
    assert "0 mentions" in done.stdout
    assert json.loads(run("stats", path, "--json").stdout)["ceilings"] == {}


def test_scoring_on_nothing_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    for arguments in (["evaluate", "--gold", path, "--pred", path], ["compare", path, path, "--gold", path]):
        with pytest.raises(CorpusError, match=r"empty\.jsonl: 0 documents .*nothing to score"):
            run(*arguments)


def test_an_empty_label_names_its_document(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": "d7", "tokens": ["a"], "mentions": [{"label": "", "parts": [[0, 1]]}]}\n')
    with pytest.raises(CorpusError, match=r"document d7, sentence 0: \(\(0, 1\),\) 'a' has no label"):
        run("convert", path, tmp_path / "out.conll")


def test_late_errors_come_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read before it is known that the result can be written."""
    path = tmp_path / "in.jsonl"
    write([doc("a")], path)

    def never(*_: object) -> None:
        pytest.fail("work was done before the output was checked")

    monkeypatch.setattr("spanloom.formats.jsonl.files.parse", never)
    nowhere = tmp_path / "no" / "x"
    for arguments in (
        ["stats", path, "--plot", f"{nowhere}.png"],
        ["evaluate", "--gold", path, "--pred", path, "--html", f"{nowhere}.html"],
        ["evaluate", "--gold", path, "--pred", path, "--plot", f"{nowhere}.png"],
        ["combine", path, path, "-o", f"{nowhere}.jsonl"],
        ["crossval", path, "-o", f"{nowhere}.jsonl"],
        ["sample", path, "-o", f"{nowhere}.jsonl"],
        ["convert", path, f"{nowhere}.jsonl"],
        ["demo", "-o", f"{nowhere}.loom"],
    ):
        with pytest.raises(FileNotFoundError) as caught:
            run(*arguments)
        assert caught.value.filename == str(tmp_path / "no")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for arguments in (
        ["stats", path, "--plot", tmp_path / "a.png"],
        ["evaluate", "--gold", path, "--pred", path, "--plot", tmp_path / "a.png"],
    ):
        with pytest.raises(SpanloomError, match=r"spanloom\[plot\]"):
            run(*arguments)


def test_a_second_column_of_tags_is_pointed_out(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Anna\tB-PER\tB-NAME\n")
    for arguments in (["stats", path], ["evaluate", "--gold", path, "--pred", path], ["convert", path, "jsonl:-"]):
        done = run(*arguments)
        assert f"conll:{path}?tags=1,2" in done.stderr


def test_long_work_shows_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of terminals a line now and then; here after every document."""
    write([doc("a"), doc("b")], tmp_path / "in.jsonl")
    monkeypatch.setattr("spanloom.cli.counting.EVERY_SECONDS", 0.0)
    lines = run("convert", tmp_path / "in.jsonl", tmp_path / "out.jsonl").stderr.splitlines()
    assert [line.split(",")[0] for line in lines] == ["1 document", "2 documents", "2 documents"]
    assert "written to" in lines[-1]


def test_skipped_records_are_said_where_they_cannot_be_listed(broken: Path) -> None:
    done = run("convert", broken, "jsonl:-", "--on-error", "skip")
    assert done.exit_code == 3
    assert len(done.stdout.splitlines()) == 3
    assert f"skipped: {broken}:2: not JSON" in done.stderr


@pytest.fixture(scope="module")
def hyphens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of columns in which hyphens do not cut, but where no tokenizer of ours gives ``ab!c``."""
    folder = tmp_path_factory.mktemp("hyphens")
    rows = [f"the O\n{name}-huset B-LOC\nis O\nab!c O\n. O\n\n" for name in ("SID", "LO", "DSB", "FDB")]
    (folder / "train.conll").write_text("".join(rows))
    done = run("train", folder / "train.conll", "-o", folder / "m.loom", "--max-iter", 5)
    assert "default,hyphens: 80.00 % of the training tokens come out the same" in " ".join(done.output.split())
    return folder / "m.loom"


@pytest.mark.parametrize("name", ["in.txt", "in.jsonl"])
def test_text_is_cut_as_the_training_data_were(hyphens: Path, tmp_path: Path, name: str) -> None:
    """By the native path (JSONL to JSONL) and by the other; what does not come out the same is said once."""
    text = "the SID-huset is sold."
    (tmp_path / name).write_text(text if name == "in.txt" else (json.dumps({"id": "a", "text": text}) + "\n") * 3)
    for more in ([], ["--probabilities"]):
        done = run("tag", hyphens, tmp_path / name, "-o", tmp_path / "out.jsonl", "--overwrite", *more)
        record = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
        assert record["tokens"] == ["the", "SID-huset", "is", "sold", "."]
        assert " ".join(done.output.split()).count("expect more mistakes than on tokenised data") == 1
    done = run("tag", hyphens, tmp_path / name, "--tokenizer", "space", "-o", tmp_path / "out.jsonl", "--overwrite")
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])["tokens"][-1] == "sold."
    assert "expect more mistakes" not in done.output


def test_tokens_are_not_cut_again(hyphens: Path, tmp_path: Path) -> None:
    """Data that have tokens keep them, without a warning."""
    (tmp_path / "in.conll").write_text("SID O\n- O\nhuset O\n\n")
    done = run("tag", hyphens, tmp_path / "in.conll", "-o", tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text())["tokens"] == ["SID", "-", "huset"]
    assert "expect more mistakes" not in done.output


def test_tokens_and_sentences_of_text_are_options(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("He left. Then\nshe came, too.\n")
    (one,) = read(f"text:{tmp_path}/a.txt?tokens=space&sentences=lines")
    assert [s.tokens for s in one.sentences] == [["He", "left.", "Then"], ["she", "came,", "too."]]


def test_training_points_at_tags_that_are_not_read(tmp_path: Path) -> None:
    """And info shows nothing that is empty, and no number with ten digits."""
    rows = [f"{name} B-PER O\nof O O\nRome O B-LOC\n\n" for name in ("Anna", "Bert", "Carl")] * 4
    (tmp_path / "t.conll").write_text("".join(rows))
    done = run("train", tmp_path / "t.conll", "-o", tmp_path / "m.loom", "--max-iter", 5)
    assert "t.conll?tags=1,2' reads them" in "".join(done.output.split("\n"))
    shown = run("info", tmp_path / "m.loom").stdout
    assert not re.search(r"\d\.\d{5,}", shown)
    assert not re.search(r"^ (annotators|untrained|chosen) *$", shown, re.M)


def test_completion_is_offered() -> None:
    assert "--install-completion" in run("--help").output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["tag", "gania", "x y"], "no such file; a model that comes with spanloom is called genia: 'gania'"),
        (["tag", "other", "x.jsonl"], "No such file or directory: 'other'"),
        (["validate", "novelz"], "^novelz: no such file or folder"),
        (
            ["train", "novels/train", "-o", "m.loom"],
            "^novels/train: no such file or folder, as there is no folder novels$",
        ),
        (["tag", "genia", ""], "^the text is empty; give a text in quotes"),
        (["suggest", "genia", "some text"], "^'some text': no such file or folder; a text itself goes through a pipe"),
        (["tag", "genia", "BRCA1"], "^BRCA1: no such file or folder; a text of one word goes through a pipe"),
    ],
)
def test_a_name_that_is_nowhere_is_said_first(args: list[str], message: str) -> None:
    with pytest.raises((SpanloomError, OSError), match=message):
        run(*args)


def test_records_of_another_shape_are_told_which_fields_are_the_text(model: Path, tmp_path: Path) -> None:
    """The first unknown field is the id, not the text."""
    path = tmp_path / "in.jsonl"
    path.write_text('{"pmid": 1, "title": "A.", "abstract": "Anna sings."}\n', encoding="utf-8")
    typed = f"jsonl:{path}?text=title,abstract"
    with pytest.raises(CorpusError, match=re.escape(f"'{typed}'")):
        run("tag", model, path)
    assert run("tag", model, typed).exit_code == 0


def test_training_names_the_model_that_it_chose(tmp_path: Path) -> None:
    """With the L2 penalty that goes with it; ``info`` has it, too."""
    nested = Document([Sentence(["a", "b"], [Mention("X", ((0, 2),)), Mention("X", ((0, 1),))])])
    write([nested] * 3, tmp_path / "train.jsonl")
    done = run("train", tmp_path / "train.jsonl", "-o", tmp_path / "m.loom")
    assert "model state (share 0.3), trainer sdca (l2 0.1)" in done.stdout
    assert "1 label\n" in done.stdout
    assert "trainer sdca (l2 0.1, tol 0.0001)" in " ".join(run("info", tmp_path / "m.loom").stdout.split())


def test_one_document_is_one_document(tmp_path: Path) -> None:
    write([doc("a")], tmp_path / "in.jsonl")
    assert "1 document, 1 sentence," in run("stats", tmp_path / "in.jsonl").stdout


def test_a_batch_of_one_shard_speaks_of_one(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"text": "Anna sings."}\n', encoding="utf-8")
    done = run("tag", model, tmp_path / "in.jsonl", "-o", f"{tmp_path}/out/", "--jobs", 1)
    assert done.stderr.startswith("1 document, 3 words, ")
    assert ": 1 shard tagged, " in done.stderr


def test_suggestions_are_told(model: Path, tmp_path: Path) -> None:
    write([doc("a")], tmp_path / "in.jsonl")
    done = run("suggest", model, tmp_path / "in.jsonl", "-o", tmp_path / "next.jsonl")
    assert re.search(rf"^1 document, \d mentions? written to {tmp_path}/next.jsonl$", done.stderr, re.M)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"text": "Anna', "not JSON: Unterminated string starting at column 10"),
        ("a.csv", "id,text\n7\n", "1 field, but 2 in the first row"),
    ],
)
def test_messages_are_grammatical(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        run("stats", tmp_path / name)


def test_training_and_validation_name_texts_without_annotation_file(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They count as annotated without mentions, which nobody wants of texts that are yet to be annotated.

    Training says so before it begins.
    """
    write([doc(name) for name in "ab"], f"brat:{tmp_path}/gold")
    (tmp_path / "gold" / "new.txt").write_text("Carl sings.")
    warning = "1 of 3 texts has no .ann file and counts as annotated, without any mention: new.txt"
    trained = run("train", tmp_path / "gold", "--model", "chain", "--penalty", 0, "-o", tmp_path / "m.loom")
    assert warning in trained.stderr
    assert warning in run("validate", tmp_path / "gold").stdout
    assert ".ann" not in run("tag", model, tmp_path / "gold", "-o", tmp_path / "out.jsonl").stderr

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Recognizer, "fit", stop)
    assert warning in run("train", tmp_path / "gold", "-o", tmp_path / "n.loom").stderr


@pytest.mark.parametrize("at", [0, 1, 5])
def test_what_an_interruption_of_cross_fitting_leaves_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """A model of four of five folds is no model of all data; of several, one that was trained to its end is kept."""
    write([doc(str(k)) for k in range(20)], tmp_path / "in.jsonl")
    trainings = []

    def stop(self: TrainingProgress, record: Iteration) -> None:
        if record.number == 1:
            trainings.append(record)
        if len(trainings) > at and record.number == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingProgress, "__call__", stop)
    done = run("train", tmp_path / "in.jsonl", "--model", "chain", "--threads", 1, "-o", tmp_path / "m.loom")
    assert done.exit_code == 130
    facts = Recognizer.load(tmp_path / "m.loom.interrupted").training_
    if at == 5:  # the training on all data
        assert facts["sentences"] == 20
        assert "cross-fitting" not in done.stderr
    else:
        assert facts["sentences"] == 16
        assert "it learned from 16 of 20 sentences only" in done.stderr
        assert "cross-fitting" in done.stderr
        assert (facts["iterations"] > 2) == (at > 0)


def test_a_format_that_cannot_hold_mentions_says_what_can_be_typed(tmp_path: Path) -> None:
    """Every command takes references; --lossy is not an option of all of them."""
    nested = [Mention("a", ((0, 3),)), Mention("b", ((0, 2),)), Mention("c", ((1, 2),))]
    write([Document([Sentence(["x", "y", "z"], nested)], "1")], tmp_path / "in.jsonl")
    with pytest.raises(CorpusError, match="2 problems") as caught:
        run("convert", tmp_path / "in.jsonl", tmp_path / "out.conll")
    message = str(caught.value)
    assert f"'conll:{tmp_path}/out.conll?layers=3' has a column of tags for each layer" in message
    assert f"'conll:{tmp_path}/out.conll?lossy=outermost'" in message
    assert "--lossy" not in message
    assert run("convert", tmp_path / "in.jsonl", f"conll:{tmp_path}/out.conll?layers=3").exit_code == 0
    (back,) = read(f"conll:{tmp_path}/out.conll?tags=1,2,3")
    assert set(back.mentions) == set(nested)


def test_the_encoding_to_try_is_proposed_with_what_was_typed_only(tmp_path: Path) -> None:
    path = tmp_path / "lat.conll"
    path.write_bytes("Müller\tB-PER\n".encode("latin-1"))
    shown = run("validate", path).stdout
    assert f"'conll:{path}?encoding=cp1252'" in shown
    assert "scheme" not in shown


@pytest.mark.parametrize("name", ["a.conll", "a.conllu"])
def test_a_document_without_id_has_no_empty_one(tmp_path: Path, name: str) -> None:
    write([doc(""), doc("b"), doc("")], tmp_path / name)
    lines = [line for line in (tmp_path / name).read_text().splitlines() if "newdoc" in line]
    assert lines == ["# newdoc", "# newdoc id = b", "# newdoc"]
    back = list(read(tmp_path / name))
    assert [d.id for d in back] == ["", "b", ""]
    assert not any("newdoc" in str(s.meta) for d in back for s in d.sentences)


def test_labels_with_brackets_are_shown_as_they_are_in_an_audit(tmp_path: Path) -> None:
    docs = [Document([Sentence(["Anna", str(k)], [Mention("[/person]", ((0, 1),))])], str(k)) for k in range(8)]
    write([*docs, Document([Sentence(["Anna", "sings"])], "x")], tmp_path / "in.jsonl")
    shown = run("audit", tmp_path / "in.jsonl", "--model", "chain", "--folds", 3, "-n", 1).stdout
    assert "[/person] “Anna”" in shown
    assert "\\[" not in shown


@pytest.mark.parametrize("name", ["a.jsonl", "a.conll"])
def test_an_empty_corpus_is_pointed_out(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert f"{tmp_path / name}: there are no tokens" in run("stats", tmp_path / name).stderr
    shown = run("validate", tmp_path / name).stdout
    assert "warning empty" in shown
    assert "0 documents, 0 errors, 1 warning\n" in shown


def test_the_summary_says_what_multilabel_gives_up_where_nobody_chose_it(tmp_path: Path) -> None:
    broken = Sentence(["T", "and", "B", "cells"], [Mention("cell", ((0, 1), (3, 4))), Mention("cell", ((2, 4),))])
    write([Document([broken], str(k)) for k in range(3)], tmp_path / "in.jsonl")
    for options, told, probable in (
        ([], True, False),
        (["--trainer", "loglinear"], True, True),
        (["--model", "multilabel"], False, False),
        (["--keep", "longest"], False, True),
    ):
        done = run("train", tmp_path / "in.jsonl", *options, "--threads", 1, "-o", tmp_path / "m.loom")
        words = " ".join(done.stdout.split())
        assert ("not learned from partial annotation" in words) == told, options
        assert Recognizer.load(tmp_path / "m.loom").gives_probabilities() == probable, options
        assert ("have no probabilities" in words) == (told and not probable), options


@pytest.mark.parametrize(
    ("gap", "words"), [(4.3, "far from its optimum (up to 430 % above it)"), (999, "too few"), (1e-4, "0.01 %")]
)
def test_how_near_the_optimum_is_is_said_in_plain_numbers(tmp_path: Path, gap: float, words: str) -> None:
    ner = Recognizer("chain", trainer=Auto(max_iter=2), threads=1).fit([doc("a")] * 3)
    ner.save(tmp_path / "m.loom")
    ner.training_["gap"] = gap
    out = Console(file=io.StringIO(), width=200)
    tell(out, ner, tmp_path / "m.loom")
    assert words in out.file.getvalue()  # type: ignore[attr-defined]
