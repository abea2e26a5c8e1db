"""Write the tables of ``docs/probabilities.md`` from ``results/trust.json``: ``python -m experiments.trust_docs``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.trust import STEPS as SIZES
from experiments.trust import curves, needed

ROOT = Path(__file__).resolve().parent
RESULTS = ROOT / "results" / "trust.json"
PAGE = ROOT.parent / "docs" / "probabilities.md"
MARKS = "<!-- made: python -m experiments.trust_docs -->\n", "<!-- /made -->\n"
ASKED = (("precision", 0.95), ("recall", 0.9))


def tables(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines of all tables."""
    shown = ("ECE", "ECE calibrated", "by chance calibrated", "debiased calibrated")
    lines = [
        "| | mentions | as given | calibrated | by chance | debiased | curve |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    believed = [run for run in runs if "ECE" in run["result"]]
    for run in believed:
        r = run["result"]
        count = sum(b[2] for b in r["bins"])
        cells = " | ".join(_percent(r.get(name)) for name in shown)
        lines.append(f"| {run['run']} | {count:,} | {cells} | {r['kind']} |")
    heads = ["`best`", "`penalty`", "`f1`", "`auto`"]
    heads += [f"`{name}={least}`: {where}" for name, least in ASKED for where in ("dev", "test")]
    lines += ["", f"| | {' | '.join(heads)} |", f"|---{'|---:' * len(heads)}|"]
    for run in believed:
        r = run["result"]
        values = [r.get(f"F1 {name}") for name in ("best", "penalty", "f1", "auto")]
        for name, least in ASKED:
            values += [r.get(f"{name}={least} on dev"), r[f"{name} at {name}={least}"]]
        lines.append(f"| {run['run']} | {' | '.join(map(_percent, values))} |")
    found = curves({run["run"]: run["result"] for run in runs})
    heads = [*map(str, SIZES), f"sentences for random's F1 at {SIZES[-1]:,}", "tokens", "seeds"]
    lines += ["", f"| F1 after annotating | {' | '.join(heads)} |", f"|---{'|---:' * len(heads)}|"]
    for corpus, ways in found.items():
        goal = _mean(ways["random"], "scores")[-1]
        for by, results in ways.items():
            scores, tokens = _mean(results, "scores"), _mean(results, "tokens")
            least = needed(SIZES, scores, goal)
            cells = [f"{100 * f:.1f}" for f in scores]
            cells += ["", ""] if least is None else [f"{least:,.0f}", f"{np.interp(least, SIZES, tokens):,.0f}"]
            lines.append(f"| {corpus}, by {by} | {' | '.join([*cells, str(len(results))])} |")
    return lines


def _mean(results: Sequence[dict[str, Any]], name: str) -> list[float]:
    """The mean over seeds, step by step."""
    return [sum(at) / len(at) for at in zip(*(result[name] for result in results), strict=True)]


def _percent(value: float | None) -> str:
    """Say a share in percent; older lines have not all of them."""
    return "" if value is None else f"{100 * value:.1f}"


def made(page: str) -> str:
    """Return a page with its tables made anew."""
    runs = json.loads(RESULTS.read_text(encoding="utf-8"))["runs"]
    block = "\n".join(tables([run for run in runs if run["result"]])) + "\n"
    first, last = (re.escape(mark) for mark in MARKS)
    return re.sub(f"{first}.*?{last}", lambda _: MARKS[0] + block + MARKS[1], page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
