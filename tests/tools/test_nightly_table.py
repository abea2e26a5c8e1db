"""The table of the last results of ``.ci/nightly``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import nightly_table  # noqa: E402


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("....\n===== 1638 passed in 351.17s (0:05:51) =====\n", "1638 passed in 351.17s (0:05:51)"),
        ("1 failed, 3 passed in 2.00s\n", "1 failed, 3 passed in 2.00s"),
        ("2 passed in 1.00s\nno leak of the native core\n", "no leak of the native core"),
        ("3.10.13: 12 models, mentions as expected\n", "3.10.13: 12 models, mentions as expected"),
        ("abc  dist.whl\nboth builds have the same bytes\n", "both builds have the same bytes"),
        ("schemes: 40 tried, 2 alive\n", "schemes: 40 tried, 2 alive"),
        ("41 targets, 12000 executions\n", "41 targets, 12000 executions"),
        ("compiling\n", ""),
        ("x" * 130 + " same bytes\n", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_the_last_telling_line_of_a_log_is_kept(log: str, words: str) -> None:
    assert nightly_table.said(log) == words


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(nightly_table, "RESULTS", tmp_path)
    monkeypatch.setattr(nightly_table, "commit", lambda: "abc1234")
    return tmp_path


def step(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str, log: str = "") -> dict[str, Any]:
    (folder / "log").write_text(log, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["nightly_table.py", *words, str(folder / "log")])
    nightly_table.main()
    steps: dict[str, Any] = json.loads((folder / "nightly.json").read_text(encoding="utf-8"))
    return steps


def test_a_step_that_runs_again_replaces_its_row_and_no_other(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step(monkeypatch, results, "leak", "LeakSanitizer", "failed", "61")
    step(monkeypatch, results, "debug", "a build", "ok", "300", log="12 models | mentions as expected\n")
    steps = step(monkeypatch, results, "leak", "LeakSanitizer", "ok", "149", log="no leak of the native core\n")
    assert {name: (row["result"], row["minutes"], row["commit"]) for name, row in steps.items()} == {
        "leak": ("ok", 2, "abc1234"),
        "debug": ("ok", 5, "abc1234"),
    }
    table = (results / "nightly.md").read_text(encoding="utf-8")
    assert "| leak | LeakSanitizer | ok | 2 | no leak of the native core | abc1234 |" in table
    assert "| 12 models \\| mentions as expected |" in table
    assert table.count("| leak |") == 1


def test_a_log_that_is_not_text_is_no_obstacle(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (results / "log").write_bytes(b"\xff\xfe\n3 passed in 1.00s\n")
    monkeypatch.setattr(sys, "argv", ["nightly_table.py", "a", "b", "ok", "1", str(results / "log")])
    nightly_table.main()
    assert "| 3 passed in 1.00s |" in (results / "nightly.md").read_text(encoding="utf-8")


def test_every_step_of_the_script_is_named_in_its_usage() -> None:
    script = (ROOT / ".ci" / "nightly").read_text(encoding="utf-8")
    named = next(line for line in script.splitlines() if "only some steps:" in line).partition("steps: ")[2].split()
    assert named == [line.split()[1] for line in script.splitlines() if line.startswith("step ")]


def test_a_step_that_nobody_named_does_not_run() -> None:
    """With a name that no step has, nothing runs and no row is written."""
    table = ROOT / "benchmarks" / "results" / "nightly.json"
    before = table.read_bytes()
    done = subprocess.run([str(ROOT / ".ci" / "nightly"), "none"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, table.read_bytes()) == (0, "", before)
