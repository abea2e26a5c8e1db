"""Ctrl-C and SIGTERM while documents are written: what was done is kept, and one line says where."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import spanloom.cli.counting
from spanloom import Recognizer, read
from spanloom.cli.app import app
from spanloom.cli.interrupting import unbroken
from spanloom.learning import Auto

ADVICE = "; tagging into a folder (-o FOLDER/) can be resumed (--resume)"
MAIN = """
import signal
import spanloom.cli.counting
from spanloom.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored where tests run in the background
spanloom.cli.counting.EVERY_SECONDS = 0.0
main()
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.loom"
    news = read("sample:train?domain=news")
    Recognizer("chain", trainer=Auto(max_iter=5), keep="longest", threads=1).fit(news).save(path)
    return path


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_was_done(model: Path, tmp_path: Path, number: int, code: int) -> None:
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-c", MAIN, "tag", str(model), "-", "-o", str(out)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(b"Anna sings.\n")
    process.stdin.flush()
    assert process.stderr.readline().startswith(b"1 document")  # it is written, and the next one is waited for
    os.kill(process.pid, number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == code
    assert error.decode().splitlines() == [f"interrupted; the document done before is in {out}.partial"]
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl.partial"]
    assert [doc.text for doc in read(f"jsonl:{out}.partial")] == ["Anna sings."]


@pytest.mark.parametrize("more", [[], ["--k", "2"], ["--format", "parquet"], ["--on-error", "skip"]])
def test_every_way_of_tagging_keeps_what_was_done(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    """And says how it could be resumed; the list of what was skipped stays beside it."""
    if "parquet" in more:
        pytest.importorskip("pyarrow")
    records = [{"id": str(k), "text": "Anna sings."} for k in range(200)]
    lines = [json.dumps(record) + "\n" for record in records]
    (tmp_path / "in.jsonl").write_text("".join(["{\n"] * ("skip" in more) + lines))
    monkeypatch.setattr("spanloom.tagging.BATCH_TEXTS", 50)
    usual = spanloom.cli.counting.watched

    def interrupted(items: Any, **options: Any) -> Iterator[Any]:
        for k, item in enumerate(usual(items, **options)):
            if k == 3:
                os.kill(os.getpid(), signal.SIGTERM)
            yield item

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("spanloom.cli.tag.watched", interrupted)
    before = signal.signal(signal.SIGTERM, stop)
    try:
        out = tmp_path / "out.x"
        target = str(out) if "parquet" in more else f"jsonl:{out}"
        done = CliRunner().invoke(app, ["tag", str(model), str(tmp_path / "in.jsonl"), "-o", target, *more])
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.exit_code == 130
    if "parquet" in more:
        kept = [doc.id for doc in read(f"parquet:{out}.partial")]
    else:
        kept = [json.loads(line)["id"] for line in Path(f"{out}.partial").read_text().splitlines()]
    assert kept == [record["id"] for record in records[: len(kept)]]
    said = f"interrupted; the {len(kept)} documents done before are in {out}.partial{ADVICE}"
    assert said in done.stderr
    assert not out.exists()
    assert (tmp_path / "out.x.skipped.jsonl").exists() == ("skip" in more)


def test_a_long_document_is_kept_whole(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line is written in pieces; a signal that comes between two of them waits for the others."""
    long = {"id": "long", "text": "Anna sings. " * 60_000}
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (long, {"id": "b", "text": "Bert."})))
    usual, pieces = spanloom.cli.counting.watched, []

    def interrupted(items: Any, **options: Any) -> Iterator[Any]:
        for item in usual(items, **options):
            pieces.append(item)
            if len(pieces) == 2:
                os.kill(os.getpid(), signal.SIGTERM)
            yield item

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("spanloom.tagging.BATCH_TEXTS", 1)
    monkeypatch.setattr("spanloom.cli.tag.watched", interrupted)
    before = signal.signal(signal.SIGTERM, stop)
    try:
        done = CliRunner().invoke(app, ["tag", str(model), str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "o.jsonl")])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.exit_code == 130
    assert len(pieces) > 2  # the signal was not the end of it
    (line,) = (tmp_path / "o.jsonl.partial").read_text().splitlines()
    assert json.loads(line)["text"] == long["text"]
    assert "the document done before is in" in done.stderr


def test_a_signal_waits_until_a_document_is_written(tmp_path: Path) -> None:
    """A second one does not."""
    for signals, expected in ((1, ["begun", "done"]), (2, ["begun"])):
        told: list[str] = []

        def write_one(signals: int = signals, told: list[str] = told) -> None:
            told.append("begun")
            for _ in range(signals):
                os.kill(os.getpid(), signal.SIGINT)
            told.append("done")

        usual = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt), unbroken(range(3), str(tmp_path / "out")) as items:
                deque((write_one() for _ in items), 0)
        finally:
            signal.signal(signal.SIGINT, usual)
        assert told == expected
