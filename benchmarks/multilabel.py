"""Where the time and the memory of ``multilabel`` go: an epoch on GENIA with broken mentions, tagging, three sizes.

    python benchmarks/multilabel.py --data ../shared/data [--share 0.25 --share 0.5 --share 1]

GENIA's training part with five types and its coordinations expanded, features ``mcdonald``, k = n, the widest gap of
the data. Each size runs in a process of its own. Processor time on one thread; phases are shares of the second epoch,
as the first one starts from weights that are all zero. Memory is the peak of the process before and after training, and
what an epoch and tagging add to it. The table goes to ``benchmarks/results/multilabel.md``.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

from spanloom import Recognizer, Sentence
from spanloom._native import SubsetEpoch, SubsetLearner
from spanloom.formats import read
from spanloom.learning import Mira, online

HERE = Path(__file__).resolve().parent
PHASES = ("scoring", "searching", "solving", "updating")


class Watched:
    """A learner whose epochs are kept, with their processor time and the peak memory after them."""

    epochs: ClassVar[list[tuple[float, float, SubsetEpoch]]] = []

    def __init__(self, *arguments: Any) -> None:
        self.learner = SubsetLearner(*arguments)

    def epoch(self) -> SubsetEpoch:
        """Do an epoch."""
        start = time.process_time()
        done = self.learner.epoch()
        self.epochs.append((time.process_time() - start, peak(), done))
        return done

    def weights(self, averaged: bool) -> Any:
        """Return the weights."""
        return self.learner.weights(averaged)


def peak() -> float:
    """The peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load(split: str, data: Path) -> list[Sentence]:
    """The sentences of a part of GENIA."""
    ref = f"genia:{data / 'genia'}?classes=5&coordination=expand&split={split}"
    return [s for doc in read(ref) for s in doc.sentences]


def measure(data: Path, share: float) -> dict[str, Any]:
    """Train two epochs on a share of the training part and tag the test part."""
    train, test = load("train", data), load("test", data)
    train = train[: round(share * len(train))]
    corpus = peak()
    online.SubsetLearner = Watched  # type: ignore[assignment, misc]
    ner = Recognizer("multilabel", features="mcdonald", trainer=Mira(max_iter=2), threads=1).fit(train)
    seconds, learned, second = Watched.epochs[1]
    ner.predict(test[:50])
    before, start = peak(), time.process_time()
    ner.predict(test, probabilities=False)
    tagging = time.process_time() - start
    total = sum(getattr(second, phase) for phase in PHASES)
    weights = ner.trained_.weights
    return {
        "share": share,
        "sentences": len(train),
        "tokens": sum(map(len, train)),
        "gap": ner.trained_.gap,
        "first": Watched.epochs[0][0],
        "seconds": seconds,
        **{phase: getattr(second, phase) / total for phase in PHASES},
        "words_per_second": sum(map(len, test)) / tagging,
        "corpus": corpus,
        "peak": learned,
        "weights": (weights.tokens.nbytes + weights.pairs.nbytes) / 2**20,
        "tagging": peak() - before,
    }


def main() -> None:
    """Measure every size and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--share", type=float, action="append", help="of the training part; may be repeated")
    parser.add_argument("--alone", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone is not None:
        print(json.dumps(measure(options.data, options.alone)))
        return
    rows = []
    for share in options.share or [0.25, 0.5, 1.0]:
        command = [sys.executable, str(HERE / "multilabel.py"), "--data", str(options.data), "--alone", str(share)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout))
        (HERE / "results" / "multilabel.md").write_text("\n".join(table(rows)) + "\n", encoding="utf-8")


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The table as lines."""
    names = ["sentences", "tokens", "epoch s (first)", "epoch s", *(f"{p} %" for p in PHASES), "words/s"]
    names += ["corpus MB", "peak MB", "of it weights", "more for tagging"]
    lines = ["# multilabel on GENIA", "", "| " + " | ".join(names) + " |", "|" + "---:|" * len(names)]
    for r in rows:
        cells = [f"{r['sentences']:,}", f"{r['tokens']:,}", f"{r['first']:.1f}", f"{r['seconds']:.1f}"]
        cells += [f"{100 * r[p]:.0f}" for p in PHASES]
        cells += [f"{r['words_per_second']:,.0f}"]
        cells += [f"{r[name]:,.0f}" for name in ("corpus", "peak", "weights", "tagging")]
        lines.append("| " + " | ".join(cells) + " |")
    return [
        *lines,
        "",
        f"Five types, features `mcdonald`, k = n, gaps of up to {max(r['gap'] for r in rows)} tokens as in the data. "
        "*scoring* reads the features of tokens and pairs, *searching* finds the k best subsets, *solving* the "
        "smallest change of the weights, *updating* makes it.",
        "",
        f"Processor time on one thread; Python {platform.python_version()}, {platform.machine()}. Made by "
        "`python benchmarks/multilabel.py`.",
    ]


if __name__ == "__main__":
    main()
