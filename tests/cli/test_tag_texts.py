"""``spanloom tag`` of texts: the short way gives what the long one does, also when something is wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from running import run
from spanloom import Recognizer, read, write
from spanloom.learning import LBFGS


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "m.loom"
    Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=40)).fit(read("sample:train")).save(path)
    return path


@pytest.mark.parametrize("to_file", [True, False])
def test_lines_are_those_of_the_library(model: Path, tmp_path: Path, to_file: bool) -> None:
    lines, packed, text, out = (tmp_path / name for name in ("a.jsonl", "b.jsonl.gz", "c.txt", "out.jsonl"))
    content = '{"id": "1", "text": "The IL-2 gene.\\nÄ p53"}\n{"tokens": ["the", "gene"]}\n'
    lines.write_text(content, encoding="utf-8")
    packed.write_bytes(gzip.compress(content.encode()))
    text.write_text("Anna Bell lives in Paris.\r\nShe knows NF-kappa B.", encoding="utf-8")
    docs = [doc for path in (lines, packed, text) for doc in read(path)]
    write(Recognizer.load(model).stream(docs), tmp_path / "expected.jsonl", chars="yes")
    done = run("tag", model, lines, packed, text, *(["-o", out] if to_file else []))
    assert done.returncode == 0, done.stderr
    expected = (tmp_path / "expected.jsonl").read_text(encoding="utf-8")
    assert (out.read_text(encoding="utf-8") if to_file else done.stdout) == expected
    if to_file:
        mentions = sum(len(json.loads(line)["mentions"]) for line in expected.splitlines())
        assert f"5 documents, {mentions} mentions written to {out}" in done.stderr


@pytest.mark.parametrize("kind", ["texts", "documents"])
def test_mentions_only(model: Path, tmp_path: Path, kind: str) -> None:
    """By the short way and through objects."""
    source = tmp_path / "a.jsonl"
    lines = [json.dumps({"id": str(i), "text": doc.text}) + "\n" for i, doc in enumerate(read("sample:test"))]
    source.write_text("".join(lines), encoding="utf-8")
    given = source if kind == "texts" else "sample:test"
    short, whole = (run("tag", model, given, "--format", form) for form in ("mentions", "jsonl"))
    assert short.returncode == 0, short.stderr
    records = [json.loads(line) for line in whole.stdout.splitlines()]
    assert [json.loads(line) for line in short.stdout.splitlines()] == [
        {"id": r["id"], "mentions": [{k: m[k] for k in ("label", "chars", "text", "prob")} for m in r["mentions"]]}
        for r in records
    ]
    assert any(r["mentions"] for r in records)


def test_what_came_before_a_bad_line_is_kept(model: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "a.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": "The p53 gene"}\n{"text": "b"}\n{"text": 1}\n', encoding="utf-8")
    done = run("tag", model, source, "-o", out)
    assert done.returncode != 0
    assert "a.jsonl:3" in done.stderr
    assert "the 2 documents before it are in" in done.stderr
    assert not out.exists()
    assert (tmp_path / "out.jsonl.partial").read_text(encoding="utf-8").count("\n") == 2


def test_bad_lines_can_be_skipped(model: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "a.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": 1}\n{"text": "b"}\n', encoding="utf-8")
    done = run("tag", model, source, "-o", out, "--on-error", "skip")
    assert done.returncode == 3
    assert out.read_text(encoding="utf-8").count("\n") == 1
    (skipped,) = map(json.loads, (tmp_path / "out.jsonl.skipped.jsonl").read_text(encoding="utf-8").splitlines())
    assert skipped["line"] == 1


def test_a_text_in_quotes_is_tagged_and_a_missing_file_is_not(model: Path, tmp_path: Path) -> None:
    text = "The IL-2 gene is expressed in T cells. Is it?"
    done = run("tag", model, text, "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["text"] == text
    expected = Recognizer.load(model).predict(text)
    assert [(m["label"], m["text"]) for m in record["mentions"]] == [
        (m.label, expected.surface(m)) for m in expected.mentions
    ]
    for missing in ("abstracts.txt", "jsonl:my abstracts", "texts/*.txt"):
        assert run("tag", model, missing).returncode == 2


def test_the_model_that_comes_with_spanloom_is_found_by_its_name() -> None:
    done = run("tag", "genia", "IL-2 gene expression requires NF-kappa B.", "--format", "mentions")
    assert done.returncode == 0, done.stderr
    found = {(m["label"], m["text"]) for m in json.loads(done.stdout)["mentions"]}
    assert ("DNA", "IL-2 gene") in found
    assert any(label == "protein" for label, _ in found)
