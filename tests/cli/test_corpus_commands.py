"""convert, validate, stats, split and sample, as a user calls them."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from spanloom import CorpusError, Document, Mention, Sentence, read, write
from spanloom.base.errors import ParameterError
from spanloom.cli.app import app

INNER, OUTER = Mention("DNA", ((0, 2),)), Mention("other", ((0, 3),))


def doc(id: str, sentences: int = 1, mentions: list[Mention] | None = None) -> Document:
    words = ["XY", "gene", "expression", f"in-{id}"]
    return Document([Sentence([*words, str(k)], list(mentions or [])) for k in range(sentences)], id)


@pytest.fixture
def nested(tmp_path: Path) -> str:
    path = str(tmp_path / "nested.jsonl")
    write([doc("a", 2, [INNER, OUTER]), doc("b"), doc("c", 1, [Mention("DNA", ((0, 1), (2, 3)))])], path)
    return path


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_convert_refuses_to_lose_and_says_the_way_out(nested: str, tmp_path: Path) -> None:
    target = tmp_path / "out.conll"
    with pytest.raises(CorpusError, match=r"3 problems .*lossy=outermost"):
        run("convert", nested, str(target))
    assert not target.exists()


def test_convert_lossy_reports_the_loss(nested: str, tmp_path: Path) -> None:
    target = str(tmp_path / "out.conll")
    result = run("convert", nested, target, "--lossy", "outermost", "--json")
    found = json.loads(result.stdout)
    assert found["documents"] == 3
    assert found["counts"] == {"lost": 3}
    assert {m.label for d in read(target) for m in d.mentions} == {"other"}
    assert "3 documents, 2 mentions written to" in run("convert", nested, target, "--lossy", "outermost").stderr


def test_convert_without_loss_and_back(nested: str, tmp_path: Path) -> None:
    run("convert", nested, f"brat:{tmp_path}/brat")
    run("convert", f"brat:{tmp_path}/brat?tokens=space&sentences=lines", str(tmp_path / "back.jsonl"))
    assert [sorted(d.mentions) for d in read(tmp_path / "back.jsonl")] == [sorted(d.mentions) for d in read(nested)]


def test_stats_json(nested: str) -> None:
    found = json.loads(run("stats", nested, "--json").stdout)
    assert (found["documents"], found["sentences"], found["tokens"], found["mentions"]) == (3, 4, 20, 5)
    assert found["by_label"] == {"DNA": 3, "other": 2}
    assert found["kinds"]["nested"] == {"count": 4, "share": 0.8}
    assert found["kinds"]["discontinuous"]["count"] == 1
    assert found["depth"] == {"1": 3, "2": 2}
    assert found["patterns"] == {"( other ( DNA t ) t )": 2}
    assert found["muis_lu"]["with overlap"] == {"count": 2, "share": 0.5}
    # A flat chain keeps the longer of each nested pair, and no discontinuous mention: 2 of 5.
    assert found["ceilings"]["chain"] == pytest.approx(0.4)


def test_stats_table_and_picture(nested: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "stats.png"
    result = run("stats", nested, nested, "--plot", str(picture), "--no-ceilings")
    assert "( other ( DNA t ) t )" in result.stdout
    assert "same type nested" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ParameterError, match="must end in"):
        run("stats", nested, "--plot", str(tmp_path / "a.txt"))


def test_validate_good_and_bad(nested: str, tmp_path: Path) -> None:
    good = run("validate", nested)
    assert good.exit_code == 0
    assert "3 documents, 0 errors, 0 warnings" in good.stdout
    bad = tmp_path / "bad.jsonl"
    twice = {"label": "x", "parts": [[0, 1]]}
    records = [{"id": "d", "tokens": ["a", "b"], "mentions": [twice, twice]}, {"id": "d", "tokens": ["c"]}]
    bad.write_text("".join(json.dumps(r) + "\n" for r in records) + "{\n")
    result = run("validate", str(bad), "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["counts"] == {"duplicate": 1, "document-twice": 1, "json": 1}
    assert found["problems"][-1]["where"].endswith("bad.jsonl:3")


@pytest.mark.parametrize(
    ("tags", "errors"),
    [("B-a I-a O B-b", 0), ("I-a B-a O I-b", 0), ("I-a E-a O E-b", 0), ("B-a O I-a B-b", 1), ("S-a B-a O O", 1)],
)
def test_validate_checks_tags_against_the_scheme_that_fits_best(tmp_path: Path, tags: str, errors: int) -> None:
    path = tmp_path / "a.conll"
    path.write_text("".join(f"w\t{tag}\n" for tag in tags.split()))
    result = run("validate", str(path), "--json")
    assert json.loads(result.stdout)["errors"] == errors
    assert result.exit_code == (errors > 0)


def test_validate_says_which_files_have_most_of_what_it_does_not_show(tmp_path: Path) -> None:
    for name, times in (("a", 4), ("b", 2)):
        (tmp_path / f"{name}.txt").write_text(f"Hello {name}.\n")
        (tmp_path / f"{name}.ann").write_text("".join(f"T{k}\tX 0 3\tHel\n" for k in range(1, times + 1)))
    result = run("validate", f"brat:{tmp_path}", "--show", 1)
    assert f"… and 5 more of misaligned; in 2 files, most in {tmp_path}/a.ann 4, {tmp_path}/b.ann 2" in result.output


def test_split_is_complete_disjoint_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    source = str(tmp_path / "all.jsonl")
    write([doc(f"d{k}") for k in range(20)], source)
    run("split", source, "-o", str(tmp_path / "one"), "--seed", "3")
    run("split", source, "-o", str(tmp_path / "two"), "--seed", "3")
    ids = {name: [d.id for d in read(tmp_path / "one" / f"{name}.jsonl")] for name in ("train", "dev", "test")}
    assert {name: len(part) for name, part in ids.items()} == {"train": 16, "dev": 2, "test": 2}
    assert sorted(i for part in ids.values() for i in part) == sorted(f"d{k}" for k in range(20))
    assert ids["train"] != [f"d{k}" for k in range(16)]
    for name in ids:
        assert (tmp_path / "one" / f"{name}.jsonl").read_bytes() == (tmp_path / "two" / f"{name}.jsonl").read_bytes()


def test_split_by_sentence_in_order(tmp_path: Path) -> None:
    source = str(tmp_path / "all.jsonl")
    write([doc("a", 3), doc("b", 3)], source)
    run("split", source, "-o", str(tmp_path), "--parts", "4/2", "--by", "sentence", "--no-shuffle")
    assert [(d.id, len(d.sentences)) for d in read(tmp_path / "train.jsonl")] == [("a", 3), ("b", 1)]
    assert [(d.id, [s.tokens[-1] for s in d.sentences]) for d in read(tmp_path / "test.jsonl")] == [("b", ["1", "2"])]


def test_split_refuses_what_makes_no_sense(tmp_path: Path) -> None:
    source = str(tmp_path / "all.jsonl")
    write([doc("a")], source)
    with pytest.raises(ParameterError, match="80/10/10"):
        run("split", source, "-o", str(tmp_path), "--parts", "x")
    with pytest.raises(CorpusError, match="1 document cannot be divided into 3 parts; divide it by sentence"):
        run("split", source, "-o", str(tmp_path))


def test_sample_to_standard_output(tmp_path: Path) -> None:
    source = str(tmp_path / "all.jsonl")
    write([doc(f"d{k}", 2) for k in range(10)], source)
    lines = run("sample", source, "-n", "4", "--seed", "1").stdout.splitlines()
    ids = [json.loads(line)["id"] for line in lines]
    assert len(ids) == 4
    assert ids == sorted(ids)
    run("sample", source, "-n", "5", "--by", "sentence", "-o", str(tmp_path / "s.jsonl"))
    assert sum(len(d.sentences) for d in read(tmp_path / "s.jsonl")) == 5


def test_split_and_sample_report_what_they_lose(nested: str, tmp_path: Path) -> None:
    """Two of the three documents have a mention that one layer cannot hold; none is lost without a word."""
    with pytest.raises(CorpusError, match="lossy=outermost"):
        run("sample", nested, "-o", str(tmp_path / "s.conll"))
    done = run("sample", nested, "-o", str(tmp_path / "s.conll"), "--lossy", "outermost")
    assert done.stderr.count("lost: ") == 3
    options = ("--parts", "1/1", "--no-shuffle", "--format", "conll", "--lossy", "contiguous,innermost")
    done = run("split", nested, "-o", str(tmp_path / "parts"), *options)
    assert (done.stderr.count("lost: "), done.stderr.count("filled: ")) == (2, 1)


def test_split_names_an_unknown_format(nested: str, tmp_path: Path) -> None:
    done = run("split", nested, "-o", str(tmp_path / "parts"), "--format", "foo")
    assert done.exit_code == 2
    assert "'foo' is none of jsonl" in done.stderr
    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("genia:x?split", "must be written option=value"),
        ("genia:x?split=dev&split=test", "each once"),
        ("genia:x?splt=dev", "'genia' has no option 'splt'; it has classes, coordination, split, by, tokens"),
        ("genia:x?split=all", r"option split='all' must be one of train, dev, test"),
        ("conll:-", "name it: conll:-\\?scheme=IOB2"),
    ],
)
def test_bad_references(ref: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        run("validate", ref)
