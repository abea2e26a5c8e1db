"""How the time of an iteration grows with the work, against python-crfsuite on the same work.

    python benchmarks/growth.py --data ../shared/data [--only labels]

A chain over UNER-EWT, all pairs of features and labels, all transitions, L2 1.0. Both get the same rows of features and
the same labels, and make ten iterations of L-BFGS. One thing varies at a time: sentences, labels (drawn from the words,
so that only the work is meant), features a token, threads, and the length of sentences with the number of tokens kept.
Processor time on one thread, wall time on two. A picture of each in ``results/growth-*.png``, the table in
``results/growth.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pycrfsuite
from chain import L2, load, templates

from spanloom import Sentence
from spanloom._native import ChainStructure, CompressedRows, Lbfgs, Likelihood, SparseRows
from spanloom.features import FeatureExtractor, FeatureSet

RESULTS = Path(__file__).resolve().parent / "results"
ITERATIONS = 10
NAMES = {
    "sentences": "sentences",
    "labels": "labels",
    "features": "features a token",
    "threads": "threads",
    "length": "tokens a sentence",
}


@dataclass(frozen=True)
class Work:
    """What is trained on; ``length`` 0 leaves sentences as they are."""

    sentences: int = 600
    labels: int = 9
    templates: int = 23
    threads: int = 1
    length: int = 0


VARIED = {
    "sentences": [Work(sentences=n) for n in (150, 300, 600, 1200, 2400)],
    "labels": [Work(labels=n) for n in (3, 9, 18, 36, 72)],
    "features": [Work(templates=n) for n in (1, 2, 4, 10, 23)],
    "threads": [Work(threads=n) for n in (1, 2)],
    "length": [Work(length=n) for n in (5, 20, 80, 320, 1280)],
}


def tokens(data: str, work: Work) -> list[list[str]]:
    """Return the words of the sentences, cut to one length if that is wanted."""
    words = load(data, "train", False)[0][: work.sentences]
    if not work.length:
        return words
    flat = [w for sentence in words for w in sentence]
    return [flat[i : i + work.length] for i in range(0, len(flat), work.length)]


def label_of(word: str, labels: int) -> int:
    """Return a label that depends on the word alone."""
    return zlib.crc32(word.encode()) % labels


def ours(rows: SparseRows, gold: list[list[int]], work: Work) -> float:
    """Return the seconds of an iteration, preparation left out."""
    size = work.labels
    one = np.ones(size, np.uint8)
    cells, ptr = [], [0]
    for ys in gold:
        y, n = np.array(ys, np.int32), len(ys)
        cells += [np.arange(n, dtype=np.int32) * size + y, n * size + y[:-1] * size + y[1:]]
        ptr.append(ptr[-1] + 2 * n - 1)
    chain = ChainStructure(size, np.ones(size**2, np.uint8), one, one)
    cells_all = np.concatenate(cells).astype(np.int32)
    objective = Likelihood(CompressedRows(rows), chain, np.array(ptr), cells_all, threads=work.threads)
    clock = time.process_time if work.threads == 1 else time.perf_counter
    start = clock()
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=L2, threads=work.threads)
    for _ in range(ITERATIONS):
        optimiser.iterate()
    return (clock() - start) / ITERATIONS


def crfsuite(rows: SparseRows, gold: list[list[int]]) -> float:
    """Return the same for python-crfsuite."""
    trainer = pycrfsuite.Trainer(verbose=False)
    ids, row_ptr, group_ptr = rows.ids, rows.row_ptr, rows.group_ptr
    for g, y in enumerate(gold):
        sites = range(group_ptr[g], group_ptr[g + 1])
        trainer.append([[str(f) for f in ids[row_ptr[r] : row_ptr[r + 1]]] for r in sites], [str(k) for k in y])
    trainer.select("lbfgs")
    trainer.set_params({"c1": 0, "c2": L2, "feature.possible_states": True, "feature.possible_transitions": True})
    trainer.set("max_iterations", ITERATIONS)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "m"))
    return sum(i["time"] for i in trainer.logparser.iterations) / len(trainer.logparser.iterations)


def measure(data: str, name: str) -> list[tuple[float, float, float]]:
    """Return (how much, seconds of python-crfsuite, seconds of spanloom) for every size of the work."""
    found: list[tuple[float, float, float]] = []
    theirs: dict[Work, float] = {}
    for work in VARIED[name]:
        words = tokens(data, work)
        extractor = FeatureExtractor(FeatureSet(templates()[: work.templates]))
        rows = extractor.fit([Sentence(w) for w in words], 1)
        gold = [[label_of(w, work.labels) for w in sentence] for sentence in words]
        same = replace(work, threads=1)  # CRFsuite works on one
        if same not in theirs:
            theirs[same] = crfsuite(rows, gold)
        sites = sum(map(len, words))
        amount = {"features": rows.entries / sites, "sentences": len(words)}.get(name, getattr(work, name, 0))
        found.append((round(float(amount), 1), theirs[same], min(ours(rows, gold, work) for _ in range(3))))
    return found


def draw(name: str, points: list[tuple[float, float, float]]) -> None:
    """Draw both against the amount of work."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
    amounts = [p[0] for p in points]
    axes.plot(amounts, [1e3 * p[1] for p in points], "o-", color="#999999", label="python-crfsuite")
    axes.plot(amounts, [1e3 * p[2] for p in points], "o-", color="#1f5fa8", label="spanloom")
    if name == "threads":
        axes.set_xticks(amounts)
        axes.set_ylim(bottom=0)
    else:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(amounts, [f"{a:g}" for a in amounts], minor=False)
        axes.minorticks_off()
    axes.set_xlabel(NAMES[name])
    axes.set_ylabel("milliseconds an iteration")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(RESULTS / f"growth-{name}.png", dpi=130)
    plt.close(figure)


def main() -> None:
    """Measure what is wanted; write pictures and table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--only", choices=list(VARIED))
    args = parser.parse_args()
    kept = RESULTS / "growth.json"
    results = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name in [args.only] if args.only else VARIED:
        results[name] = measure(args.data, name)
        draw(name, results[name])
    kept.write_text(json.dumps({n: results[n] for n in VARIED if n in results}, indent=1) + "\n", encoding="utf-8")
    text = [
        "# Cost as work grows",
        "",
        f"Milliseconds of an iteration of L-BFGS, mean of {ITERATIONS}; a chain over {Work().sentences} sentences of "
        f"UNER-EWT with {Work().labels} labels unless said otherwise.",
        "",
        "| what grows | to | python-crfsuite | spanloom | ratio |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {NAMES[name]} | {amount:g} | {1e3 * a:.1f} | {1e3 * b:.1f} | {a / b:.1f} |"
            for name in VARIED
            for amount, a, b in results.get(name, [])
        ),
        "",
        f"Processor time on one thread, wall time on two; Python {platform.python_version()}, {platform.machine()}. "
        "Made by `python benchmarks/growth.py`.",
    ]
    print("\n".join(text))
    (RESULTS / "growth.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
