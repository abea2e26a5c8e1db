"""``scale.py tag``: the same documents by ``--jobs``, Dask and Spark."""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spanloom import Recognizer, read
from spanloom.learning import LBFGS

DOCUMENT = 8  # sentences
FILES = 16
GENIA = "genia:{}/genia?classes=5"
SAMPLE_SECONDS = 0.1
TICKS = os.sysconf("SC_CLK_TCK")
SPARK = "spark local[2]"
WAYS = {
    "--jobs 1": ["--jobs", "1"],
    "--jobs 2": ["--jobs", "2"],
    "--jobs 4": ["--jobs", "4"],
    "--engine dask --jobs 2": ["--engine", "dask", "--jobs", "2"],
}


def make_inputs(data: Path, work: Path, documents: int) -> Path:
    """Write the documents, one of them apart, and train the model, unless they are there."""
    model = work / "model.loom"
    if not model.exists():
        ner = Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=10), threads=1)
        ner.fit(read(GENIA.format(data))).save(model)
    folder = work / f"in-{documents}"
    if not folder.exists():
        folder.mkdir(parents=True)
        lines = (data / "pubmed" / "sentences.txt").read_text(encoding="utf-8").splitlines()
        texts = [" ".join(lines[i : i + DOCUMENT]) for i in range(0, len(lines), DOCUMENT)]
        each = -(-documents // FILES)
        for k in range(FILES):
            with (folder / f"{k:02d}.jsonl").open("w", encoding="utf-8") as out:
                for i in range(k * each, min((k + 1) * each, documents)):
                    out.write(json.dumps({"id": str(i), "text": texts[i % len(texts)]}) + "\n")
        (work / "one.jsonl").write_text(json.dumps({"id": "0", "text": texts[0]}) + "\n", encoding="utf-8")
    return folder


def sizes(data: Path, documents: int) -> dict[str, int]:
    """Return how many documents and words there are; words stand between blanks, since the sentences are tokenised."""
    lines = (data / "pubmed" / "sentences.txt").read_text(encoding="utf-8").splitlines()
    whole, rest = divmod(documents, -(-len(lines) // DOCUMENT))
    words = whole * sum(len(line.split()) for line in lines)
    words += sum(len(line.split()) for line in lines[: rest * DOCUMENT])
    return {"documents": documents, "words": words}


class Sampled:
    """Processor seconds of a session of processes, those included that nobody waits for: Spark's Python workers."""

    def __init__(self, session: int) -> None:
        self.session = session
        self.by_process: dict[str, float] = {}

    def look(self) -> None:
        """Note what each process has used so far."""
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == self.session:
                self.by_process[name] = (int(fields[11]) + int(fields[12])) / TICKS


def timed(command: list[str], env: dict[str, str] | None = None) -> dict[str, float]:
    """Run a command; wall seconds, and processor seconds of all its processes.

    Those of processes that were waited for are exact. Where the processes that were seen have used more, as with
    Spark, that counts; each may lack its last tenth of a second.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    seen = Sampled(process.pid)
    errors = b""
    while True:
        seen.look()
        try:
            _, errors = process.communicate(timeout=SAMPLE_SECONDS)
            break
        except subprocess.TimeoutExpired:
            continue
    wall = time.perf_counter() - begun
    if process.returncode:
        raise RuntimeError(errors.decode()[-2000:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    waited = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": round(wall, 1), "processor": round(max(waited, sum(seen.by_process.values())), 1)}


def spark_command(model: Path, source: str, out: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command of the example for ``spark-submit`` on two cores, and its environment."""
    home = subprocess.run([sys.executable, "-m", "pyspark.find_spark_home"], capture_output=True, text=True, check=True)
    script = Path(__file__).resolve().parent.parent / "examples" / "spark_tag.py"
    settings = ("spark.ui.enabled=false", "spark.driver.bindAddress=127.0.0.1", "spark.driver.memory=2g")
    options = ["--master", "local[2]", *(word for one in settings for word in ("--conf", one))]
    command = [f"{home.stdout.strip()}/bin/spark-submit", *options, str(script), str(model), source, str(out)]
    return command, {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def tag(args: argparse.Namespace, keep: Callable[[str, dict[str, Any]], None]) -> None:
    """Tag the same documents in every way."""
    args.work.mkdir(parents=True, exist_ok=True)
    folder = make_inputs(args.data, args.work, args.documents)
    model, out = args.work / "model.loom", args.work / "out"

    def run(way: str, source: str) -> dict[str, float]:
        shutil.rmtree(out, ignore_errors=True)
        if way == SPARK:
            return timed(*spark_command(model, source, out))
        command = [sys.executable, "-m", "spanloom", "tag", str(model), source, "-o", f"{out}/", "--format", "mentions"]
        return timed([*command, *WAYS[way]])

    for way in (*WAYS, SPARK):
        if args.only not in (None, way):
            continue
        whole, start = (run(way, source) for source in (f"{folder}/*.jsonl", str(args.work / "one.jsonl")))
        more = {"start": start["wall"], "start_processor": start["processor"]}
        keep(f"tag {way}", {**whole, **more, **sizes(args.data, args.documents)})
