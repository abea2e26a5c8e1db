"""Write the tables of ``docs/probabilities.md`` from ``results/trust.json``: ``python -m experiments.trust_docs``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
RESULTS = ROOT / "results" / "trust.json"
PAGE = ROOT.parent / "docs" / "probabilities.md"
MARKS = "<!-- made: python -m experiments.trust_docs -->\n", "<!-- /made -->\n"
SIZES = (200, 400, 600, 800, 1000)


def by_chance(bins: Sequence[Sequence[float]]) -> float:
    """Return the calibration error that perfect probabilities would have here, by chance alone.

    In a bin of n mentions with probability p, the share that is right has the standard deviation √(p (1 − p) / n), and
    is √(2/π) times that away from p in the mean.

    Examples
    --------
    >>> round(by_chance([(0.4, 0.6, 100, 0.5, 0.5)]), 4)
    0.0399
    """
    total = sum(count for _, _, count, _, _ in bins)
    return sum(n / total * math.sqrt(2 / math.pi * p * (1 - p) / n) for _, _, n, p, _ in bins)


def tables(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines of all tables."""
    lines = ["| | mentions | as given | calibrated | by chance | curve |", "|---|---:|---:|---:|---:|---|"]
    believed = [run for run in runs if "ECE" in run["result"]]
    for run in believed:
        r = run["result"]
        shares = (r["ECE"], r["ECE calibrated"], by_chance(r["bins calibrated"]))
        count = sum(b[2] for b in r["bins"])
        lines.append(f"| {run['run']} | {count:,} | {' | '.join(f'{100 * s:.1f}' for s in shares)} | {r['kind']} |")
    lines += ["", "| F1 on test | `best` | `f1` | `auto` | precision at `precision=0.95` | recall at `recall=0.9` |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    for run in believed:
        r = run["result"]
        reached = (f"{name} at {name}={least}" for name, least in (("precision", 0.95), ("recall", 0.9)))
        values = [*(r[f"F1 {name}"] for name in ("best", "f1", "auto")), *(r[name] for name in reached)]
        lines.append(f"| {run['run']} | {' | '.join(f'{100 * value:.1f}' for value in values)} |")
    lines += ["", f"| F1 after annotating | {' | '.join(map(str, SIZES))} |", f"|---{'|---:' * len(SIZES)}|"]
    for run in runs:
        if "sizes" in run["result"]:
            lines.append(f"| {run['run']} | {' | '.join(f'{100 * f:.1f}' for f in run['result']['scores'])} |")
    return lines


def made(page: str) -> str:
    """Return a page with its tables made anew."""
    runs = json.loads(RESULTS.read_text(encoding="utf-8"))["runs"]
    block = "\n".join(tables([run for run in runs if run["result"]])) + "\n"
    first, last = (re.escape(mark) for mark in MARKS)
    return re.sub(f"{first}.*?{last}", lambda _: MARKS[0] + block + MARKS[1], page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
