"""What happens to long jobs, done on purpose: are the outputs those of an undisturbed run?

    python benchmarks/faults.py [--data FOLDER] [--work FOLDER] [--documents 20000] [--only GROUP] [--write]

Documents and model are those of ``scale.py tag``. Each fault is done to ``spanloom tag … --jobs 2`` in shards of half a
megabyte, to the same on a Dask scheduler with two workers, or to a training on two Dask workers; then outputs are
compared, byte by byte, with those of an undisturbed run. The full disk is a small file system in memory (``tmpfs``),
which needs the right to mount one; elsewhere it is a limit on the size of files. Groups of faults are ``processes``,
``full_disk``, ``damage``, ``dask_tagging`` and ``training``; the page has the last run of each, which ``faults.json``
keeps.
"""

from __future__ import annotations

import argparse
import gzip
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scale_tagging import GENIA, make_inputs
from tables import RESULTS, commit

from spanloom import Recognizer, read
from spanloom.learning import LBFGS

Digests = dict[str, str]
STILL_SECONDS = 5
END_SECONDS = 10


def digests(out: Path) -> Digests:
    """Return the digest of every output and manifest."""
    skip = ("times.jsonl", "report.json", "lock")
    files = [p for p in sorted(out.rglob("*")) if p.is_file() and p.name not in skip]
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


class Bench:
    """Runs the command, and does things to it."""

    def __init__(self, model: Path, source: str, out: Path) -> None:
        self.model, self.source, self.out = model, source, out
        self.rows: list[list[Any]] = []
        self.expected: Digests = {}

    def start(self, *options: str, limit: Callable[[], None] | None = None) -> subprocess.Popen[bytes]:
        """Start the command."""
        command = [sys.executable, "-m", "spanloom", "tag", str(self.model), self.source, "-o", f"{self.out}/"]
        command += ["--jobs", "2", "--shard-size", "512K", "--format", "mentions", *options]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL, preexec_fn=limit)

    def fresh(self) -> None:
        """Remove the outputs."""
        shutil.rmtree(self.out, ignore_errors=True)

    def workers(self, process: subprocess.Popen[bytes]) -> list[int]:
        """Return the worker processes."""
        found = subprocess.run(
            ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(process.pid)], capture_output=True, text=True
        )
        return [int(line.split()[0]) for line in found.stdout.splitlines() if "spanloom.scale.worker" in line]

    def done(self) -> int:
        """Return how many shards have manifests."""
        return len(list(self.out.rglob("manifests/**/*.json")))

    def wait_for(self, process: subprocess.Popen[bytes], shards: int) -> None:
        """Wait until so many shards are done."""
        while self.done() < shards and process.poll() is None:
            time.sleep(0.02)

    def is_same(self) -> bool:
        """Whether outputs and manifests are those of the undisturbed run."""
        return digests(self.out) == self.expected

    def row(self, fault: str, runs: int, same: bool, remark: str = "") -> None:
        """Note a result."""
        self.rows.append([fault, runs, "equal" if same else "DIFFERENT", remark])
        print(self.rows[-1], flush=True)


def kill(pid: int) -> None:
    """End a process that can do nothing about it."""
    os.kill(pid, signal.SIGKILL)


def stand_still(pid: int) -> None:
    """Let a process stand still for a while, as on a machine that swaps."""
    os.kill(pid, signal.SIGSTOP)
    time.sleep(STILL_SECONDS)
    os.kill(pid, signal.SIGCONT)


DASK_FAULTS = {"kill -9 of a Dask worker": kill, f"a Dask worker stands still for {STILL_SECONDS} s": stand_still}


