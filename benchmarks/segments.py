"""Time of a training iteration: chain, semi-Markov and dependency-guided models beside each other, on gold trees.

    python benchmarks/segments.py --data ../shared/data [--rounds 3] [--write]

Each round trains every model for twelve iterations on one thread, one model after the other; an iteration's time is the
median of the processor times from the third on, and a model's time that of its quickest round, so that other work on
the machine disturbs all of them alike. With ``--write`` the table goes to ``benchmarks/results/segments.md``.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from spanloom import Recognizer, Sentence, read
from spanloom.schemes import flatten

HERE = Path(__file__).resolve().parent
CORPORA = {"UNER-EWT, three types": "uner:{}/uner-ewt?split=train", "GUM, ten types": "gum:{}/gum?split=train"}
LONGEST = {"UNER-EWT, three types": (8,), "GUM, ten types": (8, 40)}
"""L: that of the paper, and for GUM, where every ninth mention is longer, one that holds nearly all."""

MODELS = {"chain": "jie-chain", "semimarkov": "jie-semi", "dgm-s": "jie-semi", "dgm": "jie-semi"}
ITERATIONS = 12


def load(reference: str) -> list[Sentence]:
    """Return the sentences of a corpus with their outermost mentions."""
    sentences = [s for doc in read(reference) for s in doc.sentences]
    return [s.with_mentions(flatten(sorted(set(s.mentions)), "outermost")[0]) for s in sentences]


def iteration(model: str, features: str, longest: int, train: list[Sentence]) -> float:
    """Return the median seconds of an iteration, objective and optimiser together."""
    limit = longest if model != "chain" else None
    ner = Recognizer(
        model, features=features, longest=limit, l2=0.5, max_iter=ITERATIONS, overlap="outermost", threads=1
    )
    times: list[float] = []
    ner.fit(train, listener=lambda _: times.append(time.process_time()))
    return float(np.median(np.diff(times)[1:]))


def table(data: Path, rounds: int) -> Iterator[str]:
    """Return the lines of the table, as far as they are measured."""
    yield from (
        "| corpus | L | model | features | ms per iteration | of semimarkov | of chain |",
        "|---|---:|---|---|---:|---:|---:|",
    )
    for corpus, reference in CORPORA.items():
        train = load(reference.format(data))
        for longest, dep in itertools.product(LONGEST[corpus], ("", "+dep")):
            best = dict.fromkeys(MODELS, float("inf"))
            for _, (model, features) in itertools.product(range(rounds), MODELS.items()):
                best[model] = min(best[model], iteration(model, features + dep, longest, train))
            for model, seconds in best.items():
                share, times = seconds / best["semimarkov"], seconds / best["chain"]
                yield (
                    f"| {corpus} | {longest} | `{model}` | `{MODELS[model]}{dep}` | {1000 * seconds:.0f} | "
                    f"{100 * share:.0f} % | {times:.1f}x |"
                )


def main() -> None:
    """Measure, print, and write if asked."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    lines = []
    for line in table(given.data, given.rounds):
        print(line, flush=True)
        lines.append(line)
    if given.write:
        head = [
            "# Time of an iteration: segments and syntax",
            "",
            f"`python benchmarks/segments.py --data FOLDER --rounds {given.rounds} --write`; {platform.machine()}, "
            f"Python {platform.python_version()}, one thread, processor time of the quickest of {given.rounds} "
            f"rounds; gold trees, L2 0.5, the outermost mentions of the training parts.",
            "",
        ]
        (HERE / "results" / "segments.md").write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
