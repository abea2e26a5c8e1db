"""Cost as work grows: seconds of training by sentences, labels, features, sentence length and threads.

    python benchmarks/growth.py --data ../shared/data [--only labels] [--draw]

The work is a chain of IOBES labels on UNER-EWT with the features of ``benchmarks/chain.py``. One thing grows, the rest
stays at 1,000 sentences, 13 labels and 40 features a token. Labels: four for each of so many kinds of entities, which
are made by the characters of their words. Features: the first of each token. Sentence length: neighbours are joined,
the words stay the same. Every point runs in a process of its own: processor time of one thread, for threads wall time.

spanloom, python-crfsuite
    Ten iterations of L-BFGS over all pairs of feature and label, from ready features to weights: preparation counts,
    making features does not.
spaCy
    One epoch of ``ner`` (the default ``tok2vec`` of ``spacy init config``, batches of 64 sentences). It has features
    of its own, so that their number does not count. An epoch is not ten iterations: compare how costs grow.

Results go to ``benchmarks/results/growth.json``, the table and the picture beside it; ``--draw`` makes these again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from itertools import islice
from pathlib import Path
from typing import Any

from chain import python_features
from tables import RESULTS, commit

ITERATIONS = 10
L2 = 1.0
SENTENCES, LABELS, FEATURES = 1000, 13, 100
GROWTH: dict[str, list[int]] = {
    "sentences": [250, 1000, 4000],
    "labels": [5, 13, 25, 49],
    "features": [5, 10, 20, 40],
    "length": [10, 40, 160, 640],
    "threads": [1, 2],
}
TITLES = {
    "sentences": "sentences",
    "labels": "labels",
    "features": "features a token, at most",
    "length": "words a sentence, at least",
    "threads": "threads (wall time)",
}
SYSTEMS = {"spanloom": "spanloom", "crfsuite": "python-crfsuite", "spacy": "spaCy ner, one epoch"}
Words = list[list[str]]


def work(data: Path, what: str, size: int) -> tuple[Words, Words]:
    """Return the words and labels of the sentences of one point."""
    from spanloom import read

    count = size if what == "sentences" else SENTENCES
    kinds = ((size if what == "labels" else LABELS) - 1) // 4
    words: Words = []
    labels: Words = []
    for sentence in islice(read(f"uner:{data}/uner-ewt?split=train").sentences(), count):
        tags = ["O"] * len(sentence)
        for m in sentence.mentions:
            kind = sum(map(ord, " ".join(sentence.tokens[m.start : m.end]))) % kinds
            for t in range(m.start, m.end):
                place = "S" if m.end - m.start == 1 else "B" if t == m.start else "E" if t == m.end - 1 else "I"
                tags[t] = f"{place}-{kind}"
        words.append(list(sentence.tokens))
        labels.append(tags)
    if what == "length":
        words, labels = joined(words, size), joined(labels, size)
    return words, labels


def joined(rows: Words, least: int) -> Words:
    """Join neighbours until each has so many members."""
    out: Words = [[]]
    for row in rows:
        if len(out[-1]) >= least:
            out.append([])
        out[-1] += row
    return out


def features(words: Words, most: int) -> list[list[list[str]]]:
    """Ready features, as many a token as asked for."""
    return [[token[:most] for token in python_features(sentence)] for sentence in words]


def spanloom(words: Words, labels: Words, most: int, threads: int) -> float:
    """Seconds of ten iterations, with preparation."""
    import numpy as np

    from spanloom._native import ChainStructure, CompressedRows, Lbfgs, Likelihood, SparseRows, Supervision

    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(f, len(numbers)) for f in token] for s in features(words, most) for token in s]
    names = sorted({y for ys in labels for y in ys})
    size = len(names)
    cells, ptr = [], [0]
    for ys in labels:
        y = np.array([names.index(label) for label in ys], np.int32)
        cells += [np.arange(len(y), dtype=np.int32) * size + y, len(y) * size + y[:-1] * size + y[1:]]
        ptr.append(ptr[-1] + max(2 * len(y) - 1, 0))
    groups = np.cumsum([0, *map(len, words)])
    row_ptr = np.cumsum([0, *map(len, rows)])
    ids = np.array([f for row in rows for f in row], np.uint32)
    known = Supervision(np.array(ptr), np.concatenate(cells).astype(np.int32))
    ones = np.ones(size, np.uint8)
    chain = ChainStructure(size, np.ones(size * size, np.uint8), ones, ones)
    start, cores = clock(threads), threads or 1
    compressed = CompressedRows(SparseRows(groups, row_ptr, ids, len(numbers)), threads=cores)
    objective = Likelihood(compressed, chain, known, threads=cores)
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=L2, threads=cores)
    for _ in range(ITERATIONS):
        optimiser.iterate()
    return clock(threads) - start


def crfsuite(words: Words, labels: Words, most: int, threads: int) -> float:
    """The same."""
    import pycrfsuite

    ready = [pycrfsuite.ItemSequence(sentence) for sentence in features(words, most)]
    start = clock(threads)
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in zip(ready, labels, strict=True):
        trainer.append(x, y)
    trainer.select("lbfgs")
    trainer.set_params({"c1": 0, "c2": L2, "feature.possible_states": True, "feature.possible_transitions": True})
    trainer.set_params({"max_iterations": ITERATIONS, "period": 1000})
    trainer.train(os.devnull)
    return clock(threads) - start


def spacy(words: Words, labels: Words, most: int, threads: int) -> float:
    """Seconds of an epoch."""
    warnings.simplefilter("ignore")
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example, iob_utils

    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    examples = []
    for tokens, tags in zip(words, labels, strict=True):
        made = [tag.replace("S-", "U-").replace("E-", "L-") for tag in tags]
        gold = Doc(nlp.vocab, words=tokens)
        gold.ents = iob_utils.biluo_tags_to_spans(gold, made)
        examples.append(Example(Doc(nlp.vocab, words=tokens), gold))
    nlp.initialize(lambda: examples)
    start = clock(threads)
    for first in range(0, len(examples), 64):
        nlp.update(examples[first : first + 64])
    return clock(threads) - start


def clock(threads: int) -> float:
    """Processor time, or wall time where threads are compared."""
    return time.process_time() if threads == 0 else time.perf_counter()


def one(data: Path, system: str, what: str, size: int) -> None:
    """Print the seconds of one point."""
    words, labels = work(data, what, size)
    most = size if what == "features" else FEATURES
    # 0: one thread, and its processor time.
    threads = size if what == "threads" else 0
    run = {"spanloom": spanloom, "crfsuite": crfsuite, "spacy": spacy}[system]
    print(json.dumps(run(words, labels, most, threads)))


def measure(data: Path, only: str | None) -> None:
    """Run all points, or those of one kind, and keep them."""
    path = RESULTS / "growth.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for what, sizes in GROWTH.items():
        if only not in (None, what):
            continue
        points: dict[str, Any] = {"commit": commit(), "sizes": sizes}
        for system in SYSTEMS:
            points[system] = []
            for size in sizes:
                if (what == "threads" and size > 1 and system != "spanloom") or (what, system) == ("features", "spacy"):
                    continue
                command = [sys.executable, __file__, "--data", str(data), "--one", system, what, str(size)]
                env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
                done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
                points[system].append(float(done.stdout.splitlines()[-1]))
                print(what, system, size, f"{points[system][-1]:.2f} s", flush=True)
        found[what] = points
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def draw() -> None:
    """Write the table and the picture of what is there."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = json.loads((RESULTS / "growth.json").read_text(encoding="utf-8"))
    shown = [what for what in GROWTH if what in found]
    lines = [
        "# Cost as work grows",
        "",
        "![Seconds of training by sentences, labels, features, length and threads](growth.png)",
        "",
        f"`python benchmarks/growth.py`; {platform.machine()}, Python {platform.python_version()}. Seconds of ten "
        "iterations with preparation, for spaCy of one epoch; processor time of one thread, for threads wall time.",
        "",
        "| what grows | size | spanloom | python-crfsuite | ratio | spaCy `ner`, one epoch | commit |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    figure, axes = plt.subplots(1, len(shown), figsize=(3.1 * len(shown), 3.3), constrained_layout=True, squeeze=False)
    colours = {"spanloom": "#1b7837", "crfsuite": "#762a83", "spacy": "#2b6cb0"}
    for axis, what in zip(axes[0], shown, strict=True):
        points = found[what]
        for system, name in SYSTEMS.items():
            if points[system]:
                axis.plot(
                    points["sizes"][: len(points[system])], points[system], "o-", color=colours[system], label=name
                )
        axis.set(xscale="log", yscale="log", xlabel=TITLES[what])
        axis.set_xticks(points["sizes"], [f"{size:,}" for size in points["sizes"]])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
        for i, size in enumerate(points["sizes"]):
            cells = [points[system][i] if i < len(points[system]) else None for system in SYSTEMS]
            mine, theirs, other = cells
            ratio = "" if mine is None or theirs is None else f"{theirs / mine:.1f}×"
            texts = ["" if seconds is None else f"{seconds:.2f} s" for seconds in (mine, theirs)]
            last = "" if other is None else f"{other:.2f} s"
            lines.append(f"| {what} | {size:,} | {' | '.join(texts)} | {ratio} | {last} | {points['commit']} |")
    axes[0][0].set_ylabel("seconds")
    axes[0][0].legend(fontsize=8, frameon=False)
    figure.savefig(RESULTS / "growth.png", dpi=110)
    (RESULTS / "growth.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Measure, or draw what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", choices=GROWTH, help="measure one thing that grows; the others stay as they are")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        system, what, size = args.one
        one(args.data, system, what, int(size))
        return
    if not args.draw:
        measure(args.data, args.only)
    draw()


if __name__ == "__main__":
    main()
