"""``spanloom tag … -o out/`` under what happens to long jobs: the outputs are those of an undisturbed run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import outputs, records
from .test_batches import here, run

TAG = [sys.executable, "-m", "spanloom", "tag"]
BATCH = ["--shard-size", "8K", "--jobs", "2"]


def tag(
    loom: Path, inputs: Path, out: Path, *more: str, limit: Callable[[], None] | None = None
) -> subprocess.Popen[str]:
    pattern = f"{inputs}/**/*.jsonl*"
    return subprocess.Popen(
        [*TAG, str(loom), pattern, "-o", f"{out}/", *BATCH, *more], stderr=subprocess.PIPE, text=True, preexec_fn=limit
    )


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on(loom: Path, inputs: Path, tmp_path: Path) -> None:
    """Driver and workers: the workers of a killed driver end by themselves."""
    (inputs / "big.jsonl").write_text("".join(records(40)), encoding="utf-8")
    out = tmp_path / "out"
    process = tag(loom, inputs, out)
    for _ in range(2000):
        if list(out.glob("_spanloom/manifests/*.json")) or process.poll() is not None:
            break
        time.sleep(0.02)
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
    process.kill()
    _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert "resource_tracker" not in said
    workers = [int(pid) for pid in children.stdout.split()]
    for _ in range(600):
        if not any(_runs(pid) for pid in workers):
            break
        time.sleep(0.05)
    assert not any(_runs(pid) for pid in workers)
    done = tag(loom, inputs, out, "--resume")
    _, said = done.communicate()
    assert done.returncode == 0, said
    report = json.loads((out / "_spanloom" / "report.json").read_text())
    assert report["kept"] > 0
    assert report["tagged"] > 0
    run(loom, inputs, tmp_path / "undisturbed", engine=here)
    assert outputs(out) == outputs(tmp_path / "undisturbed")
    names = ("a.jsonl", "big.jsonl", "sub/a.jsonl")
    lines = sum(len((inputs / name).read_text(encoding="utf-8").splitlines()) for name in names)
    assert report["documents"] == lines + len(records()[40:])


def _runs(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return False


@pytest.mark.slow
def test_a_full_disk_leaves_what_is_done(loom: Path, inputs: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: writing fails in the midst of a file."""
    out = tmp_path / "out"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 10, 20 << 10))

    failed = tag(loom, inputs, out, limit=limit)
    _, said = failed.communicate()
    assert failed.returncode not in (0, None)
    assert "File too large" in said
    run(loom, inputs, tmp_path / "undisturbed", engine=here)
    expected = outputs(tmp_path / "undisturbed")
    left = outputs(out)
    assert all(left[name] == expected[name] for name in left)
    assert len(left) < len(expected)
    done = tag(loom, inputs, out, "--resume")
    done.communicate()
    assert outputs(out) == expected


@pytest.mark.slow
def test_a_run_that_is_interrupted_says_how_it_goes_on(loom: Path, inputs: Path, tmp_path: Path) -> None:
    (inputs / "big.jsonl").write_text("".join(records(400)), encoding="utf-8")
    out = tmp_path / "out"
    process = tag(loom, inputs, out)
    while not list(out.glob("_spanloom/manifests/*.json")) and process.poll() is None:
        time.sleep(0.02)
    process.terminate()
    _, said = process.communicate()
    assert process.returncode == 143
    assert re.fullmatch(rf"interrupted; [\d,]+ of [\d,]+ shards done, kept in {out}; go on with --resume\n", said)
    assert not list(out.rglob(".*.part"))


@pytest.mark.slow
def test_the_command_says_what_it_did(loom: Path, inputs: Path, tmp_path: Path) -> None:
    (inputs / "a.jsonl").write_text('{"text": "The IL-2 gene."}\n{"text": 7}\n', encoding="utf-8")
    out = tmp_path / "out"
    stopped = tag(loom, inputs, out)
    _, said = stopped.communicate()
    assert stopped.returncode == 2
    assert "a.jsonl:2: " in said
    told = re.search(
        rf"(\d+) of \d+ shards done, kept in {out}; --resume --on-error skip leaves out", " ".join(said.split())
    )
    assert told is not None
    skipped = tag(loom, inputs, out, "--resume", "--on-error", "skip")
    _, said = skipped.communicate()
    assert skipped.returncode == 3, said
    (row,) = map(json.loads, Path(f"{out}.skipped.jsonl").read_text(encoding="utf-8").splitlines())
    assert (row["file"], row["line"]) == (f"{inputs}/a.jsonl", 2)
    report = json.loads((out / "_spanloom" / "report.json").read_text())
    assert report["kept"] == int(told[1])
    assert f"{report['documents']:,} documents, {report['words']:,} words, " in said
    assert "mentions: " in said
    assert "slowest shards: " in said
    again = tag(loom, inputs, out)
    _, said = again.communicate()
    assert again.returncode == 2
    assert "; --resume does what is missing" in " ".join(said.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.jsonl", "--jobs", "2"], "add -o FOLDER/"),
        (["-o", "out/"], "a batch reads files"),
        (["a.jsonl", "-o", "out.jsonl.gz", "--jobs", "2"], "out.jsonl.gz is the name of a file; write -o out/"),
        (["a.jsonl", "-o", "out/", "--above", "0.2", "--no-probabilities"], "--above goes by probabilities"),
        (["a.jsonl", "-o", "out/", "--format", "brat"], "a batch writes jsonl, mentions, parquet"),
        (["a.jsonl", "-o", "out/", "--shard-size", "x"], "is no size such as"),
        (["a.jsonl", "-o", "out/", "--scheduler", "tcp://x"], "add --engine dask"),
        (["a.jsonl", "-o", "out/", "--engine", "ray"], "none of local, dask"),
        (["a.jsonl", "-o", "out/", "--penalty", "much"], "neither a number nor JSON"),
    ],
)
def test_what_cannot_be_done_is_said_before_any_work(loom: Path, arguments: list[str], message: str) -> None:
    from cli.test_tag_texts import run as command

    done = command("tag", loom, *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not os.path.exists("out")
