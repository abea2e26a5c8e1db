"""What bundles bring: entries of the training matrix and the time of an evaluation, with and without, in one run.

    python benchmarks/bundles.py --data ../shared/data [--rounds 5] [--write]

A bundle is what stands together in several rows of features, added up once (docs/architecture.md). The likelihood is
that of ``edge`` for the proteins of GENIA's training part; both are evaluated in turn at the same weights on one
thread, and the time is the least processor time of the rounds. With ``--write`` the table goes to
``benchmarks/results/bundles.md``.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from tables import rounds_and_write, write

from spanloom._native import CompressedRows, Likelihood
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.formats import read
from spanloom.models.component import Shapes
from spanloom.models.edge import EdgeComponent
from spanloom.models.supervised import supervise

SETS = ("default", "gaps")
LABEL = "protein"


def measure(features: str, data: Path, rounds: int) -> str:
    """Return a line of the table."""
    sentences = [s for doc in read(f"genia:{data}/genia?classes=5&split=train") for s in doc.sentences]
    mentions = [[m for m in s.mentions if m.label == LABEL] for s in sentences]
    rows = FeatureExtractor(FeatureSet.named(features), sites="gaps").fit(sentences)
    component = EdgeComponent(LABEL)
    gold = supervise(component, sentences, mentions, Shapes([len(s) for s in sentences]))
    made, seconds = [], []
    for bundles in (False, True):
        start = time.process_time()
        made.append(CompressedRows(rows, bundles=bundles))
        seconds.append(time.process_time() - start)
    objectives = [Likelihood(one, component.structure, gold, threads=1) for one in made]
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
    given = rounds_and_write(__doc__, 5)
    lines = [
        "| features | million entries | with bundles | bundles | ms an evaluation | with bundles | share "
        "| s to prepare | with bundles |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(measure(features, given.data, given.rounds) for features in SETS),
    ]
    print("\n".join(lines))
    if given.write:
        settings = "least processor time; `edge`, proteins of GENIA"
        write("bundles", "What bundles bring", given.rounds, settings, lines)


if __name__ == "__main__":
    main()
