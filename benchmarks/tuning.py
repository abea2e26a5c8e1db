"""Ten L2 penalties by ``tune`` against one training, and a training from a model of 95 % of the data.

    python benchmarks/tuning.py --data ../shared/data [--sentences 1500] [--model edge]

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

from edge import load

from spanloom.configuration import configure
from spanloom.tuning import L2_VALUES, tune

HERE = Path(__file__).resolve().parent


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of some work, and what it gives."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def main() -> None:
    """Run all and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--model", default="edge")
    options = parser.parse_args()
    train = load("train", options.data, options.sentences)
    test = load("test", options.data, 200)
    base = {"model": options.model, "keep": "longest", "threads": 1, "max_iter": 2000}
    rows = []
    alone, ner = seconds(lambda: configure(base).fit(train))
    passes = sum(r.evaluations for r in ner.history_)
    rows.append(("one training, l2 = 0.1", alone, passes))
    spent, found = seconds(lambda: tune(train, test, base=base, processes=1))
    steps = sum(len(trial.objective) for trial in found.trials)
    rows.append((f"{len(L2_VALUES)} values of l2 by tune", spent, steps))
    apart = [seconds(lambda value=value: configure({**base, "l2": value}).fit(train)) for value in L2_VALUES]
    rows.append(
        (
            f"{len(L2_VALUES)} values of l2, each from zero",
            sum(s for s, _ in apart),
            sum(len(n.history_) for _, n in apart),
        )
    )
    before = configure(base).fit(train[: -len(train) // 20])
    warm, again = seconds(lambda: configure(base).fit(train, start=before))
    rows.append(("from a model of 95 % of the sentences", warm, sum(r.evaluations for r in again.history_)))
    text = [
        f"# Warm starts: `{options.model}` on {len(train):,} sentences of GENIA",
        "",
        "| what | processor seconds | iterations | of one training |",
        "|---|---|---|---|",
        *(f"| {name} | {spent:.1f} | {n} | {spent / alone:.2f} |" for name, spent, n in rows),
        "",
        f"One thread; Python {platform.python_version()}, {platform.machine()}. Made by `python benchmarks/tuning.py "
        f"--sentences {options.sentences} --model {options.model}`.",
    ]
    print("\n".join(text))
    (HERE / "results" / "tuning.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
