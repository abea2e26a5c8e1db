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

import numpy as np
from scale_tagging import GENIA

from spanloom import Recognizer, Sentence, read
from spanloom.learning import LBFGS
from spanloom.scale.sharded import block_count

SCRIPT = Path(__file__).resolve().parent / "scale.py"
TRAIN = ("threads 1", "threads 2", "workers 1", "workers 2", "workers 4")
MEMORY = {"in files": 256 << 20, "in memory": -1}
MEMORY_BLOCKS = 32
LEAVES, ROUNDS = 64, 5
TABLE_ROWS, TABLE_WIDTH = 300_000, 21
Keep = Callable[[str, dict[str, Any]], None]


def sentences(data: Path, times: int) -> list[Sentence]:
    """Draw sentences of GENIA with replacement: as many as it has, so many times."""
    known = [sentence for doc in read(GENIA.format(data)) for sentence in doc.sentences]
    return random.Random(1).choices(known, k=times * len(known))


def recognizer(threads: int = 1) -> Recognizer:
    """Make the recogniser that is trained in every way; prepared for a whole training, of which it does the begin."""
    return Recognizer("chain", keep="longest", trainer=LBFGS(), threads=threads)


def own_group(dask_worker: Any = None) -> None:
    """Leave the group of processes: other work may be paused by group while this is timed."""
    os.setpgid(0, 0)


class Clock:
    """Wall and processor seconds from the first iteration to one of the next, where it ends the training."""

    def __init__(self, iterations: int, gate: Path | None = None, client: Any = None) -> None:
        self.iterations, self.gate, self.client = iterations, gate, client
        self.begun = time.perf_counter()
        self.first = self.last = (0.0, 0.0, 0.0)  # seconds: wall, processor of this process, of workers
        self.prepared = 0.0
        self.evaluations = 0
        self.objective = 0.0

    def __call__(self, record: Any) -> None:
        """Take the time of an iteration."""
        self.objective = record.objective
        if record.number == 1:
            self.prepared = time.perf_counter() - self.begun
            self._wait()
            self.first = self._now()
            return
        self.evaluations += record.evaluations
        if record.number == self.iterations:
            self.last = self._now()
            raise KeyboardInterrupt

    def _now(self) -> tuple[float, float, float]:
        there = sum(self.client.run(time.process_time).values()) if self.client is not None else 0.0
        return time.perf_counter(), time.process_time(), there

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
    def each(self) -> tuple[float, ...]:
        """Seconds of an evaluation and the optimiser's step to it: wall, processor of this process, of workers."""
        return tuple((last - first) / self.evaluations for first, last in zip(self.first, self.last, strict=True))


