"""``scale.py table``: the page of what was measured, and what follows from it for more machines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

NETWORK_MB = 1250.0
"""10 Gbit/s, in MB/s."""
MACHINES = (1, 2, 4, 16, 64)
CORES = (1, 8, 32)
ABSTRACTS, ABSTRACT_WORDS = 30_000_000, 200
JOBS = {"--jobs 1": 1, "--jobs 2": 2, "--jobs 4": 2, "--engine dask --jobs 2": 2, "spark local[2]": 2}
"""How many of the machine's two cores a way can use."""


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Past one core"
    yield ""
    yield "`python benchmarks/scale.py tag`, `train`, `memory`, then `table`; what was measured is in `scale.json`."
    cores = sorted({one["cores"] for one in found.values()})
    yield f"The machine has {', '.join(map(str, cores))} cores. `cores had` is processor time by wall time."
    commits = sorted({one["commit"] for one in found.values()})
    yield f"Commit {', '.join(commits)}."
    yield ""
    yield from tagging(_named(found, "tag "))
    trained = _named(found, "train ")
    for times in sorted({one["times"] for one in trained.values()}):
        yield from training(times, _named(trained, f"{times} "))
    yield from memory(_named(found, "memory "))


def _named(found: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {name.removeprefix(kind): one for name, one in found.items() if name.startswith(kind)}


def table(heads: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Yield a table whose first column is text."""
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{'---:|' * (len(heads) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


# Tagging


def after_start(one: dict[str, Any]) -> float:
    """Return the words a second of a way, without its start."""
    return float(one["words"] / max(one["wall"] - one["start"], 0.1))


def by_processor(one: dict[str, Any]) -> float:
    """Return the words of a way by its processor seconds, without its start."""
    return float(one["words"] / max(one["processor"] - one["start_processor"], 0.1))


def tagging(tagged: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield what the ways of tagging took, and what thirty million abstracts would."""
    if "--jobs 1" not in tagged:
        return
    first = tagged["--jobs 1"]
    yield f"## Tagging {first['documents']:,} documents, {first['words']:,} words, to ids and mentions"
    yield ""
    yield "Efficiency is the speed after the start, by that of one job and the cores that the way can use."
    yield ""
    heads = ["way", "wall, s", "of it start, s", "words/s after start", "times one job", "efficiency, %"]
    heads += ["processor, s", "cores had", "words/processor s", "load"]
    rows = []
    for name, one in tagged.items():
        times = after_start(one) / after_start(first)
        rows.append([
            f"`{name}`", f"{one['wall']}", f"{one['start']}", f"{after_start(one):,.0f}", f"{times:.2f}",
            f"{100 * times / JOBS[name]:.0f}", f"{one['processor']}", f"{one['processor'] / one['wall']:.2f}",
            f"{by_processor(one):,.0f}", f"{one['load'][0]}",
        ])  # fmt: skip
    yield from table(heads, rows)
    if "--jobs 2" not in tagged:
        return
    words = ABSTRACTS * ABSTRACT_WORDS
    speed = {1: after_start(first)} | {n: n * after_start(tagged["--jobs 2"]) / 2 for n in CORES if n > 1}
    yield (
        f"Computed: {ABSTRACTS:,} abstracts of {ABSTRACT_WORDS} words are {words:,} words. One core at the speed of "
        "one job, more cores at half the speed of two jobs each, as if memory and disks never got narrow."
    )
    yield ""
    cells = [[f"{n} cores", f"{v:,.0f}", f"{words / v / 60:.0f}", f"{86400 * v / words:.1f}"] for n, v in speed.items()]
    yield from table(["", "words/s", "minutes for all abstracts", "times all abstracts in a day"], cells)


# Training


def training(times: int, trained: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield what the ways of training took on so many times GENIA."""
    whole = [one for one in trained.values() if "failed" not in one]
    if not whole:
        return
    first = whole[0]
    yield f"## Training `chain` on {times} × GENIA, {first['words']:,} words"
    yield ""
    yield (
        f"{first['features']:,} features, {first['parameters']:,} weights. Seconds are of an iteration, the first one "
        "and what comes before it left out. `load` is that of the machine at the end; processor times grow with it."
    )
    yield ""
    heads = ["way", "wall, s", "processor of this process, s", "of workers, s", "processor, times one thread"]
    heads += [
        "sent, MB",
        "received, MB",
        "objective",
        "s to the first iteration",
        "peak here, MB",
        "of workers, MB",
        "load",
    ]
    rows = []
    alone = trained.get("threads 1", {}).get("processor", math.nan)
    for name, one in trained.items():
        if "failed" in one:
            rows.append([f"{times} × GENIA, {name}", f"failed: {one['failed'][0]}", *[""] * 10])
            continue
        there = one.get("workers_processor")
        rows.append([
            f"{times} × GENIA, {name}", f"{one['per_iteration']}", f"{one['processor']}",
            "" if there is None else f"{there}",
            f"{(one['processor'] + (there or 0)) / alone:.2f}", f"{one.get('sent_mb', '')}",
            f"{one.get('received_mb', '')}", f"{one['objective']:.10g}", f"{one['to_first_iteration']}",
            f"{one['peak_mb']:,}", "; ".join(f"{mb:,}" for mb in one.get("workers_peak_mb", [])),
            f"{one['load'][0]}",
        ])  # fmt: skip
    yield from table(heads, rows)
    yield from on_paper(trained)


def on_paper(trained: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield what more machines would give: work divided, and all weights and gradients through the driver's network."""
    counts = sorted(int(way.split()[1]) for way, one in trained.items() if "sent_mb" in one)
    if "processor" not in trained.get("threads 1", {}) or counts[:1] != [1] or len(counts) < 2:
        return
    most = counts[-1]
    alone, one, many = (trained[way] for way in ("threads 1", "workers 1", f"workers {most}"))
    work, driver, growth = one["workers_processor"], one["processor"], many["processor"] - one["processor"]
    traffic = [one["sent_mb"] + one["received_mb"], many["sent_mb"] + many["received_mb"]]
    power = math.log(traffic[1] / traffic[0], most)
    yield (
        f"On paper, for machines with 10 Gbit/s: of an iteration {work} s are the workers' (processor time with one "
        f"worker), divided by the machines. The driver has {driver} s with one, {many['processor']} with {most}, "
        f"and {traffic[0]:.0f} MB go through its network with one, {traffic[1]:.0f} with {most}: traffic is taken to "
        f"grow with the machines to the power of {power:.2f}, as between these, and the driver's time with it. "
        "It assumes one core a machine, blocks of the same work, nothing overlapped, no worker that is late, and that "
        "more and smaller blocks, which many machines need, are no more work. One process with one thread takes "
        f"{alone['processor']} s of processor time."
    )
    yield ""
    slope = max(growth, 0) / (traffic[1] - traffic[0])
    rows = []
    for machines in MACHINES:
        megabytes = traffic[0] * machines**power
        parts = (work / machines, driver + slope * (megabytes - traffic[0]), megabytes / NETWORK_MB)
        seconds = [f"{x:.2f}" for x in (*parts, sum(parts))]
        rows.append(
            [f"{alone['times']} × GENIA, {machines} machines", *seconds, f"{alone['processor'] / sum(parts):.1f}"]
        )
    yield from table(["", "work, s", "driver, s", "network, s", "s per iteration", "times one process"], rows)


def memory(bounded: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield what training with bounded memory took."""
    if not bounded:
        return
    first = next(iter(bounded.values()))
    yield f"## Training `chain` on {first['times']} × GENIA within {first['limit_gb']} GB of virtual memory"
    yield ""
    heads = ["features", "end", "peak, MB", "of it the corpus, MB", "iterations", "seconds", "objective"]
    rows = [
        [name, f"failed: {one['failed'][0]}", *[""] * 5]
        if "failed" in one
        else [
            name, "trained", f"{one['peak_mb']:,}", f"{one['corpus_mb']:,}", f"{one['iterations']}",
            f"{one['seconds']}", f"{one['objective']:.10g}",
        ]
        for name, one in bounded.items()
    ]  # fmt: skip
    yield from table(heads, rows)
