"""Write the tables of ``docs/probabilities.md`` from ``results/trust.json``: ``python -m experiments.trust_docs``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.trust import CORPORA, MODELS, curves, needed
from experiments.trust import STEPS as SIZES

ROOT = Path(__file__).resolve().parent
RESULTS = ROOT / "results" / "trust.json"
PAGE = ROOT.parent / "docs" / "probabilities.md"
MARKS = "<!-- made: python -m experiments.trust_docs -->\n", "<!-- /made -->\n"
ASKED = (("precision", 0.95), ("recall", 0.9))
AIM = 0.02
"""The calibration error that is aimed at."""
LINES = len(CORPORA) * len(MODELS)


def tables(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines of all tables."""
    shown = ("ECE", "ECE calibrated, dev", "ECE calibrated", "by chance calibrated", "debiased calibrated")
    lines = [
        "| | mentions | as given | calibrated, on dev | calibrated | by chance | debiased | curve |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
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
    lines += ["", *sentences([(run["run"], run["result"]) for run in believed])]
    found = curves({run["run"]: run["result"] for run in runs})
    if not found:
        return [*lines, "- Learning curves of `suggest` wait to be run."]
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


def sentences(results: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """Say in words what the lines have in common, and what speaks against us."""
    made = [] if len(results) == LINES else [f"- {len(results)} of {LINES} lines have been run so far."]
    given, after = ([r[name] for _, r in results] for name in ("ECE", "ECE calibrated"))
    missed = [name for name, r in results if r["ECE calibrated"] > AIM]
    there = [name for name, r in results if r["ECE calibrated, dev"] > AIM]
    clear = [name for name, r in results if r["debiased calibrated"] > AIM]
    made.append(
        f"- As given, probabilities are off by {_range(given)} points; calibrated, by {_range(after)}. The aim of "
        f"{100 * AIM:.0f} % is reached on {len(results) - len(missed)} of {len(results)} lines, not on "
        f"{'; '.join(missed) or 'none'}; without what chance adds it is missed on {'; '.join(clear) or 'none'}. On "
        f"development sentences that the curve was not learned from it is reached on {len(results) - len(there)}; "
        "where it is reached only there, test is not like the development data."
    )
    behind = [
        max(r[f"F1 {name}"] for name in ("best", "penalty", "f1") if f"F1 {name}" in r) - r["F1 auto"]
        for _, r in results
    ]
    made.append(
        "- What `auto` decides has the highest F1 of the rules that it chooses among on "
        f"{sum(b <= 0 for b in behind)} of {len(results)} lines, and is at most {100 * max(behind):.1f} points "
        "below it."
    )
    for name, least in ASKED:
        asked = f"{name}={least}"
        on_dev = [r[f"{name} at {asked}"] for _, r in results if (r.get(f"{asked} on dev") or 0) >= least]
        short = [least - reached for reached in on_dev if reached < least]
        others = f"; the others miss it by at most {100 * max(short):.1f} points" if short else ""
        made.append(
            f"- {100 * least:.0f} % {name} is reached on `dev` by {len(on_dev)} of {len(results)} lines, and on test "
            f"by {len(on_dev) - len(short)} of these{others}."
        )
    return made


def _range(values: Sequence[float]) -> str:
    return f"{100 * min(values):.1f} to {100 * max(values):.1f}"


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
