"""Nothing that was acknowledged is lost: the server of the workbench is killed in the middle of annotation actions.

    python benchmarks/workbench_crash.py [--rounds 50] [--actions 1000] [--write]

A client makes actions over HTTP. After a random number of answers the server gets ``kill -9``, is started again, and
everything that it had acknowledged is looked for. ``--write`` puts the counts into
``benchmarks/results/workbench_crash.md``.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "workbench_crash.md"


def start(project: Path) -> tuple[subprocess.Popen[str], int]:
    """Start a server and return it with its port."""
    command = [sys.executable, "-m", "spanloom", "workbench", str(project), "--no-open", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert server.stdout is not None
    line = server.stdout.readline()
    return server, int(line.partition("127.0.0.1:")[2].partition("/")[0])


def ask(port: int, method: str, path: str, body: Any = None) -> Any:
    """Make one request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        return json.loads(answer.read())
    finally:
        connection.close()


def one_round(project: Path, most: int, die_after: int) -> tuple[int, int]:
    """Make actions until the server dies; return how many were acknowledged, and how many of these are lost."""
    server, port = start(project)
    for _ in range(200):
        try:
            version = ask(port, "GET", "/api/documents/1?annotator=ann")["sheet"]["version"]
            break
        except OSError:
            time.sleep(0.05)
    acknowledged: list[str] = []
    stop = threading.Event()

    def client() -> None:
        nonlocal version
        try:
            for _ in range(most):
                label = f"L{version}"
                change = {"add": [{"label": label, "parts": [[0, 1]]}]}
                body = {"annotator": "ann", "page": "p", "version": version, "kind": "add", "change": change}
                version = ask(port, "POST", "/api/documents/1/actions", body)["sheet"]["version"]
                acknowledged.append(label)
                if len(acknowledged) >= die_after:
                    stop.set()
        except (OSError, http.client.HTTPException, ValueError):
            pass
        stop.set()

    worker = threading.Thread(target=client)
    worker.start()
    stop.wait()
    time.sleep(random.random() * 0.01)  # within the next action
    server.send_signal(signal.SIGKILL)
    server.wait()
    worker.join()
    again, port = start(project)
    for _ in range(200):
        try:
            there = {m["label"] for m in ask(port, "GET", "/api/documents/1?annotator=ann")["sheet"]["mentions"]}
            break
        except OSError:
            time.sleep(0.05)
    again.send_signal(signal.SIGKILL)
    again.wait()
    return len(acknowledged), sum(label not in there for label in acknowledged)


def main() -> None:
    """Run all rounds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--actions", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    from spanloom import Document, Sentence
    from spanloom.workbench.project import Project

    random.seed(1)
    total = lost = 0
    for number in range(given.rounds):
        with tempfile.TemporaryDirectory() as folder:
            project = Project(folder)
            project.add([Document([Sentence(["a", "b"])])])
            project.close()
            done, gone = one_round(Path(folder), given.actions, random.randint(1, given.actions))
        total += done
        lost += gone
        print(f"round {number + 1}: {done} acknowledged, {gone} lost", flush=True)
        if given.write:  # after every round, so that an interrupted run leaves what it has seen
            RESULTS.write_text(table(number + 1, given.actions, total, lost), encoding="utf-8")


def table(rounds: int, actions: int, total: int, lost: int) -> str:
    """Return the result of so many rounds."""
    return (
        "# `kill -9` of the workbench\n\n"
        f"`python benchmarks/workbench_crash.py --rounds {rounds} --actions {actions} --write`\n\n"
        f"The server was killed {rounds} times, each time at a random place within {actions:,} actions.\n\n"
        f"| acknowledged actions | lost |\n|---:|---:|\n| {total:,} | {lost} |\n"
    )


if __name__ == "__main__":
    main()
