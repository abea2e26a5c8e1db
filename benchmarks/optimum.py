"""How long training takes to come within 1e-4 of the optimum, in two versions of spanloom on the same problem.

    python benchmarks/optimum.py --data ../shared/data --before OTHER_ENVIRONMENT/bin/python --name COMMIT
                                 [--sentences 3000] [--l2 0.1] [--write]

The model is ``edge`` on GENIA with five types and the templates of ``default``, one thread. Before: L-BFGS, the only
way there was. After: L-BFGS and dual coordinate ascent. Each training goes on past the point that counts; the lowest
objective of a label that any of them found stands for its optimum. Seconds are processor time of ``fit`` until every
label is within 1e-4, with preparation, and without what labels take that are near already.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import tables
from before_after import make

NEAR = 1e-4
Trace = list[tuple[int, float, float]]
"""Of an iteration: label, seconds since the beginning, objective."""


def trace(data: Path, sentences: int, l2: float, trainer: str) -> Trace:
    """Train in this version."""
    from spanloom import read

    train = [s for doc in read(f"genia:{data}/genia?classes=5&split=train") for s in doc.sentences][:sentences]
    ner = make({"model": "edge", "max_iter": 3000})
    if trainer == "before":
        ner.set_params(l2=l2, tol=1e-6)
    else:
        from spanloom.learning import LBFGS, SDCA

        ner.set_params(trainer=(SDCA if trainer == "sdca" else LBFGS)(l2=l2, max_iter=3000, tol=NEAR / 3))
    found: Trace = []
    begun = time.process_time()
    ner.fit(train, listener=lambda r: found.append((r.component, time.process_time() - begun, r.objective)))
    return found


def seconds(found: Trace, lowest: dict[int, float]) -> float | None:
    """Return what it took until every label was near its optimum; None if one never was."""
    total, last, near = 0.0, 0.0, set()
    for label, at, objective in found:
        if label not in near:
            total += at - last
            if objective <= lowest[label] * (1 + NEAR):
                near.add(label)
        last = at
    return total if near == set(lowest) else None


def main() -> None:
    """Run all and tell the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--before", help="the interpreter that has the other version")
    parser.add_argument("--name", default="the other version", help="of the version before, such as its commit")
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--l2", type=float, default=0.1)
    parser.add_argument("--write", action="store_true", help="add to benchmarks/results/optimum.md")
    parser.add_argument("--one", choices=("before", "lbfgs", "sdca"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(trace(given.data, given.sentences, given.l2, given.one)))
        return
    if given.before is None:
        parser.error("--before says which interpreter has the other version")
    traces: dict[str, Trace] = {}
    for way, python in (("before", given.before), ("lbfgs", sys.executable), ("sdca", sys.executable)):
        command = [python, __file__, "--one", way, "--data", str(given.data.resolve())]
        command += ["--sentences", str(given.sentences), "--l2", str(given.l2)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=os.sep)
        traces[way] = json.loads(done.stdout.splitlines()[-1])
    labels = {label for found in traces.values() for label, *_ in found}
    lowest = {k: min(o for found in traces.values() for label, _, o in found if label == k) for k in labels}
    taken = {way: seconds(found, lowest) for way, found in traces.items()}
    print(tell(given, taken))
    if given.write:
        keep(given, taken)


def tell(given: argparse.Namespace, taken: dict[str, float | None]) -> str:
    """Return a row of the table."""
    cells = ["never" if t is None else f"{t:.1f}" for t in taken.values()]
    base, *others = taken.values()
    ratios = ["" if not base or not t else f"{base / t:.1f}" for t in others]
    return f"| {given.sentences:,} | {given.l2:g} | {' | '.join(cells)} | {' | '.join(ratios)} | {tables.commit()} |"


def keep(given: argparse.Namespace, taken: dict[str, Any]) -> None:
    """Put the row into the table, in the place of one of the same problem."""
    path = tables.RESULTS / "optimum.md"
    start = f"| {given.sentences:,} | {given.l2:g} |"
    old = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [line for line in old if line.startswith("| ") and line[2].isdigit() and not line.startswith(start)]
    text = [
        "# To the optimum, before and after",
        "",
        "`edge` on GENIA, five types, templates of `default`: processor seconds of one thread until every label is "
        f"within {NEAR:g} of its optimum. Before: commit {given.name}. Made by `python benchmarks/optimum.py "
        f"--before PYTHON --name {given.name} --sentences N --l2 L2 --write`.",
        "",
        "| sentences | L2 | before, L-BFGS | L-BFGS | dual coordinate ascent | times as fast, L-BFGS "
        "| times as fast, dual | commit |",
        "|---:|---:|---:|---:|---:|---:|---:|---|",
        *sorted([*rows, tell(given, taken)]),
    ]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
