"""Ten L2 penalties by ``tune`` against one training, and a training from a model of 95 % of the data.

    python benchmarks/tuning.py --data ../shared/data [--sentences 400 1500] [--model edge]

GENIA with five types, default features, one thread, in processor time, each training to its tolerance. ``tune`` goes
from the largest penalty to the smallest and starts each training from the optimum of the one before.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tables
from edge import load

from spanloom.configuration import configure
from spanloom.tuning import L2_VALUES, tune

HERE = Path(__file__).resolve().parent


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of some work, and what it gives."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def measure(data: Path, sentences: int, model: str) -> list[str]:
    """Return the table of a size."""
    train = load("train", data, sentences)
    test = load("test", data, 200)
    base = {"model": model, "keep": "longest", "threads": 1, "max_iter": 2000}
    rows = []
    alone, ner = seconds(lambda: configure(base).fit(train))
    rows.append(("one training, l2 = 0.1", alone, len(ner.history_)))
    spent, found = seconds(lambda: tune(train, test, base=base, processes=1))
    steps = sum(len(trial.objective) for trial in found.trials)
    rows.append((f"{len(L2_VALUES)} values of l2 by tune", spent, steps))
    apart = [seconds(lambda value=value: configure({**base, "l2": value}).fit(train)) for value in L2_VALUES]
    name = f"{len(L2_VALUES)} values of l2, each from zero"
    rows.append((name, sum(s for s, _ in apart), sum(len(n.history_) for _, n in apart)))
    before = configure(base).fit(train[: -len(train) // 20])
    warm, again = seconds(lambda: configure(base).fit(train, start=before))
    rows.append(("from a model of 95 % of the sentences", warm, len(again.history_)))
    return [
        f"{len(train):,} sentences:",
        "",
        "| what | processor seconds | iterations | of one training |",
        "|---|---|---|---|",
        *(f"| {name} | {spent:.1f} | {n} | {spent / alone:.2f} |" for name, spent, n in rows),
        "",
    ]


def main() -> None:
    """Run all and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sentences", type=int, nargs="+", default=[400, 1500])
    parser.add_argument("--model", default="edge")
    options = parser.parse_args()
    sizes = " ".join(map(str, options.sentences))
    text = [
        f"# Warm starts: `{options.model}` on GENIA",
        "",
        *(line for size in options.sentences for line in measure(options.data, size, options.model)),
        f"One thread; Python {platform.python_version()}, {platform.machine()}, commit {tables.commit()}. Made by "
        f"`python benchmarks/tuning.py --sentences {sizes} --model {options.model}`.",
    ]
    print("\n".join(text))
    (HERE / "results" / "tuning.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
