"""``scale.py table``: the page of what was measured, and what follows from it for more machines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

NETWORK_MB = 1250.0
"""10 Gbit/s, in MB/s."""
MACHINES = (1, 2, 4, 16, 64)
LARGER = (4, 20)
"""Corpora so many times as large as the one that was measured."""
CORES = (1, 8, 32)
ABSTRACTS, ABSTRACT_WORDS = 30_000_000, 200
JOBS = {"--jobs 1": 1, "--jobs 2": 2, "--jobs 4": 2, "--engine dask --jobs 2": 2, "spark local[2]": 2}
"""How many of the machine's two cores a way can use."""


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Past one core"
    yield ""
    yield "`python benchmarks/scale.py tag`, `train`, `links`, `memory`, then `table`, of what is in `scale.json`."
    cores = sorted({one["cores"] for one in found.values()})
    yield f"The machine has {', '.join(map(str, cores))} cores. `cores had` is processor time by wall time."
    commits = sorted({one["commit"] for one in found.values()})
    yield f"Commit {', '.join(commits)}."
    yield ""
    yield from tagging(_named(found, "tag "))
    trained = _named(found, "train ")
    for times in sorted({one["times"] for one in trained.values()}):
        yield from training(times, _named(trained, f"{times} "), found.get("links"))
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
    speed = {1: by_processor(first)} | {n: n * by_processor(tagged["--jobs 2"]) for n in CORES if n > 1}
    yield (
        f"Computed: {ABSTRACTS:,} abstracts of {ABSTRACT_WORDS} words are {words:,} words. One core does in a second "
        "what one job does in a processor second, and of more cores each what two jobs do in one, as if memory and "
        "disks never got narrow."
    )
    yield ""
    cells = [[f"{n} cores", f"{v:,.0f}", f"{words / v / 60:.0f}", f"{86400 * v / words:.1f}"] for n, v in speed.items()]
    yield from table(["", "words/s", "minutes for all abstracts", "times all abstracts in a day"], cells)


# Training


def training(times: int, trained: dict[str, dict[str, Any]], links: dict[str, Any] | None) -> Iterator[str]:
    """Yield what the ways of training took on so many times GENIA."""
    whole = [one for one in trained.values() if "failed" not in one]
    if not whole:
        return
    first = whole[0]
    yield f"## Training `chain` on {times} × GENIA, {first['words']:,} words"
    yield ""
    yield (
        f"{first['features']:,} features, {first['parameters']:,} weights. Seconds and megabytes are of an evaluation "
        "of the objective and the optimiser's step to it, from the second iteration on, of as many evaluations as the "
        "table says. `sent` leaves the process with the optimiser, `received` comes back, `between` goes from worker "
        "to worker, as many as the sizes of the tables say. `load` is that of the machine at the end; processor times "
        "grow with it."
    )
    yield ""
    heads = ["way", "blocks", "wall, s", "processor of this process, s", "of workers, s", "processor, times one thread"]
    heads += ["sent, MB", "received, MB", "between, MB", "evaluations", "objective", "s to the first iteration"]
    heads += ["peak here, MB", "of workers, MB", "load", "commit"]
    rows = []
    alone = trained.get("threads 1", {}).get("processor", math.nan)
    for name, one in sorted(trained.items()):
        if "failed" in one:
            rows.append([f"{times} × GENIA, {name}", *[""] * (len(heads) - 2), f"failed: {one['failed'][0]}"])
            continue
        there = one.get("workers_processor")
        traffic = [f"{one.get(f'{way}_mb', '')}" for way in ("sent", "received", "between")]
        rows.append([
            f"{times} × GENIA, {name}", f"{one.get('blocks', '')}", f"{one['wall']:.2f}", f"{one['processor']:.2f}",
            "" if there is None else f"{there:.2f}", f"{(one['processor'] + (there or 0)) / alone:.2f}", *traffic,
            f"{one['evaluations']}", f"{one['objective']:.10g}", f"{one['to_first_iteration']}",
            f"{one['peak_mb']:,}", "; ".join(f"{mb:,}" for mb in one.get("workers_peak_mb", [])),
            f"{one['load'][0]}", one["commit"],
        ])  # fmt: skip
    yield from table(heads, rows)
    if links is not None:
        yield from on_paper(times, trained, links)


