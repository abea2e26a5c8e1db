"""Tagging speed of the models, and of two versions of spanloom on the same model files, by turns.

    python benchmarks/tagging.py --data ../shared/data [--before OTHER_ENVIRONMENT/bin/python --name COMMIT] [--write]

The models are trained briefly, since speed does not go by how good the weights are. They are saved by the older
version, and both tag the same sentences with the same files. Processor time on one thread, the least of the rounds,
which take turns; sentences are Python objects, and so are mentions. *same* says whether both versions find the same
mentions with the same probabilities, to the last bit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import tables

FLAT = "genia:{data}/genia?classes=5&split=train"
ALL = "genia:{data}/genia?classes=22&split=train"
BROKEN = "genia:{data}/genia?classes=5&coordination=expand&split=train"
TREES = "uner:{data}/uner-ewt?split=train"

WORK: dict[str, tuple[str, int, dict[str, Any]]] = {
    "chain": (FLAT, 1500, {"model": "chain", "max_iter": 15}),
    "edge": (FLAT, 1500, {"model": "edge", "max_iter": 15}),
    "state": (FLAT, 1500, {"model": "state", "max_iter": 15}),
    "semimarkov": (TREES, 3000, {"model": "semimarkov", "features": "jie-semi", "longest": 8, "max_iter": 15}),
    "dgm": (TREES, 3000, {"model": "dgm", "features": "jie-semi", "longest": 8, "max_iter": 15}),
    "dgm-s": (TREES, 3000, {"model": "dgm-s", "features": "jie-semi", "longest": 8, "max_iter": 15}),
    "memm": (FLAT, 1500, {"model": "memm", "max_iter": 15}),
    "memm, beam 5": (FLAT, 1500, {"model": "memm", "beam": 5, "max_iter": 15}),
    "joined memm": (ALL, 1500, {"model": "joined", "base": "memm", "max_iter": 10}),
    "joined chain": (ALL, 400, {"model": "joined", "base": "chain", "rare": 5, "max_iter": 10}),
    "multilabel": (BROKEN, 800, {"model": "multilabel", "features": "mcdonald", "max_iter": 3}),
    "multilabel, rescoring": (
        BROKEN,
        800,
        {"model": "multilabel", "features": "mcdonald", "max_iter": 3, "rescore": True},
    ),
}
"""By name: the corpus, how many of its sentences train, and the settings."""
TAGGED = 1000
"""So many sentences after those are tagged."""
TIMES, ENOUGH = 3, 2.0
"""In a round they are tagged so often, or until it has taken so many seconds."""
BELIEVING = ("chain", "edge", "state", "semimarkov", "dgm", "memm", "memm, beam 5")
"""Models whose speed with probabilities is measured too."""


def sentences_of(reference: str, data: Path, first: int, last: int) -> list[Any]:
    """Return some sentences of a corpus."""
    return corpus(reference.format(data=data))[first:last]


@cache
def corpus(reference: str) -> list[Any]:
    """Return all sentences of a corpus, as far as any model needs them."""
    from spanloom import read

    sentences = (s for doc in read(reference) for s in doc.sentences if len(s))
    return list(islice(sentences, max(count for _, count, _ in WORK.values()) + TAGGED))


def train(data: Path, names: list[str], folder: Path) -> None:
    """Train the models and save them."""
    from spanloom.configuration import configure

    for name in names:
        reference, count, settings = WORK[name]
        ner = configure({**settings, "keep": "longest", "threads": 1}).set_params(tokenizer=str.split)
        ner.fit(sentences_of(reference, data, 0, count)).save(folder / f"{name}.loom")


def tag(data: Path, names: list[str], folder: Path) -> None:
    """Print the seconds of this version for each model, and a digest of what it finds."""
    from spanloom import Recognizer

    found: dict[str, list[Any]] = {}
    for name in names:
        reference, count, _ = WORK[name]
        test = [s.with_mentions([]) for s in sentences_of(reference, data, count, count + TAGGED)]
        ner = Recognizer.load(folder / f"{name}.loom", threads=1)
        ner.predict(test[:20])
        for what in ("", ", probabilities")[: 1 + (name in BELIEVING)]:
            times: list[float] = []
            while len(times) < TIMES and sum(times) < ENOUGH:
                start = time.process_time()
                done = ner.predict(test, probabilities=bool(what))
                times.append(time.process_time() - start)
            mentions = [[(m.label, m.parts, m.prob) for m in s.mentions] for s in done]
            digest = hashlib.sha256(json.dumps(mentions).encode()).hexdigest()[:12]
            found[name + what] = [min(times), sum(map(len, test)), sum(map(len, mentions)), digest]
    print(json.dumps(found))


def run(python: str, action: str, data: Path, names: list[str], folder: Path) -> Any:
    """Run ``train`` or ``tag`` with an interpreter."""
    command = [python, __file__, "--child", action, "--data", str(data), "--folder", str(folder)]
    command += [option for name in names for option in ("--only", name)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=os.sep)
    return json.loads(done.stdout.splitlines()[-1]) if action == "tag" else None


def table(rounds: dict[str, list[dict[str, list[Any]]]]) -> list[str]:
    """Return the lines of the table; the rounds of the older version come first, if there is one."""
    *older, newer = ({name: min(r[name][0] for r in own) for name in own[0]} for own in rounds.values())
    *_, (last, *_) = rounds.values()
    if not older:
        return ["| model | words/s |", "|---|---:|", *(f"| {n} | {last[n][1] / t:,.0f} |" for n, t in newer.items())]
    (before, *_), _ = rounds.values()
    lines = ["| model | before, words/s | after, words/s | times | same |", "|---|---:|---:|---:|---|"]
    for name, (_, words, _, digest) in last.items():
        old, new = older[0][name], newer[name]
        same = "yes" if before[name][3] == digest else "no"
        lines.append(f"| {name} | {words / old:,.0f} | {words / new:,.0f} | {old / new:.2f} | {same} |")
    return lines


def main() -> None:
    """Train, tag by turns, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--before", help="an interpreter that has another version; it trains")
    parser.add_argument("--name", default="the other version", help="of the version before, such as its commit")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", action="append", choices=WORK, help="a model; may be repeated")
    parser.add_argument(
        "--folder", type=Path, help="with model files of an earlier run; those that are missing are made"
    )
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/tagging.md")
    parser.add_argument("--child", choices=("train", "tag"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    data, names = given.data.resolve(), given.only or list(WORK)
    if given.child:
        {"train": train, "tag": tag}[given.child](data, names, given.folder)
        return
    with tempfile.TemporaryDirectory() as own:
        folder = given.folder or Path(own)
        versions = [given.before, sys.executable] if given.before else [sys.executable]
        missing = [name for name in names if not (folder / f"{name}.loom").exists()]
        run(versions[0], "train", data, missing, folder)
        rounds: dict[str, list[dict[str, list[Any]]]] = {python: [] for python in versions}
        for _ in range(given.rounds):
            for python, done in rounds.items():
                done.append(run(python, "tag", data, names, folder))
    lines = table(rounds)
    print("\n".join(lines))
    if given.write:
        lines += ["", f"Before: {given.name}; after: the commit above."] if given.before else []
        settings = f"{TAGGED:,} sentences; processor time, the least of the rounds"
        tables.write("tagging", "Tagging", given.rounds, settings, lines)


if __name__ == "__main__":
    main()
