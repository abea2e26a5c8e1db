"""Many documents on jobs, Dask and Spark; training on one process and on workers; training with bounded memory.

    python benchmarks/scale.py tag    [--data FOLDER] [--documents 200000] [--work FOLDER] [--only="--jobs 2"]
    python benchmarks/scale.py train  [--data FOLDER] [--times 20] [--iterations 10] [--only="workers 2"]
    python benchmarks/scale.py memory [--data FOLDER] [--times 10] [--iterations 5] [--limit 4]
    python benchmarks/scale.py table

Each writes what it measured to ``results/scale.json``, and ``table`` makes ``results/scale.md`` of it.

``tag``: PubMed sentences, eight to a document, repeated until there are as many documents as wanted, in 16 files of
JSON lines; the model is ``chain`` of ten iterations on GENIA with five types. Every way writes ids and mentions. Wall
time is of the whole command, start included; start is the same with one document. Processor time is that of all
processes.

``train``: GENIA's sentences, drawn with replacement, times so many. Each way is a process of its own, with the same
iterations. Traffic is what travels per evaluation of the objective.

``memory``: the same under a limit of virtual memory (``ulimit -v``), with features in files.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tables import RESULTS

from spanloom import Recognizer, Sentence, read
from spanloom.learning import LBFGS

DOCUMENT = 8  # sentences
FILES = 16
GENIA = "genia:{}/genia?classes=5"
NETWORK_MB = 1250.0
"""10 Gbit/s, in MB/s."""
PLACE = RESULTS / "scale.json"


def keep(name: str, measured: dict[str, Any]) -> None:
    """Add what was measured to the file of results."""
    found = json.loads(PLACE.read_text(encoding="utf-8")) if PLACE.exists() else {}
    earlier = [found[name], *found[name].pop("earlier", [])] if name in found else []
    load = [round(x, 1) for x in os.getloadavg()]
    found[name] = {**measured, "load": load, "cores": os.cpu_count(), "commit": commit()}
    if earlier:
        found[name]["earlier"] = earlier
    PLACE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(name, json.dumps(found[name]), flush=True)


def commit() -> str:
    """Return the commit that runs, and whether the code differs from it."""
    here = Path(__file__).resolve().parent
    found = [
        subprocess.run(["git", *words], capture_output=True, text=True, cwd=here).stdout.strip()
        for words in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "--", "../src", "../native", "*.py"])
    ]
    return found[0] + ("-dirty" if found[1] else "")


def timed(command: list[str], env: dict[str, str] | None = None) -> dict[str, float]:
    """Run a command; wall seconds, processor seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}, capture_output=True)
    wall = time.perf_counter() - begun
    if done.returncode:
        raise RuntimeError(done.stderr.decode()[-2000:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": round(wall, 1), "processor": round(processor, 1)}


# Tagging


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


def spark_command(model: Path, source: str, out: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command of the example for ``spark-submit`` on two cores, and its environment."""
    home = subprocess.run([sys.executable, "-m", "pyspark.find_spark_home"], capture_output=True, text=True, check=True)
    script = Path(__file__).resolve().parent.parent / "examples" / "spark_tag.py"
    settings = ("spark.ui.enabled=false", "spark.driver.bindAddress=127.0.0.1", "spark.driver.memory=2g")
    options = ["--master", "local[2]", *(word for one in settings for word in ("--conf", one))]
    command = [f"{home.stdout.strip()}/bin/spark-submit", *options, str(script), str(model), source, str(out)]
    return command, {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def tag(args: argparse.Namespace) -> None:
    """Tag the same documents in every way."""
    args.work.mkdir(parents=True, exist_ok=True)
    folder = make_inputs(args.data, args.work, args.documents)
    model, one = args.work / "model.loom", args.work / "one.jsonl"
    base = [sys.executable, "-m", "spanloom", "tag", str(model)]
    ways = {
        "--jobs 1": ["--jobs", "1"],
        "--jobs 2": ["--jobs", "2"],
        "--jobs 4": ["--jobs", "4"],
        "--engine dask --jobs 2": ["--engine", "dask", "--jobs", "2"],
    }
    for name, options in ways.items():
        if args.only not in (None, name):
            continue
        run, start = (
            timed([*base, source, "-o", f"{args.work}/out/", "--format", "mentions", "--overwrite", *options])
            for source in (f"{folder}/*.jsonl", str(one))
            if subprocess.run(["rm", "-rf", f"{args.work}/out"]).returncode == 0
        )
        keep(f"tag {name}", {**run, "start": start["wall"], "start_processor": start["processor"], **sizes(args)})
    if args.only not in (None, "spark local[2]"):
        return
    measured = []
    for source in (f"{folder}/*.jsonl", str(one)):
        subprocess.run(["rm", "-rf", f"{args.work}/out"], check=True)
        measured.append(timed(*spark_command(model, source, args.work / "out")))
    more = {"start": measured[1]["wall"], "start_processor": measured[1]["processor"]}
    keep("tag spark local[2]", {**measured[0], **more, **sizes(args)})


def sizes(args: argparse.Namespace) -> dict[str, int]:
    """Return how many documents and words there are; words stand between blanks, since the sentences are tokenised."""
    lines = (args.data / "pubmed" / "sentences.txt").read_text(encoding="utf-8").splitlines()
    whole, rest = divmod(args.documents, -(-len(lines) // DOCUMENT))
    words = whole * sum(len(line.split()) for line in lines)
    words += sum(len(line.split()) for line in lines[: rest * DOCUMENT])
    return {"documents": args.documents, "words": words}


# Training


def sentences(data: Path, times: int) -> list[Sentence]:
    """Draw sentences of GENIA with replacement: as many as it has, so many times."""
    known = [sentence for doc in read(GENIA.format(data)) for sentence in doc.sentences]
    return random.Random(1).choices(known, k=times * len(known))


def processor_times(client: Any) -> list[float]:
    """Return the processor seconds of all workers."""
    return list(client.run(time.process_time).values())


def train_child(data: str, times: str, iterations: str, way: str) -> None:
    """Train in one way, and print what it took."""
    corpus = sentences(Path(data), int(times))
    costs: list[Any] = []
    count = int(way.split()[-1])
    threads = count if way.startswith("threads") else 1
    ner = Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=int(iterations)), threads=threads)
    begun = time.perf_counter()
    stamps: list[float] = []
    here: list[float] = []
    there: list[float] = []
    ask: Callable[[], list[float]] = list

    def note(_: Any) -> None:
        stamps.append(time.perf_counter() - begun)
        here.append(time.process_time())
        there.append(sum(ask()))

    if way.startswith("threads"):
        ner.fit(corpus, listener=note)
    else:
        import distributed

        from spanloom.scale.dask_training import learner

        with (
            distributed.LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            begun = time.perf_counter()
            ask = partial(processor_times, client)
            ner.fit(corpus, listener=note, learner=learner(client, watch=costs.append))
    measured: dict[str, Any] = {
        "seconds": round(stamps[-1], 1),
        "to_first_iteration": round(stamps[0], 1),
        "per_iteration": round((stamps[-1] - stamps[0]) / max(len(stamps) - 1, 1), 3),
        "processor": round((here[-1] - here[0]) / max(len(here) - 1, 1), 3),
        "iterations": len(stamps),
        "words": sum(len(s) for s in corpus),
        "features": ner.extractor_.size,
        "parameters": ner.trained_.weight_count,
        "objective": ner.training_["objective"],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    if costs:
        measured |= {
            "driver_processor": measured["processor"],
            "workers_processor": round((there[-1] - there[0]) / max(len(there) - 1, 1), 3),
            "sent_mb": round(costs[-1].sent / 1e6, 1),
            "received_mb": round(costs[-1].received / 1e6, 1),
            "seconds_per_evaluation": round(sorted(c.seconds for c in costs)[len(costs) // 2], 3),
        }
    print("RESULT", json.dumps(measured))


def train(args: argparse.Namespace) -> None:
    """Train in one process with one and two threads, and on two and four workers."""
    for way in ("threads 1", "threads 2", "workers 1", "workers 2", "workers 4"):
        if args.only not in (None, way):
            continue
        given = ["--child", str(args.data), str(args.times), str(args.iterations), way]
        done = subprocess.run([sys.executable, __file__, *given], capture_output=True, text=True)
        keep(f"train {way}", {**result(done), "times": args.times})


def result(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return what a child has printed."""
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
            return found
    return {"failed": done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]}


def memory_child(data: str, times: str, iterations: str, memory: str) -> None:
    """Train with features in files, or with everything in memory if that is negative, and print the peak."""
    from spanloom.scale import out_of_core

    corpus = sentences(Path(data), int(times))
    read_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    ner = Recognizer("chain", keep="longest", trainer=LBFGS(max_iter=int(iterations)), threads=1)
    begun = time.perf_counter()
    ner.fit(corpus, learner=out_of_core(int(memory), blocks=32) if int(memory) >= 0 else None)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    seconds = round(time.perf_counter() - begun, 1)
    words = sum(len(s) for s in corpus)
    print("RESULT", json.dumps({"seconds": seconds, "peak_mb": peak, "corpus_mb": read_peak, "words": words}))


def memory(args: argparse.Namespace) -> None:
    """Train under a limit of virtual memory, in files and in memory."""
    for name, bound in (("in files", 256 << 20), ("in memory", -1)):
        given = ["--memory-child", str(args.data), str(args.times), str(args.iterations), str(bound)]
        limit = args.limit << 30

        def limited(most: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

        done = subprocess.run(
            [sys.executable, __file__, *given], capture_output=True, text=True, preexec_fn=limited,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        keep(f"memory {name}", {**result(done), "limit_gb": args.limit, "times": args.times})


# The table


def on_paper(trained: dict[str, Any]) -> Iterator[str]:
    """Yield what more machines would give: work divided, and all weights and gradients through the driver's network."""
    alone, one, four = (trained.get(way, {}) for way in ("threads 1", "workers 1", "workers 4"))
    if "per_iteration" not in alone or "sent_mb" not in one or "sent_mb" not in four:
        return
    work, driver = one["workers_processor"], one["driver_processor"]
    traffic = [one["sent_mb"] + one["received_mb"], four["sent_mb"] + four["received_mb"]]
    power = math.log(traffic[1] / traffic[0], 4)
    yield (
        f"On paper, for machines with 10 Gbit/s: of an iteration {work} s are the workers' (processor time with one "
        f"worker), divided by the machines; {driver} s are the driver's, which does not get faster; and "
        f"{traffic[0]:.0f} MB go through the driver's network with one worker, {traffic[1]:.0f} with four, taken to "
        f"grow with the machines to the power of {power:.2f}, as between these. It assumes one core a machine, one "
        "evaluation an iteration, blocks of the same work, nothing overlapped, and no worker that is late. One process "
        f"with one thread takes {alone['processor']} s."
    )
    yield ""
    yield "| machines | work, s | network, s | s per iteration | times one process |"
    yield "|---:|---:|---:|---:|---:|"
    for machines in (1, 2, 4, 16, 64):
        network = traffic[0] * machines**power / NETWORK_MB
        seconds = work / machines + network + driver
        cells = (work / machines, network, seconds)
        yield f"| {machines} | {' | '.join(f'{x:.2f}' for x in cells)} | {alone['processor'] / seconds:.1f} |"
    yield ""


def words_per_second(one: dict[str, Any]) -> float:
    """Return the words of a way by its wall time without the start."""
    return float(one["words"] / max(one["wall"] - one["start"], 0.1))


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the tables."""
    yield "# Past one core"
    yield ""
    yield "`python benchmarks/scale.py tag`, `train`, `memory`, then `table`; what was measured is in `scale.json`."
    yield "The machine has two cores, which other work shared in part: `cores had` is processor time by wall time, and"
    yield "wall times of more than one job say little where it is near 1. Processor time of Spark lacks its Python"
    yield "workers. The last run of each way is shown; runs before it, if any, are `earlier` in the file."
    commits = sorted({one["commit"] for one in found.values() if "commit" in one})
    yield f"Commit {', '.join(commits)}."
    yield ""
    tagged = {name.removeprefix("tag "): one for name, one in found.items() if name.startswith("tag ")}
    if tagged:
        first = next(iter(tagged.values()))
        yield f"## Tagging {first['documents']:,} documents, {first['words']:,} words, to ids and mentions"
        yield ""
        yield (
            "| way | wall, s | of it start, s | words/s after start | times `--jobs 1` | processor, s | cores had | "
            "words/processor second | load |"
        )
        yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
        base = words_per_second(tagged["--jobs 1"])
        for name, one in tagged.items():
            rate = words_per_second(one)
            cpu = one["words"] / max(one["processor"] - one["start_processor"], 0.1)
            known = ("", "") if "spark" in name else (f"{one['processor'] / one['wall']:.2f}", f"{cpu:,.0f}")
            yield (
                f"| `{name}` | {one['wall']} | {one['start']} | {rate:,.0f} | {rate / base:.2f} | {one['processor']} | "
                f"{known[0]} | {known[1]} | {one['load'][0]} |"
            )
        yield ""
    trained = {name.removeprefix("train "): one for name, one in found.items() if name.startswith("train ")}
    if trained:
        first = next(iter(trained.values()))
        yield f"## Training `chain` on {first['times']} × GENIA, {first.get('words', 0):,} words"
        yield ""
        yield (
            "| way | s to the first iteration | s per iteration | processor here, s | of workers, s | sent, MB | "
            "received, MB | objective | load |"
        )
        yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
        for name, one in trained.items():
            if "failed" in one:
                yield f"| {name} | failed: {one['failed']} | | | | | | | {one['load'][0]} |"
                continue
            yield (
                f"| {name} | {one['to_first_iteration']} | {one['per_iteration']} | {one['processor']} | "
                f"{one.get('workers_processor', '')} | {one.get('sent_mb', '')} | {one.get('received_mb', '')} | "
                f"{one['objective']:.8g} | {one['load'][0]} |"
            )
        yield ""
        yield from on_paper(trained)
    bounded = {name.removeprefix("memory "): one for name, one in found.items() if name.startswith("memory ")}
    for name, one in bounded.items():
        what = f"failed: {one['failed'][0]}" if "failed" in one else f"{one['seconds']} s, peak {one['peak_mb']:,} MB"
        yield f"Features {name}, {one['times']} × GENIA, at most {one['limit_gb']} GB of virtual memory: {what}."
        yield ""


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tag", "train", "memory", "table"])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--work", type=Path, default=Path("/tmp/spanloom-scale"))
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--times", type=int, default=None)
    parser.add_argument("--iterations", type=int, default=None)
    parser.add_argument("--limit", type=int, default=4)
    parser.add_argument("--only", help="one way of them")
    args = parser.parse_args()
    if args.what == "table":
        text = "\n".join(lines(json.loads(PLACE.read_text(encoding="utf-8")))).rstrip() + "\n"
        (RESULTS / "scale.md").write_text(text, encoding="utf-8")
        return
    args.times = args.times or {"train": 20, "memory": 10}.get(args.what)
    args.iterations = args.iterations or {"train": 10, "memory": 5}.get(args.what)
    {"tag": tag, "train": train, "memory": memory}[args.what](args)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        train_child(*sys.argv[2:])
    elif sys.argv[1:2] == ["--memory-child"]:
        memory_child(*sys.argv[2:])
    else:
        main()
