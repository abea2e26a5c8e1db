"""Spark from its Python package: its commands, and a cluster of several processes on loopback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LOCAL = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
QUIET = ["--conf", "spark.ui.enabled=false", "--conf", "spark.driver.bindAddress=127.0.0.1"]


def home() -> Path:
    """Return where Spark is."""
    found = subprocess.run(
        [sys.executable, "-m", "pyspark.find_spark_home"], capture_output=True, text=True, check=True
    )
    return Path(found.stdout.strip())


def submit(master: str, script: Path, *arguments: str, options: tuple[str, ...] = ()) -> str:
    """Run a program by ``spark-submit``; what it printed."""
    command = [str(home() / "bin" / "spark-submit"), "--master", master, *QUIET, *options, str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **LOCAL})
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """Run a standalone master and workers of one core each, as processes of their own; the master's address."""
    parts: list[subprocess.Popen[bytes]] = []

    def start(name: str, *arguments: str) -> Path:
        log = folder / f"{name}.log"
        kind = "master.Master" if name == "master" else "worker.Worker"
        command = [str(home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
        command += ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        with log.open("wb") as out:
            parts.append(subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **LOCAL}))
        return log

    try:
        log = start("master")
        address = _said(log, r"Starting Spark master at (spark://\S+)")[0]
        for k in range(workers):
            place = str(folder / f"worker-{k}")
            start(f"worker-{k}", "--cores", "1", "--memory", "1g", "--work-dir", place, address)
        _said(log, r"Registering worker", workers)
        yield address
    finally:
        for part in reversed(parts):
            part.terminate()
        for part in parts:
            part.wait()


def _said(log: Path, pattern: str, times: int = 1) -> list[str]:
    """Wait until a log has a pattern so often."""
    for _ in range(600):
        found = re.findall(pattern, log.read_text(encoding="utf-8", errors="replace"))
        if len(found) >= times:
            return found
        time.sleep(0.2)
    raise AssertionError(f"{log} never said {pattern!r} {times} times: {log.read_text(errors='replace')[-2000:]}")
