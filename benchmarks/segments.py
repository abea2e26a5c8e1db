"""Time of a training iteration: chain, semi-Markov and dependency-guided models beside each other, on gold trees.

    python benchmarks/segments.py --data ../shared/data [--rounds 3] [--write]

Each round trains every model for twelve iterations on one thread, one model after the other; an iteration's time is the
least processor time of those from the third on, in all rounds: other work on the machine, which takes the cache and the
memory's bandwidth away, can only add to it. With ``--write`` the table goes to ``benchmarks/results/segments.md``.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tables import rounds_and_write, write

from spanloom import Recognizer, Sentence, read
from spanloom.learning import LBFGS
from spanloom.models import named
from spanloom.schemes import flatten

CORPORA = {
    "UNER-EWT, three types": ("uner:{}/uner-ewt?split=train", (8,)),
    "GUM, ten types": ("gum:{}/gum?split=train", (8, 40)),
}
"""Where it is, and L: the paper's, and for GUM, where every ninth mention is longer, one that holds nearly all."""

MODELS = ("semimarkov", "dgm-s", "dgm")
ITERATIONS = 12


def load(reference: str) -> list[Sentence]:
    """Return the sentences of a corpus with their outermost mentions."""
    sentences = [s for doc in read(reference) for s in doc.sentences]
    return [s.with_mentions(flatten(sorted(set(s.mentions)), "outermost")[0]) for s in sentences]


def iteration(model: str, features: str, longest: int | None, train: list[Sentence]) -> float:
    """Return the least seconds of an iteration, objective and optimiser together."""
    chosen = named(model) if longest is None else named(model).with_params(longest=longest)
    trainer = LBFGS(max_iter=ITERATIONS, l2=0.5)
    ner = Recognizer(chosen, features=features, trainer=trainer, keep="outermost", threads=1)
    times: list[float] = []
    ner.fit(train, listener=lambda _: times.append(time.process_time()))
    return float(np.diff(times)[1:].min())


def table(data: Path, rounds: int) -> Iterator[str]:
    """Return the lines of the table, as far as they are measured."""
    yield from (
        "| corpus | L | model | features | ms per iteration | of semimarkov | of chain |",
        "|---|---:|---|---|---:|---:|---:|",
    )
    for corpus, (reference, lengths) in CORPORA.items():
        train = load(reference.format(data))
        for dep in ("", "+dep"):
            what = [("chain", f"jie-chain{dep}", None)]
            what += [(model, f"jie-semi{dep}", longest) for longest in lengths for model in MODELS]
            best = dict.fromkeys(what, float("inf"))
            for _, one in itertools.product(range(rounds), what):
                best[one] = min(best[one], iteration(*one, train))
            for (model, features, longest), seconds in best.items():
                whole = best.get(("semimarkov", features, longest))
                share = f"{100 * seconds / whole:.0f} %" if whole else ""
                yield (
                    f"| {corpus} | {longest or ''} | `{model}` | `{features}` | {1000 * seconds:.0f} | {share} | "
                    f"{seconds / best[what[0]]:.1f}x |"
                )


def main() -> None:
    """Measure, print, and write if asked."""
    given = rounds_and_write(__doc__, 3)
    lines = []
    for line in table(given.data, given.rounds):
        print(line, flush=True)
        lines.append(line)
    if given.write:
        settings = (
            f"least processor time in {given.rounds} rounds of {ITERATIONS} iterations; gold trees, L2 0.5, the "
            "outermost mentions of the training parts"
        )
        write("segments", "Time of an iteration: segments and syntax", given.rounds, settings, lines)


if __name__ == "__main__":
    main()
