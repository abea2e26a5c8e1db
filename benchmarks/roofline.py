"""How near training is to what this machine can do: bandwidth, gathers, and the share of an iteration that they take.

    python benchmarks/roofline.py --data ../shared/data [--sentences 1500]

An evaluation of the objective must *gather*: for the scores, a row of weights for each class and bundle of each site;
for the gradient, a row of differences for each site of each class and bundle. An iteration of L-BFGS must *move* its
vectors: twice the history, and x, gradient and direction. What else an evaluation does is measured by itself: inference
by the same sentences with one feature at each site, and the turn of weights into single precision. The machine's gather
rate is that of the same kernel on random rows of a table of the same size, its bandwidth that of adding two long
arrays. Processor time on one thread, least of several.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tables
from edge import load

from spanloom._native import ChoiceStructure, CompressedRows, Decoder, Lbfgs, Likelihood, SparseRows
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.models import Chain, Edge, Shapes
from spanloom.models.supervised import supervise
from spanloom.schemes import flatten

HERE = Path(__file__).resolve().parent
MEMORY = 6
BYTES = 2 * 2 * MEMORY * 4 + 80
"""Moved in an iteration for each parameter: the history twice, in float; x, gradient, their successors and the
direction, each read or written once or twice."""


def least(work: Callable[[], object], times: int = 9) -> float:
    """Return the least processor time of some work."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def bandwidth() -> float:
    """Return bytes a second of adding two arrays that no cache holds."""
    a, b, c = (np.ones(1 << 23) for _ in range(3))
    return 3 * a.nbytes / least(lambda: np.add(a, b, out=c))


def gather_rate(classes: int, columns: int, entries: int) -> float:
    """Return rows a second that are gathered from random places of a table, 20 to a sum."""
    random = np.random.default_rng(1)
    rows = max(entries // 20, 1)
    ids = random.integers(0, classes, 20 * rows).astype(np.uint32)
    table = SparseRows(np.array([0, rows]), 20 * np.arange(rows + 1), ids, classes)
    decoder = Decoder(ChoiceStructure(columns), np.ones(classes * columns, np.float32), np.zeros(0))
    return len(ids) / least(lambda: decoder.scores(table, 1))


def measure(name: str, model: Chain | Edge, data: Path, sentences: int, speed: float) -> str:
    """Return a line of the table."""
    train = load("train", data, sentences)
    gold = [flatten(s.mentions, "longest")[0] if name == "chain" else s.mentions for s in train]
    shapes = Shapes([len(s) for s in train])
    rows = FeatureExtractor(FeatureSet.named("default"), model.sites).fit(train, 1)
    component = model.components(gold, shapes.lengths)[0]
    merged = CompressedRows(rows)
    objective = Likelihood(merged, component.structure, supervise(component, train, gold, shapes), threads=1)
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=0.1, memory=MEMORY, threads=1)
    for _ in range(2 * MEMORY):
        optimiser.iterate()
    x = optimiser.x()
    evaluation, iteration = least(lambda: objective.evaluate(x)), least(optimiser.iterate)
    supervised = supervise(component, train, gold, shapes)
    bare = FeatureExtractor(FeatureSet(["bias"]), model.sites).fit(train, 1)
    plain = Likelihood(CompressedRows(bare), component.structure, supervised, threads=1)
    inference, turned = least(lambda: plain.evaluate(np.zeros(plain.size))), least(lambda: x.astype(np.float32))
    gathers = 2 * merged.entries / gather_rate(merged.classes, component.structure.columns, merged.entries)
    moves = BYTES * objective.size / speed
    outside = max(iteration - evaluation, 1e-9)
    return (
        f"| {name} | {2 * merged.entries:,} | {1e3 * gathers:.1f} | {1e3 * evaluation:.1f} | "
        f"{gathers / evaluation:.0%} | {1e3 * inference:.1f} | {1e3 * turned:.1f} | "
        f"{BYTES * objective.size / 1e6:.0f} | {1e3 * moves:.1f} | {1e3 * outside:.1f} | {moves / outside:.0%} |"
    )


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sentences", type=int, default=1500)
    options = parser.parse_args()
    speed = bandwidth()
    models: list[tuple[str, Chain | Edge]] = [("edge", Edge()), ("chain", Chain())]
    lines = [measure(name, model, options.data, options.sentences, speed) for name, model in models]
    text = [
        f"# Roofline: one component on {options.sentences:,} sentences of GENIA",
        "",
        "| model | gathers | they must take, ms | an evaluation takes | share | inference | turn of weights | "
        "MB moved by L-BFGS | they must take, ms | L-BFGS takes | share |",
        "|" + "---|" * 11,
        *lines,
        "",
        f"Bandwidth {speed / 1e9:.1f} GB/s. The rest of an evaluation is inference (forward, backward, marginals; "
        "by itself, with one feature a site) and the turn of weights into single precision. One thread, processor "
        f"time; Python {platform.python_version()}, {platform.machine()}, commit {tables.commit()}. Made by "
        "`python benchmarks/roofline.py --sentences "
        f"{options.sentences}`.",
    ]
    print("\n".join(text))
    (HERE / "results" / "roofline.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
