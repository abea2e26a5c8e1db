"""Nothing that was acknowledged is lost: the server of the workbench is killed in the middle of annotation actions.

    python benchmarks/workbench_crash.py [--rounds 50] [--actions 1000] [--write]

A client adds, deletes, undoes and redoes over HTTP, and keeps its own account. After a random number of answers the
server gets ``kill -9`` and is started again; what it has then is compared with that account. ``--write`` puts
the counts into ``benchmarks/results/workbench_crash.md``.
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

import tables

RESULTS = tables.RESULTS / "workbench_crash.md"


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


class Annotator:
    """Adds, deletes, undoes and redoes at random, and keeps an account of what must be there.

    Attributes
    ----------
    states
        What the sheet was after each change that is not undone; the last one is what the server has acknowledged.
    asked
        What it will be if the action that has no answer yet was stored.
    """

    def __init__(self, port: int, version: int) -> None:
        self.port, self.version, self.answers = port, version, 0
        self.states: list[frozenset[str]] = [frozenset()]
        self.undone: list[frozenset[str]] = []
        self.asked = self.states[0]

    def act(self) -> None:
        """Ask for one action; raises if the server dies before it answers."""
        now, kind = self.states[-1], random.random()
        path, change = "actions", {}
        if kind < 0.15 and len(self.states) > 1:
            path, self.asked = "undo", self.states[-2]
        elif kind < 0.25 and self.undone:
            path, self.asked = "redo", self.undone[-1]
        elif kind < 0.4 and now:
            gone = min(now)
            change, self.asked = {"remove": [mention(gone)]}, now - {gone}
        else:
            label = f"L{self.version}"
            change, self.asked = {"add": [mention(label)]}, now | {label}
        body: dict[str, Any] = {"annotator": "ann", "page": "p", "version": self.version, "brief": True}
        if path == "actions":
            body |= {"kind": "delete" if "remove" in change else "add", "change": change}
        self.version = ask(self.port, "POST", f"/api/documents/1/{path}", body)["news"]["version"]
        self.answers += 1
        if path == "undo":
            self.undone.append(self.states.pop())
        else:
            self.states.append(self.asked)
            self.undone = self.undone[:-1] if path == "redo" else []


def mention(label: str) -> dict[str, Any]:
    """Return a mention of that label."""
    return {"label": label, "parts": [[0, 1]]}


def one_round(project: Path, most: int, die_after: int) -> tuple[int, bool]:
    """Make actions until the server dies; return how many were acknowledged, and whether all of them are there."""
    server, port = start(project)
    annotator = Annotator(port, sheet(port)["version"])
    stop = threading.Event()

    def work() -> None:
        try:
            for _ in range(most):
                annotator.act()
                if annotator.answers >= die_after:
                    stop.set()
        except (OSError, http.client.HTTPException, ValueError):
            pass
        stop.set()

    worker = threading.Thread(target=work)
    worker.start()
    stop.wait()
    time.sleep(random.random() * 0.01)  # within the next action
    server.send_signal(signal.SIGKILL)
    server.wait()
    worker.join()
    again, port = start(project)
    found = sheet(port)
    again.send_signal(signal.SIGKILL)
    again.wait()
    there = {m["label"] for m in found["mentions"]}
    # The action without an answer may be stored or not; everything before it must be.
    wanted = {annotator.version: annotator.states[-1], annotator.version + 1: annotator.asked}
    return annotator.answers, wanted.get(found["version"]) == there


def sheet(port: int) -> Any:
    """Return what the server has, as soon as it answers."""
    for _ in range(200):
        try:
            return ask(port, "GET", "/api/documents/1?annotator=ann")["sheet"]
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server does not answer")


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
    commit = tables.commit()  # before a result is written
    total = wrong = 0
    for number in range(given.rounds):
        with tempfile.TemporaryDirectory() as folder:
            project = Project(folder)
            project.add([Document([Sentence(["a", "b"])])])
            project.close()
            done, right = one_round(Path(folder), given.actions, random.randint(1, given.actions))
        total += done
        wrong += not right
        print(f"round {number + 1}: {done} acknowledged, {'all there' if right else 'NOT all there'}", flush=True)
        if given.write:  # after every round, so that an interrupted run leaves what it has seen
            RESULTS.write_text(table(commit, number + 1, given.actions, total, wrong), encoding="utf-8")


def table(commit: str, rounds: int, actions: int, total: int, wrong: int) -> str:
    """Return the result of so many rounds."""
    command = f"python benchmarks/workbench_crash.py --rounds {rounds} --actions {actions} --write"
    return (
        f"# `kill -9` of the workbench\n\n`{command}`, commit {commit}\n\n"
        f"The server was killed {rounds} times, each time at a random place within {actions:,} actions (add, delete, "
        "undo, redo). The annotation must then be exactly what the acknowledged actions make, with or without the one "
        "that had no answer yet.\n\n"
        "| acknowledged actions | killed | not exactly that |\n|---:|---:|---:|\n"
        f"| {total:,} | {rounds} | {wrong} |\n"
    )


if __name__ == "__main__":
    main()