def on_paper(times: int, trained: dict[str, dict[str, Any]], links: dict[str, Any]) -> Iterator[str]:
    """Yield what more machines would give: work divided, and weights and gradients along trees of workers."""
    ways = [way for way, one in sorted(trained.items()) if "sent_mb" in one]
    if "processor" not in trained.get("threads 1", {}) or not ways:
        return
    alone, one = trained["threads 1"], trained[ways[0]]
    work, driver, size = one["workers_processor"], one["processor"], one["sent_mb"]
    task, hop = links["tasks_seconds"] / links["tasks"], links["hop_seconds"] / links["mb"] + 1 / NETWORK_MB
    add = links["add_seconds"] / links["mb"]
    yield (
        f"On paper, for machines with 10 Gbit/s. Measured: the processor times of `{ways[0]}`, {work:.2f} s of work, "
        f"which is divided by the machines, and {driver:.2f} s of the process with the optimiser, which is not; "
        f"{size:.0f} MB of weights; and, by `scale.py links` (commit {links['commit']}, load {links['load'][0]}), "
        f"{1000 * task:.2f} ms for each task of Dask, {1000 * links['hop_seconds'] / links['mb']:.2f} ms for each MB "
        f"that goes from worker to worker on loopback, and {1000 * add:.2f} ms for each MB of a sum. Computed: with n "
        "machines there are 3n - 2 tasks; weights go to one worker and from each to two others at the same time, so "
        "that they go 1 + 2 ceil(log2((n + 1) / 2)) times over a link one after the other; gradients go up log2(n) "
        "levels and once more, as if each had all rows, and are added up on each level; each time over a link takes "
        "what it takes on loopback, and 1 s for 1,250 MB. It assumes one core a machine, nothing overlapped, no worker "
        "that is late, and that as many blocks as machines are no more work than those that were measured "
        f"({one['blocks']}). One process with one thread takes {alone['processor']:.2f} s of processor time. Larger "
        "corpora take so much more work, by one process and by machines, and are assumed to have no more weights; "
        "more weights take more time on the way and of the optimiser."
    )
    yield ""
    rows = []
    for machines in MACHINES:
        levels = math.log2(machines)
        down = 1 + 2 * math.ceil(math.log2((machines + 1) / 2))
        links_used = (down + levels + 1) * size * hop
        parts = (work / machines, driver, links_used + levels * size * add, (3 * machines - 2) * task)
        seconds = [f"{x:.2f}" for x in (*parts, sum(parts))]
        gains = [k * alone["processor"] / (k * parts[0] + sum(parts[1:])) for k in (1, *LARGER)]
        rows.append([f"{times} × GENIA, {machines} machines", *seconds, *(f"{gain:.1f}" for gain in gains)])
    heads = ["", "work, s", "optimiser, s", "on the way, s", "tasks, s", "s per evaluation", "times one process"]
    heads += [f"the same on {k * times} × GENIA" for k in LARGER]
    yield from table(heads, rows)


def memory(bounded: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield what training with bounded memory took."""
    if not bounded:
        return
    first = next(iter(bounded.values()))
    yield f"## Training `chain` on {first['times']} × GENIA within {first['limit_gb']} GB of virtual memory"
    yield ""
    heads = ["features", "end", "peak, MB", "of it the corpus, MB", "iterations", "seconds", "objective", "commit"]
    rows = [
        [name, f"failed: {one['failed'][0]}", *[""] * 5, one["commit"]]
        if "failed" in one
        else [
            name, "trained", f"{one['peak_mb']:,}", f"{one['corpus_mb']:,}", f"{one['iterations']}",
            f"{one['seconds']}", f"{one['objective']:.10g}", one["commit"],
        ]
        for name, one in bounded.items()
    ]  # fmt: skip
    yield from table(heads, rows)
