"""``scale.py train`` and ``memory``: many times GENIA on one process, on workers, and with features in files."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scale_tagging import GENIA

from spanloom import Recognizer, Sentence, read
from spanloom.learning import LBFGS

SCRIPT = Path(__file__).resolve().parent / "scale.py"
TRAIN = ("threads 1", "threads 2", "workers 1", "workers 2", "workers 4")
MEMORY = {"in files": 256 << 20, "in memory": -1}
Keep = Callable[[str, dict[str, Any]], None]


def sentences(data: Path, times: int) -> list[Sentence]:
    """Draw sentences of GENIA with replacement: as many as it has, so many times."""
    known = [sentence for doc in read(GENIA.format(data)) for sentence in doc.sentences]
    return random.Random(1).choices(known, k=times * len(known))


def recognizer(args: argparse.Namespace, threads: int = 1) -> Recognizer:
    """Make the recogniser that is trained in every way."""
    return Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=args.iterations), threads=threads)


def own_group(dask_worker: Any = None) -> None:
    """Leave the group of processes: other work may be paused by group while this is timed."""
    os.setpgid(0, 0)


class Clock:
    """Wall and processor seconds from the first to the last iteration."""

    def __init__(self, gate: Path | None) -> None:
        self.gate, self.client = gate, None
        self.walls: list[float] = []
        self.begun = time.perf_counter()
        self.first = self.last = (0.0, 0.0)  # processor seconds: this process, workers
        self.last_seen = 0.0
        self.prepared = 0.0

    def __call__(self, record: Any) -> None:
        """Take the time of an iteration."""
        if not self.walls:
            self.prepared = time.perf_counter() - self.begun
            self._wait()
            self.first = self._processor()
        self.walls.append(time.perf_counter())
        self.last_seen = time.process_time()

    def stop(self) -> None:
        """Take the processor time at the end."""
        self.last = self._processor()

    def _processor(self) -> tuple[float, float]:
        there = sum(self.client.run(time.process_time).values()) if self.client is not None else 0.0
        return time.process_time(), there

    def _wait(self) -> None:
        if self.gate is None:
            return
        own_group()
        if self.client is not None:
            self.client.run(own_group)
        (self.gate / "ready").touch()
        while not (self.gate / "go").exists():
            time.sleep(0.2)

    @property
    def each(self) -> tuple[float, float, float]:
        """Seconds of an iteration: wall, processor of this process, of workers."""
        count = max(len(self.walls) - 1, 1)
        wall = (self.walls[-1] - self.walls[0]) / count
        return wall, (self.last_seen - self.first[0]) / count, (self.last[1] - self.first[1]) / count


def train_child(args: argparse.Namespace) -> None:
    """Train in one way, and print what it took."""
    corpus = sentences(args.data, args.times)
    costs: list[Any] = []
    kind, number = args.only.split()
    count = int(number)
    ner = recognizer(args, count if kind == "threads" else 1)
    clock = Clock(args.gate)
    if kind == "threads":
        ner.fit(corpus, listener=clock)
        clock.stop()
        there: dict[str, Any] = {}
    else:
        import distributed

        from spanloom.scale.dask_training import learner

        with (
            distributed.LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            clock = Clock(args.gate)
            clock.client = client
            ner.fit(corpus, listener=clock, learner=learner(client, watch=costs.append))
            clock.stop()
            there = {"workers_peak_mb": sorted(client.run(peak_mb).values())}
    wall, here, workers = clock.each
    measured: dict[str, Any] = {
        "to_first_iteration": round(clock.prepared, 1),
        "per_iteration": round(wall, 3),
        "processor": round(here, 3),
        "iterations": len(clock.walls),
        "words": sum(len(s) for s in corpus),
        "features": ner.extractor_.size,
        "parameters": ner.trained_.weight_count,
        "objective": ner.training_["objective"],
        "peak_mb": peak_mb(),
        **there,
    }
    if costs:
        measured |= {
            "workers_processor": round(workers, 3),
            "sent_mb": round(costs[-1].sent / 1e6, 1),
            "received_mb": round(costs[-1].received / 1e6, 1),
            "evaluations_per_iteration": round((len(costs) - 1) / len(clock.walls), 2),
        }
    print("RESULT", json.dumps(measured))


def peak_mb() -> int:
    """Return the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def train(args: argparse.Namespace, keep: Keep) -> None:
    """Train in one process with one and two threads, and on one, two and four workers."""
    for way in TRAIN:
        if args.only in (None, way):
            keep(f"train {args.times} {way}", {**child("train-child", args, way), "times": args.times})


def child(what: str, args: argparse.Namespace, way: str, limit: int | None = None) -> dict[str, Any]:
    """Run a way in a process of its own; what it printed, or how it failed."""
    given = ["--data", str(args.data), "--times", str(args.times), "--iterations", str(args.iterations), "--only", way]
    given += ["--gate", str(args.gate)] if args.gate else []

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        [sys.executable, str(SCRIPT), what, *given], capture_output=True, text=True, preexec_fn=limited,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
            return found
    return {"failed": done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]}


def memory_child(args: argparse.Namespace) -> None:
    """Train with features in files, or with everything in memory, and print the peak."""
    from spanloom.scale import out_of_core

    corpus = sentences(args.data, args.times)
    read_peak = peak_mb()
    ner, bound = recognizer(args), MEMORY[args.only]
    begun = time.perf_counter()
    ner.fit(corpus, learner=out_of_core(bound, blocks=32) if bound >= 0 else None)
    measured = {
        "seconds": round(time.perf_counter() - begun, 1),
        "peak_mb": peak_mb(),
        "corpus_mb": read_peak,
        "words": sum(len(s) for s in corpus),
        "iterations": len(ner.history_),
        "objective": ner.training_["objective"],
    }
    print("RESULT", json.dumps(measured))


def memory(args: argparse.Namespace, keep: Keep) -> None:
    """Train under a limit of virtual memory, in files and in memory."""
    for way in MEMORY:
        if args.only in (None, way):
            measured = child("memory-child", args, way, args.limit << 30)
            keep(f"memory {way}", {**measured, "limit_gb": args.limit, "times": args.times})
