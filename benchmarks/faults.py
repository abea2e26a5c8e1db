"""What happens to long jobs, done on purpose: are the outputs those of an undisturbed run?

    python benchmarks/faults.py [--data FOLDER] [--work FOLDER] [--documents 20000] [--write]

Documents and model are those of ``scale.py tag``. Each fault is done to ``spanloom tag … --jobs 2`` in shards of half a
megabyte, or to a training on two Dask workers; then outputs are compared, byte by byte, with those of an undisturbed
run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tables import RESULTS

from scale import GENIA, make_inputs
from spanloom import Recognizer, read
from spanloom.learning import LBFGS

Digests = dict[str, str]


def digests(out: Path) -> Digests:
    """Return the digest of every output and manifest."""
    skip = ("times.jsonl", "report.json", "lock")
    files = [p for p in sorted(out.rglob("*")) if p.is_file() and p.name not in skip]
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


class Bench:
    """Runs the command, and does things to it."""

    def __init__(self, model: Path, source: str, work: Path) -> None:
        self.model, self.source, self.out = model, source, work / "faults"
        self.rows: list[list[Any]] = []

    def start(self, *options: str, limit: Callable[[], None] | None = None) -> subprocess.Popen[bytes]:
        """Start the command."""
        command = [sys.executable, "-m", "spanloom", "tag", str(self.model), self.source, "-o", f"{self.out}/"]
        command += ["--jobs", "2", "--shard-size", "512K", "--format", "mentions", *options]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=limit)

    def workers(self, process: subprocess.Popen[bytes]) -> list[int]:
        """Return the worker processes; the resource tracker of multiprocessing is none."""
        found = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(process.pid)], capture_output=True, text=True)
        return [int(line.split()[0]) for line in found.stdout.splitlines() if "spawn_main" in line]

    def done(self) -> int:
        """Return how many shards have manifests."""
        return len(list(self.out.rglob("manifests/**/*.json")))

    def wait_for(self, process: subprocess.Popen[bytes], shards: int) -> None:
        """Wait until so many shards are done."""
        while self.done() < shards and process.poll() is None:
            time.sleep(0.05)

    def row(self, fault: str, runs: int, same: bool, remark: str = "") -> None:
        """Note a result."""
        self.rows.append([fault, runs, "equal" if same else "DIFFERENT", remark])
        print(self.rows[-1], flush=True)


def tagging(bench: Bench, expected: Digests) -> None:
    """Kill workers, the driver; fill the disk; damage outputs; stop a worker for a while."""

    def fresh() -> None:
        shutil.rmtree(bench.out, ignore_errors=True)

    fresh()
    process, killed = bench.start(), 0
    for shards in (1, 4, 7):
        bench.wait_for(process, shards)
        for pid in bench.workers(process)[:1]:
            os.kill(pid, signal.SIGKILL)
            killed += 1
        time.sleep(0.5)
    process.wait()
    bench.row(f"kill -9 of a worker, {killed} times", 1, digests(bench.out) == expected)

    fresh()
    runs = 0
    for shards in (2, 5, 8):
        process = bench.start("--resume")
        runs += 1
        bench.wait_for(process, shards)
        process.kill()
        process.wait()
    kept = bench.done()
    bench.start("--resume").wait()
    bench.row(f"kill -9 of the driver, {runs} times, then --resume", runs + 1, digests(bench.out) == expected,
              f"{kept} shards were kept")  # fmt: skip

    fresh()
    largest = max((len(p.read_bytes()) for p in Path(bench.source).parent.glob("*.jsonl")), default=0)

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest // 50, largest // 50))

    failed = bench.start(limit=small).wait()
    bench.start("--resume").wait()
    bench.row("no room for a file (RLIMIT_FSIZE), then --resume", 2, digests(bench.out) == expected,
              f"exit code {failed} first")  # fmt: skip

    rng = random.Random(1)
    outputs = sorted(p for p in bench.out.glob("*.jsonl"))
    for path in rng.sample(outputs, 3):
        data = bytearray(path.read_bytes())
        data[rng.randrange(len(data))] ^= 1
        path.write_bytes(data)
    bench.start("--resume").wait()
    tagged = json.loads((bench.out / "_spanloom" / "report.json").read_text())["tagged"]
    bench.row("a bit flipped in 3 outputs, then --resume", 1, digests(bench.out) == expected, f"{tagged} tagged again")

    fresh()
    process = bench.start()
    bench.wait_for(process, 1)
    for pid in bench.workers(process)[:1]:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(5)
        os.kill(pid, signal.SIGCONT)
    process.wait()
    bench.row("a worker stands still for 5 s", 1, digests(bench.out) == expected)


def training(bench: Bench, data: Path) -> None:
    """Kill a worker while a model is trained on a Dask cluster."""
    import distributed

    from spanloom.scale import out_of_core
    from spanloom.scale.dask_training import learner

    corpus = [s for _, doc in zip(range(300), read(GENIA.format(data)), strict=False) for s in doc.sentences]

    def make() -> Recognizer:
        return Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=15), threads=1)

    expected = make().fit(corpus, learner=out_of_core()).to_bytes()
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        killed = 0

        def kill(record: Any) -> None:
            nonlocal killed
            if record.number in (3, 8):
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
                killed += 1

        found = make().fit(corpus, learner=learner(client), listener=kill).to_bytes()
    bench.row(f"kill -9 of a Dask worker in training, {killed} times", 1, found == expected)


def main() -> None:
    """Do all faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--work", type=Path, default=Path("/tmp/spanloom-scale"))
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    folder = make_inputs(args.data, args.work, args.documents)
    bench = Bench(args.work / "model.loom", f"{folder}/*.jsonl", args.work)
    shutil.rmtree(bench.out, ignore_errors=True)
    if bench.start().wait():
        raise RuntimeError("the undisturbed run failed")
    expected = digests(bench.out)
    tagging(bench, expected)
    training(bench, args.data)
    if args.write:
        text = [
            "# Faults, and what came of them",
            "",
            f"`python benchmarks/faults.py --data FOLDER --documents {args.documents} --write`: outputs and manifests "
            f"of {len(expected) // 2} shards, and model files, compared with those of an undisturbed run.",
            "",
            "| fault | runs | outputs | |",
            "|---|---:|---|---|",
            *(f"| {' | '.join(map(str, row))} |" for row in bench.rows),
        ]
        (RESULTS / "faults.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
