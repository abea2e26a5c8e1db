"""The commands with ``--scheduler ADDRESS``: the results of one process, from a cluster that runs elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extras import needs

from .conftest import outputs

needs("dask", "distributed")

import distributed  # noqa: E402

pytestmark = [pytest.mark.extras, pytest.mark.slow, pytest.mark.filterwarnings("default")]
SMALL = ["--set", "keep=longest", "--set", "max_iter=4"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def spanloom(*arguments: str) -> str:
    command = [sys.executable, "-m", "spanloom", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("where", ["--scheduler", "--jobs"])
def test_a_batch_is_that_of_one_process(address: str, loom: Path, inputs: Path, tmp_path: Path, where: str) -> None:
    """On a scheduler that runs, and on one that the command starts."""
    given = ["tag", str(loom), f"{inputs}/**/*.jsonl*", "--shard-size", "8K", "-o"]
    spanloom(*given, f"{tmp_path}/there/", "--engine", "dask", where, address if where == "--scheduler" else "2")
    spanloom(*given, f"{tmp_path}/here/", "--jobs", "1")
    assert outputs(tmp_path / "there") == outputs(tmp_path / "here")
    again = json.loads((tmp_path / "there" / "_spanloom" / "report.json").read_text())
    assert again["documents"] > 0
    assert all(shard["seconds"] for shard in again["shards"])


def without_seconds(value: Any) -> Any:
    """What a command says of its trainings, but for how long they took."""
    if isinstance(value, dict):
        return {name: without_seconds(one) for name, one in value.items() if name not in ("seconds", "throughput")}
    return [without_seconds(one) for one in value] if isinstance(value, list) else value


def scores(*arguments: str) -> Any:
    return without_seconds(json.loads(spanloom(*arguments, "--json")))


@pytest.mark.parametrize("command", [["tune", "--grid", "l2=0.1,1"], ["crossval"]])
def test_tune_and_crossval_give_the_scores_of_one_process(address: str, command: list[str]) -> None:
    given = [command[0], "sample:dev", "--folds", "2", *command[1:], "--set", "model=chain", *SMALL]
    there = scores(*given, "--scheduler", address)
    assert there == scores(*given, "--jobs", "1")
    assert len(there.get("trials", there.get("folds"))) == 2


def test_train_gives_the_model_of_one_process(address: str, tmp_path: Path) -> None:
    """The two workers' against one process with the same blocks of sentences; the penalty is chosen on the way."""
    from spanloom import Recognizer, read
    from spanloom.decisions import Best
    from spanloom.learning import LBFGS
    from spanloom.scale import out_of_core

    spanloom("train", "sample:dev", "-o", f"{tmp_path}/there.loom", "--model", "chain", *SMALL, "--scheduler", address)
    wanted = {"keep": "longest", "trainer": LBFGS(max_iter=4), "decide": Best(penalty="auto"), "threads": 1}
    here = Recognizer("chain", **wanted)
    here.fit(read("sample:dev"), learner=out_of_core())
    there = Recognizer.load(tmp_path / "there.loom")
    text = "The IL-2 gene is expressed in T cells."
    assert there.predict(text) == here.predict(text)
    assert there.training_["objective"] == here.training_["objective"]
    alone = Recognizer("chain", **wanted).fit(read("sample:dev"))
    assert there.training_["objective"] != alone.training_["objective"]  # rounding tells that blocks were used


def test_an_address_without_a_scheduler_is_said(loom: Path, inputs: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spanloom", "tag", str(loom), f"{inputs}/a.jsonl", "-o", f"{tmp_path}/out/"]
    command += ["--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "there is no Dask scheduler at tcp://127.0.0.1:9" in " ".join(done.stderr.split())
