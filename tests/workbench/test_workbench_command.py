"""``spanloom workbench`` as a process: it adds corpora, says where its page is, and ends cleanly."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from extras import needs

needs("starlette", "uvicorn")
pytestmark = pytest.mark.extras


def test_from_start_to_end(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "spanloom", "workbench", str(tmp_path / "p"), "sample:dev", "--mentions", "none"]
    command += ["--labels", "drug, dose", "--no-open", "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=environment)
    assert server.stdout is not None
    try:
        assert server.stdout.readline() == "sample:dev: 15 documents added\n"
        address = re.match(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
        assert address
        with urllib.request.urlopen(f"{address[0]}api/project", timeout=60) as answer:
            about = json.load(answer)
        assert (about["name"], about["documents"]) == ("p", 15)
        assert [one["name"] for one in about["labels"]] == ["drug", "dose"]
        server.send_signal(signal.SIGTERM)
        assert server.stdout.read() == ""
        assert server.wait(60) == 143
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


@pytest.mark.parametrize(
    ("project", "message"), [("a.txt", "is a file, a project is a folder"), ("new", "bad.jsonl:1")]
)
def test_what_cannot_begin_leaves_nothing_behind(tmp_path: Path, project: str, message: str) -> None:
    (tmp_path / "a.txt").write_text("a text")
    (tmp_path / "bad.jsonl").write_text("{")
    command = [sys.executable, "-m", "spanloom", "workbench", project, "sample:dev", "bad.jsonl", "--no-open"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "bad.jsonl"]