def processes(bench: Bench) -> None:
    """Kill workers and the driver; let a worker stand still."""
    bench.fresh()
    process, killed = bench.start(), 0
    for shards in (1, 4, 7):
        bench.wait_for(process, shards)
        for pid in bench.workers(process)[:1]:
            kill(pid)
            killed += 1
        time.sleep(0.5)
    code = process.wait()
    bench.row(f"kill -9 of a worker, {killed} times", 1, bench.is_same() and code == 0)

    bench.fresh()
    runs = 0
    for shards in (2, 5, 8):
        process = bench.start("--resume")
        runs += 1
        bench.wait_for(process, shards)
        process.kill()
        process.wait()
    kept = bench.done()
    code = bench.start("--resume").wait()
    bench.row(f"kill -9 of the driver, {runs} times, then `--resume`", runs + 1, bench.is_same() and code == 0,
              f"{kept} shards were kept")  # fmt: skip

    bench.fresh()
    process = bench.start()
    bench.wait_for(process, 1)
    for pid in bench.workers(process)[:1]:
        stand_still(pid)
    code = process.wait()
    bench.row(f"a worker stands still for {STILL_SECONDS} s", 1, bench.is_same() and code == 0)


def full_disk(bench: Bench, work: Path) -> None:
    """Give the outputs less room than they need."""
    needed = sum(path.stat().st_size for path in bench.out.rglob("*") if path.is_file())
    bench.fresh()

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    failed = bench.start(limit=small).wait()
    code = bench.start("--resume").wait()
    bench.row("no room for a file (`RLIMIT_FSIZE`), then `--resume`", 2, bench.is_same() and code == 0,
              f"exit code {failed} first")  # fmt: skip

    place = work / "disk"
    place.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={needed // 2}", "tmpfs", str(place)]).returncode:
        bench.row("a full disk", 0, False, "not done: no file system could be mounted here")
        return
    try:
        there = Bench(bench.model, bench.source, place / "out")
        failed, kept = there.start().wait(), there.done()
        subprocess.run(["mount", "-o", f"remount,size={2 * needed + (1 << 20)}", str(place)], check=True)
        code = there.start("--resume").wait()
        same = digests(there.out) == bench.expected and code == 0
        bench.row("a full disk (`tmpfs` of half the size), then room and `--resume`", 2, same,
                  f"exit code {failed} first, {kept} shards were kept")  # fmt: skip
    finally:
        subprocess.run(["umount", str(place)], check=True)


def damage(bench: Bench, work: Path) -> None:
    """Flip bits in outputs; cut off a packed input."""
    rng = random.Random(1)
    for path in rng.sample(sorted(bench.out.glob("*.jsonl")), 3):
        data = bytearray(path.read_bytes())
        data[rng.randrange(len(data))] ^= 1
        path.write_bytes(data)
    code = bench.start("--resume").wait()
    tagged = json.loads((bench.out / "_spanloom" / "report.json").read_text())["tagged"]
    bench.row("a bit flipped in 3 outputs, then `--resume`", 1, bench.is_same() and code == 0, f"{tagged} tagged again")

    packed = work / "packed"
    shutil.rmtree(packed, ignore_errors=True)
    packed.mkdir()
    for path in map(Path, sorted(Path(bench.source).parent.glob("*.jsonl"))[:4]):
        (packed / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 1, mtime=0))
    there = Bench(bench.model, f"{packed}/*.jsonl.gz", work / "faults-packed")
    there.fresh()
    there.start().wait()
    there.expected = digests(there.out)
    victim = packed / "02.jsonl.gz"
    whole = victim.read_bytes()
    there.fresh()
    victim.write_bytes(whole[: len(whole) // 2])
    failed = there.start().wait()
    kept = there.done()
    victim.write_bytes(whole)
    code = there.start("--resume").wait()
    bench.row("a packed input cut in the middle; whole again, then `--resume`", 2, there.is_same() and code == 0,
              f"exit code {failed} first, {kept} of {len(there.expected) // 2} shards were kept")  # fmt: skip
    there.fresh()


@contextmanager
def scheduler(work: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Run a Dask scheduler and two workers, as processes of their own."""
    place = work / "scheduler.json"
    place.unlink(missing_ok=True)
    dask = [sys.executable, "-m", "dask"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    own = ["--host", "127.0.0.1", "--no-dashboard"]
    parts = [subprocess.Popen([*dask, "scheduler", *own, "--port", "0", "--scheduler-file", str(place)], **quiet)]
    try:
        while not place.exists():
            time.sleep(0.1)
        one = [*dask, "worker", *own, "--scheduler-file", str(place), "--nthreads", "1", "--no-nanny"]
        workers = [subprocess.Popen(one, **quiet) for _ in range(2)]
        parts += workers
        yield json.loads(place.read_text())["address"], workers
    finally:
        for part in reversed(parts):  # a worker that outlives its scheduler waits for it
            part.terminate()
            try:
                part.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                part.kill()
                part.wait()


def dask_tagging(bench: Bench, work: Path) -> None:
    """Kill one of two Dask workers; let one stand still."""
    for name, fault in DASK_FAULTS.items():
        bench.fresh()
        with scheduler(work) as (address, workers):
            process = bench.start("--engine", "dask", "--scheduler", address)
            bench.wait_for(process, 4)
            fault(workers[0].pid)
            code = process.wait()
        bench.row(f"{name} in tagging", 1, bench.is_same() and code == 0)


def training(bench: Bench, data: Path) -> None:
    """Kill a worker while a model is trained on a Dask cluster; let one stand still."""
    import distributed

    from spanloom.scale import out_of_core
    from spanloom.scale.dask_training import learner

    corpus = [s for _, doc in zip(range(300), read(GENIA.format(data)), strict=False) for s in doc.sentences]

    def make() -> Recognizer:
        return Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=15), threads=1)

    expected = make().fit(corpus, learner=out_of_core()).to_bytes()
    for name, fault in DASK_FAULTS.items():
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            done = 0

            def disturb(record: Any, client: Any = client, fault: Callable[[int], None] = fault) -> None:
                nonlocal done
                if record.number in (3, 8):
                    fault(next(iter(client.run(os.getpid).values())))
                    done += 1

            found = make().fit(corpus, learner=learner(client), listener=disturb).to_bytes()
        bench.row(f"{name} in training, {done} times", 1, found == expected)


GROUPS: dict[str, Callable[[Bench, argparse.Namespace], None]] = {
    "processes": lambda bench, args: processes(bench),
    "full_disk": lambda bench, args: full_disk(bench, args.work),
    "damage": lambda bench, args: damage(bench, args.work),
    "dask_tagging": lambda bench, args: dask_tagging(bench, args.work),
    "training": lambda bench, args: training(bench, args.data),
}


def main() -> None:
    """Do all faults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--work", type=Path, default=Path("/tmp/spanloom-scale"))
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--only", choices=list(GROUPS))
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    made_by = commit()
    args.work.mkdir(parents=True, exist_ok=True)
    folder = make_inputs(args.data, args.work, args.documents)
    bench = Bench(args.work / "model.loom", f"{folder}/*.jsonl", args.work / "faults")
    if args.only != "training":
        bench.fresh()
        if bench.start().wait():
            raise RuntimeError("the undisturbed run failed")
        bench.expected = digests(bench.out)
    for name, group in GROUPS.items():
        if args.only in (None, name):
            bench.rows = []
            group(bench, args)
            if args.write:
                keep(name, {"rows": bench.rows, "documents": args.documents, "commit": made_by})


def keep(group: str, measured: dict[str, Any]) -> None:
    """Put a group into the file of results, and write the page of all groups."""
    place = RESULTS / "faults.json"
    found = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    found[group] = measured
    place.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    text = [
        "# Faults, and what came of them",
        "",
        "`python benchmarks/faults.py --data FOLDER --write`: outputs and manifests of all shards, and model files, "
        "compared byte by byte with those of an undisturbed run.",
        "",
        "| fault | runs | outputs | | documents | commit |",
        "|---|---:|---|---|---:|---|",
    ]
    for name in GROUPS:
        one = found.get(name, {"rows": []})
        size = "" if name == "training" else f"{one.get('documents', 0):,}"
        text += [f"| {' | '.join(map(str, row))} | {size} | {one['commit']} |" for row in one["rows"]]
    (RESULTS / "faults.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
