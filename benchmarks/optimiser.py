"""Ways to the optimum of the likelihood: passes over the sentences and seconds until the objective is near it.

    python benchmarks/optimiser.py --data ../shared/data [--sentences 600] [--only "edge, GENIA"]
    python benchmarks/optimiser.py --data ../shared/data --scipy [--part 4]

Every method trains the same model on the same sentences with default features, on one thread, each component after the
other; seconds are processor time with the preparation of the rows. Penalties are 0.1, the default of the trainers, and
one for every 2,000 sentences, that of ``model="auto"``. How far a method is from the optimum is told by the best lower
bound that any of them gives. A finished problem is kept in ``results/optimiser.json``, the table in
``results/optimiser.md``.

With ``--scipy``: our L-BFGS against SciPy's L-BFGS-B on the likelihood of ``benchmarks/chain.py`` on every
``--part``-th sentence of UNER-EWT, with memory 6, in processor time, until both are within 1e-4 of the lower of the two
optima.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import tables
from chain import L2, load, templates
from scipy.optimize import minimize

from spanloom import Recognizer, Sentence, read
from spanloom._native import Lbfgs, Likelihood
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import LBFGS, SDCA, Adagrad, Iteration
from spanloom.models import Chain, Shapes
from spanloom.models.supervised import supervise

RESULTS = Path(__file__).resolve().parent / "results"
NEAR = (1e-2, 1e-3, 1e-4)
PROBLEMS = {
    "edge, GENIA": ("edge", "genia:{data}/genia?classes=5&split=train"),
    "state, GENIA": ("state", "genia:{data}/genia?classes=5&split=train"),
    "chain, GUM": ("chain", "gum:{data}/gum?split=train"),
    "chain, UNER-EWT": ("chain", "uner:{data}/uner-ewt?split=train"),
    "chain, BC2GM": ("chain", "biocreative:{data}/bc2gm/train"),
    "joined, GENIA with 22 classes": ("joined", "genia:{data}/genia?classes=22&split=train"),
}
"""By name: the model and what it learns from."""
Record = tuple[int, float, float, float]
"""Of an iteration: passes and seconds since the beginning, objective, lower bound."""


class Clock:
    """Takes the records of a training with the processor time at each; passes and seconds are those of a component."""

    def __init__(self, before: tuple[int, float] = (1, 0.0)) -> None:
        self.before = before
        self.records: dict[int, list[Record]] = {}
        self._last = time.process_time()

    def __call__(self, record: Iteration) -> None:
        now = time.process_time()
        own = self.records.setdefault(record.component, [])
        passes, seconds = own[-1][:2] if own else self.before
        bound = -np.inf if record.bound is None else record.bound
        own.append((passes + record.evaluations, seconds + now - self._last, record.objective, bound))
        self._last = now


def methods(model: str, train: list[Sentence], l2: float) -> dict[str, dict[int, list[Record]]]:
    """Train with each method; return its records by component."""

    def fit(trainer: LBFGS | SDCA | Adagrad, clock: Clock, start: Recognizer | None = None) -> Recognizer:
        ner = Recognizer(model, keep="longest", trainer=trainer, threads=1, tokenizer=str.split)
        return ner.fit(train, listener=clock, start=start)

    quick = fit(Adagrad(l2=l2, max_iter=10), passed := Clock())
    spent = sum(own[-1][1] for own in passed.records.values()) / len(passed.records)
    found: dict[str, dict[int, list[Record]]] = {}
    for name, trainer, begun, start in (
        ("L-BFGS, memory 6", LBFGS(l2=l2, max_iter=2000), (1, 0.0), None),
        ("L-BFGS, memory 20", LBFGS(l2=l2, memory=20, max_iter=2000), (1, 0.0), None),
        ("10 passes of Adagrad, then L-BFGS", LBFGS(l2=l2, max_iter=2000), (11, spent), quick),
        ("dual coordinate ascent, then L-BFGS", SDCA(l2=l2, max_iter=2000), (0, 0.0), None),
    ):
        fit(trainer, clock := Clock(begun), start)
        found[name] = clock.records
    return found


def measure(model: str, train: list[Sentence], l2: float) -> list[dict[str, Any]]:
    """Return a line for each method: passes and seconds, of all components, until they are near, and until that is
    known."""
    traces = methods(model, train, l2)
    parts = sorted(next(iter(traces.values())))
    lowest = {c: max(r[3] for found in traces.values() for r in found[c]) for c in parts}
    lines = []
    for name, found in traces.items():
        line: dict[str, Any] = {"method": name, "l2": l2}
        for near in NEAR:
            first = [next((r for r in found[c] if r[2] <= lowest[c] * (1 + near)), None) for c in parts]
            line[f"{near:g}"] = None if None in first else [sum(r[i] for r in first if r) for i in (0, 1)]
        known = [next((r for r in found[c] if r[2] - r[3] <= 1e-4 * r[2]), None) for c in parts]
        line["known"] = None if None in known else [sum(r[i] for r in known if r) for i in (0, 1)]
        lines.append(line)
    return lines


def table(results: dict[str, Any]) -> list[str]:
    """Return the table of all problems."""

    def cell(value: list[float] | None) -> str:
        return "– | –" if value is None else f"{value[0]:.0f} | {value[1]:.2f}"

    text = [
        "| problem | l2 | method | passes to 1 % | s | to 0.1 % | s | to 0.01 % | s | and it is known | s |",
        "|---|---|---|" + "---:|" * 8,
    ]
    for name, one in results.items():
        for line in one["lines"]:
            cells = " | ".join(cell(line[key]) for key in (*(f"{near:g}" for near in NEAR), "known"))
            text.append(f"| {name}, {one['sentences']:,} sentences | {line['l2']:g} | {line['method']} | {cells} |")
    return text


def compare(data: str, sentences: int, only: str | None) -> None:
    """Measure what is not measured yet, and write the table."""
    kept = RESULTS / "optimiser.json"
    results = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name, (model, ref) in PROBLEMS.items():
        if only not in (None, name):
            continue
        train = list(read(ref.format(data=data)).sentences())[:sentences]
        lines = [line for l2 in (0.1, len(train) / 2000) for line in measure(model, train, l2)]
        results[name] = {"sentences": len(train), "lines": lines, "commit": tables.commit()}
        results = {name: results[name] for name in PROBLEMS if name in results}
        kept.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    text = [
        "# Optimisers on the likelihood",
        "",
        "Passes over the sentences (an evaluation of objective and gradient is one) and processor seconds of one "
        "thread with the preparation of the rows, added up over the components, until the objective is within 1 %, "
        "0.1 % and 0.01 % of its optimum, and until the method itself knows that it is within 0.01 %. Penalties: 0.1, "
        "and one for every 2,000 sentences.",
        "",
        *table(results),
        "",
        f"Default features; Python {platform.python_version()}, {platform.machine()}. Made by "
        "`python benchmarks/optimiser.py --only PROBLEM --sentences N`, with the N of each row; commits "
        + ", ".join(sorted({one["commit"] for one in results.values()}))
        + ".",
    ]
    print("\n".join(text))
    tried = RESULTS / "optimiser_tried.md"
    (RESULTS / "optimiser.md").write_text(
        "\n".join([*text, "", f"What else was tried, and not kept: [{tried.name}]({tried.name})."]) + "\n",
        encoding="utf-8",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--part", type=int, default=4)
    parser.add_argument("--scipy", action="store_true")
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--only", choices=list(PROBLEMS))
    args = parser.parse_args()
    if not args.scipy:
        compare(args.data, args.sentences, args.only)
        return
    sentences = load(args.data, "train", False)[2][:: args.part]
    rows = FeatureExtractor(FeatureSet(templates())).fit(sentences)
    shapes = Shapes([len(s) for s in sentences])
    mentions = [s.mentions for s in sentences]
    (component,) = Chain(constrained=False).components(mentions, shapes.lengths)
    objective = Likelihood(rows, component.structure, supervise(component, sentences, mentions, shapes), threads=1)
    print(f"{len(sentences)} sentences, {objective.size:,} parameters")
    ours, theirs = run_ours(objective), run_scipy(objective)
    target = min(ours[-1][1], theirs[-1][1]) * (1 + 1e-4)
    for name, trace in (("spanloom", ours), ("scipy L-BFGS-B", theirs)):
        seconds, _, evaluations, inside = next(t for t in trace if t[1] <= target)
        print(
            f"{name}: {seconds:.2f} s to {target:.2f}, {evaluations} evaluations, "
            f"{seconds - inside:.2f} s of it outside the objective"
        )


def run_ours(objective: Likelihood) -> list[tuple[float, float, int, float]]:
    """(seconds, value, evaluations, seconds in the objective) after each iteration."""
    start = time.process_time()
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=L2, memory=6, threads=1)
    trace, evaluations = [], 1
    while len(trace) < 400:
        step = optimiser.iterate()
        evaluations += step.evaluations
        trace.append([time.process_time() - start, step.value, evaluations, 0.0])
        if not step.moved or (len(trace) > 10 and trace[-11][1] - step.value < 1e-7 * step.value):
            break
    x = optimiser.x()
    before = time.process_time()
    for _ in range(5):
        objective.evaluate(x)
    once = (time.process_time() - before) / 5
    return [(t, v, n, n * once) for t, v, n, _ in trace]


def run_scipy(objective: Likelihood) -> list[tuple[float, float, int, float]]:
    """The same for SciPy; every evaluation is a point of the trace."""
    start = time.process_time()
    trace: list[tuple[float, float, int, float]] = []
    inside = 0.0

    def penalised(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal inside
        before = time.process_time()
        value, gradient = objective.evaluate(x)
        value += L2 * (x @ x)
        gradient += 2 * L2 * x
        inside += time.process_time() - before
        trace.append((time.process_time() - start, value, len(trace) + 1, inside))
        return value, gradient

    options = {"maxcor": 6, "maxiter": 400, "ftol": 1e-8, "gtol": 1e-6}
    minimize(penalised, np.zeros(objective.size), jac=True, method="L-BFGS-B", options=options)
    return trace


if __name__ == "__main__":
    main()
