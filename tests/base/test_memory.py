"""Work that needs more memory than there is says so before it begins, and never with a traceback."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spanloom import Recognizer, read
from spanloom.base import memory
from spanloom.base.errors import ParameterError
from spanloom.learning import LBFGS

resource = pytest.importorskip("resource")


def test_the_least_of_all_limits_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_of_machine", lambda: 5_000)
    monkeypatch.setattr(memory, "_of_limit", lambda: None)
    monkeypatch.setattr(memory, "_of_group", lambda: 3_000)
    assert memory.free_memory() == 3_000
    memory.check_memory(2_900, "x", "y")
    with pytest.raises(ParameterError, match="x takes about 0 MB of memory, and 0 MB are free; y"):
        memory.check_memory(2_990, "x", "y")


def test_a_container_counts_what_it_can_take_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    for name, text in {"max": "1000", "current": "900", "stat": "anon 500\ninactive_file 300\n"}.items():
        (tmp_path / f"memory.{name}").write_text(text)
    assert memory._of_group() == 400
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._of_group() is None


def test_training_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    ner = Recognizer("chain", keep="longest", decide="best", trainer=LBFGS(max_iter=1), threads=1)
    with pytest.raises(
        ParameterError, match=r"training of [\d,]+ weights takes about \d+ MB of memory, and 1 MB are free"
    ):
        ner.fit(read("sample:train"))


def test_a_large_training_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("spanloom.learning.lbfgs._TOLD", 1)
    with caplog.at_level(logging.INFO, "spanloom.learning"):
        Recognizer("chain", keep="longest", decide="best", trainer=LBFGS(max_iter=1)).fit(read("sample:dev"))
    assert "of memory beside the features" in caplog.text


def train_within(megabytes: int, output: Path) -> subprocess.CompletedProcess[str]:
    """Train on the sample under a limit of virtual memory."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20,) * 2)

    words = ("train", "sample:train", "-o", str(output), "--model", "state", "--keep", "longest", "--penalty", "0")
    code = "from spanloom.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *words, "--set", "max_iter=2", "--threads", "1"],
        preexec_fn=limit, capture_output=True, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of virtual memory are not kept elsewhere")
def test_limits_of_memory_end_in_a_sentence(tmp_path: Path) -> None:
    """From where Python starts to where training works, by steps of ten megabytes: done, or one line that says why."""
    refused = 0
    for megabytes in range(150, 400, 10):
        done = train_within(megabytes, tmp_path / "m.loom")
        started = (
            "OpenBLAS" not in done.stderr and "ImportError" not in done.stderr and "MemoryError" not in done.stderr
        )
        if started:
            assert "Traceback" not in done.stderr, (megabytes, done.stderr[-2000:])
            assert done.returncode in (0, 2), (megabytes, done.returncode, done.stderr[-2000:])
            refused += done.returncode == 2 and "memory" in done.stderr
        if done.returncode == 0:
            break
    assert refused
    assert done.returncode == 0
    Recognizer.load(tmp_path / "m.loom")
