"""What bundles bring: entries of the training matrix and the time of an evaluation, with and without, in one run.

    python benchmarks/bundles.py --data ../shared/data [--rounds 5] [--write]

A bundle is what stands together in several rows of features, added up once (docs/architecture.md). The likelihood is
that of ``edge`` for the proteins of GENIA's training part; both are evaluated in turn at the same weights on one
thread, and the time is the least processor time of the rounds. With ``--write`` the table goes to
``benchmarks/results/bundles.md``.
"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path

import numpy as np

from spanloom._native import CompressedRows, Likelihood
from spanloom.corpus import read
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.models.base import Shapes
from spanloom.models.edge import EdgeComponent
from spanloom.training import gold_cells

HERE = Path(__file__).resolve().parent
SETS = ("default", "gaps")
LABEL = "protein"


def measure(features: str, data: Path, rounds: int) -> str:
    """Return a line of the table."""
    sentences = [s for doc in read(f"genia:{data}/genia?classes=5&split=train") for s in doc.sentences]
    mentions = [[m for m in s.mentions if m.label == LABEL] for s in sentences]
    rows = FeatureExtractor(FeatureSet.named(features), sites="gaps").fit(sentences)
    component = EdgeComponent(LABEL)
    gold = gold_cells(component, mentions, Shapes([len(s) for s in sentences]))
    made, seconds = [], []
    for bundles in (False, True):
        start = time.process_time()
        made.append(CompressedRows(rows, bundles=bundles))
        seconds.append(time.process_time() - start)
    objectives = [Likelihood(one, component.structure, *gold, threads=1) for one in made]
    theta = np.random.default_rng(1).normal(scale=0.01, size=objectives[0].size)
    best = [float("inf")] * 2
    for _ in range(rounds):
        for i, objective in enumerate(objectives):
            start = time.process_time()
            objective.evaluate(theta)
            best[i] = min(best[i], time.process_time() - start)
    plain, with_bundles = made
    return (
        f"| `{features}` | {plain.entries / 1e6:.1f} | {with_bundles.entries / 1e6:.1f} | {with_bundles.bundles:,} | "
        f"{1000 * best[0]:.0f} | {1000 * best[1]:.0f} | {best[1] / best[0]:.2f} | {seconds[0]:.1f} | {seconds[1]:.1f} |"
    )


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = [
        "| features | million entries | with bundles | bundles | ms an evaluation | with bundles | share "
        "| s to prepare | with bundles |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(measure(features, given.data, given.rounds) for features in SETS),
    ]
    print("\n".join(lines))
    if given.write:
        head = [
            "# What bundles bring",
            "",
            f"`python benchmarks/bundles.py --data FOLDER --rounds {given.rounds} --write`; {platform.machine()}, "
            f"Python {platform.python_version()}, one thread, least processor time; `edge`, proteins of GENIA.",
            "",
        ]
        (HERE / "results" / "bundles.md").write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