def train_child(args: argparse.Namespace) -> None:
    """Train in one way, and print what it took."""
    corpus = sentences(args.data, args.times)
    costs: list[Any] = []
    kind, number = args.only.split()
    count = int(number)
    ner = recognizer(count if kind == "threads" else 1)
    there: dict[str, Any] = {}
    if kind == "threads":
        clock = Clock(args.iterations, args.gate)
        begin(ner, corpus, clock)
    else:
        import distributed

        from spanloom.scale.dask_training import learner

        with (
            distributed.LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            clock = Clock(args.iterations, args.gate, client)
            begin(ner, corpus, clock, learner(client, blocks=args.blocks, watch=costs.append))
            there = {"workers_peak_mb": sorted(client.run(peak_mb).values())}
    wall, here, workers = clock.each
    measured: dict[str, Any] = {
        "to_first_iteration": round(clock.prepared, 1),
        "wall": round(wall, 3),
        "processor": round(here, 3),
        "iterations": args.iterations,
        "evaluations": clock.evaluations,
        "words": sum(len(s) for s in corpus),
        "features": ner.extractor_.size,
        "parameters": ner.trained_.weight_count,
        "objective": clock.objective,
        "peak_mb": peak_mb(),
        **there,
    }
    if costs:
        measured |= {
            "blocks": args.blocks or block_count(measured["words"]),
            "workers_processor": round(workers, 3),
            "sent_mb": round(costs[-1].sent / 1e6, 1),
            "received_mb": round(costs[-1].received / 1e6, 1),
            "between_mb": round(costs[-1].between / 1e6, 1),
        }
    print("RESULT", json.dumps(measured))


def begin(ner: Recognizer, corpus: list[Sentence], clock: Clock, learner: Any = None) -> None:
    """Train until the clock says that it is enough."""
    try:
        ner.fit(corpus, listener=clock, learner=learner)
    except KeyboardInterrupt:
        return
    raise RuntimeError(f"training ended before iteration {clock.iterations}")


def links(args: argparse.Namespace, keep: Keep) -> None:
    """Time what workers do between each other: small tasks of a tree, a table from worker to worker, and its sum."""
    import distributed

    from spanloom.scale.dask_blocks import add, pass_on
    from spanloom.scale.sharded import RowSum

    values = np.ones(TABLE_ROWS * TABLE_WIDTH, np.float32)
    table = RowSum(1.0, np.arange(TABLE_ROWS, dtype=np.uint32), values, TABLE_WIDTH)

    def least(action: Callable[[], Any]) -> float:
        seconds = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            action()
            seconds.append(time.perf_counter() - begun)
        return min(seconds)

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        here, there = sorted(client.scheduler_info(n_workers=-1)["workers"])

        def tasks() -> None:
            sums = [client.submit(pass_on, 1.0, pure=False) for _ in range(LEAVES)]
            while len(sums) > 1:
                sums = [client.submit(max, *pair, pure=False) for pair in zip(sums[::2], sums[1::2], strict=True)]
            sums[0].result()

        def moved() -> None:
            x = client.scatter(values, workers=[here], direct=True, hash=False)
            begun = time.perf_counter()
            distributed.wait([client.submit(pass_on, x, workers=[there], pure=False)])
            hops.append(time.perf_counter() - begun)

        hops: list[float] = []
        least(moved)
        measured = {
            "tasks": 2 * LEAVES - 1,
            "tasks_seconds": round(least(tasks), 4),
            "mb": round(values.nbytes / 1e6, 1),
            "hop_seconds": round(min(hops), 4),
            "add_seconds": round(least(lambda: add(table, table)), 4),
        }
    keep("links", measured)


def peak_mb() -> int:
    """Return the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def train(args: argparse.Namespace, keep: Keep) -> None:
    """Train in one process with one and two threads, and on one, two and four workers."""
    for way in TRAIN:
        if args.only in (None, way):
            name = f"{way}, {args.blocks} blocks" if args.blocks and "workers" in way else way
            keep(f"train {args.times} {name}", {**child("train-child", args, way), "times": args.times})


def child(what: str, args: argparse.Namespace, way: str, limit: int | None = None) -> dict[str, Any]:
    """Run a way in a process of its own; what it printed, or how it failed."""
    given = ["--data", str(args.data), "--times", str(args.times), "--iterations", str(args.iterations), "--only", way]
    given += ["--gate", str(args.gate)] if args.gate else []
    given += ["--blocks", str(args.blocks)] if args.blocks else []

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
    ner, bound, clock = recognizer(), MEMORY[args.only], Clock(args.iterations)
    begun = time.perf_counter()
    begin(ner, corpus, clock, out_of_core(bound, blocks=MEMORY_BLOCKS) if bound >= 0 else None)
    measured = {
        "seconds": round(time.perf_counter() - begun, 1),
        "peak_mb": peak_mb(),
        "corpus_mb": read_peak,
        "words": sum(len(s) for s in corpus),
        "iterations": args.iterations,
        "objective": clock.objective,
        "memory_mb": bound >> 20,
        "blocks": MEMORY_BLOCKS,
    }
    print("RESULT", json.dumps(measured))


def memory(args: argparse.Namespace, keep: Keep) -> None:
    """Train under a limit of virtual memory, in files and in memory."""
    for way in MEMORY:
        if args.only in (None, way):
            measured = child("memory-child", args, way, args.limit << 30)
            keep(f"memory {way}", {**measured, "limit_gb": args.limit, "times": args.times})
