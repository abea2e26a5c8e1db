"""Ways to the optimum of the likelihood: passes over the sentences and seconds until the objective is near it.

    python benchmarks/optimiser.py --data ../shared/data [--only "edge, GENIA"] [--sentences 600] [--l2 0.1]
                                   [--method L-BFGS] [--budget 600] [--draw]
    python benchmarks/optimiser.py --data ../shared/data --scipy [--part 4]

Every method trains the same model on the same sentences with default features, on one thread, each component after the
other; seconds are processor time with the preparation of the rows. Penalties are 0.1, the default of the trainers, and
one for every 6,000 mentions, that of ``model="auto"``. Trainings go on to a tolerance of 1e-5: the lowest objective
that any method has found stands for the optimum, and the best lower bound says how far it may be from it. A training
that takes longer than a budget of processor seconds is stopped, and the table says so. Each training is kept in
``results/optimiser.json`` as soon as it is done, the table and the picture are ``results/optimiser.md`` and ``.png``;
``--draw`` makes these again.

With ``--scipy``: our L-BFGS against SciPy's L-BFGS-B on the likelihood of ``benchmarks/chain.py`` on every
``--part``-th sentence of UNER-EWT, with memory 6, in processor time, until both are within 1e-4 of the lower of the two
optima.
"""

from __future__ import annotations

import argparse
import itertools
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
TOLERANCE = 1e-5
POINTS = 150
"""So many records of a component are kept at most, more of the early ones."""
PROBLEMS = {
    "edge, GENIA, proteins": ("edge", "genia:{data}/genia?classes=5&split=train"),
    "edge, GENIA": ("edge", "genia:{data}/genia?classes=5&split=train"),
    "state, GENIA": ("state", "genia:{data}/genia?classes=5&split=train"),
    "edge, GUM": ("edge", "gum:{data}/gum?split=train"),
    "chain, GUM": ("chain", "gum:{data}/gum?split=train"),
    "chain, UNER-EWT": ("chain", "uner:{data}/uner-ewt?split=train"),
    "chain, BC2GM": ("chain", "biocreative:{data}/bc2gm/train"),
    "joined, GENIA with 22 classes": ("joined", "genia:{data}/genia?classes=22&split=train"),
}
"""By name: the model and what it learns from; the first learns one label, the most frequent one, as one component."""
ALONE = {"edge, GENIA, proteins": "protein"}
METHODS = {
    "L-BFGS": "L-BFGS, memory 6",
    "L-BFGS 20": "L-BFGS, memory 20",
    "Adagrad": "10 passes of Adagrad, then L-BFGS",
    "SDCA": "dual coordinate ascent, then L-BFGS",
}
Record = tuple[int, float, float, float]
"""Of an iteration: passes and seconds since the beginning, objective, lower bound."""


class OverBudget(Exception):
    """A training has taken all the time that it may."""


class Clock:
    """Takes the records of a training with the processor time at each; passes and seconds are those of a component."""

    def __init__(self, before: tuple[int, float] = (1, 0.0), budget: float = float("inf")) -> None:
        self.before = before
        self.records: dict[int, list[Record]] = {}
        self._last = time.process_time()
        self._end = self._last + budget

    def __call__(self, record: Iteration) -> None:
        now = time.process_time()
        own = self.records.setdefault(record.component, [])
        passes, seconds = own[-1][:2] if own else self.before
        bound = -1e300 if record.bound is None else record.bound
        own.append((passes + record.evaluations, seconds + now - self._last, record.objective, bound))
        self._last = now
        if now > self._end:
            raise OverBudget

    def kept(self) -> list[list[Record]]:
        """The records of each component, the late ones thinned out."""
        found = []
        for _, own in sorted(self.records.items()):
            chosen = {round(n) - 1 for n in np.geomspace(1, len(own), POINTS)}
            found.append(
                [(p, round(s, 3), round(v, 4), round(b, 4)) for p, s, v, b in (own[n] for n in sorted(chosen))]
            )
        return found


def trace(method: str, model: str, train: list[Sentence], l2: float, budget: float) -> dict[str, Any]:
    """Train with a method; return its records by component, and the budget if that was the end."""

    def fit(trainer: LBFGS | SDCA | Adagrad, clock: Clock, start: Recognizer | None = None) -> Recognizer:
        ner = Recognizer(model, keep="longest", trainer=trainer, threads=1, tokenizer=str.split)
        return ner.fit(train, listener=clock, start=start)

    trainer: LBFGS | SDCA = LBFGS(l2=l2, max_iter=3000, tol=TOLERANCE, memory=20 if method == "L-BFGS 20" else 6)
    begun, start = (1, 0.0), None
    if method == "SDCA":
        trainer, begun = SDCA(l2=l2, max_iter=3000, tol=TOLERANCE), (0, 0.0)
    elif method == "Adagrad":
        start = fit(Adagrad(l2=l2, max_iter=10), passed := Clock())
        begun = 11, sum(own[-1][1] for own in passed.records.values()) / len(passed.records)
    clock = Clock(begun, budget)
    try:
        fit(trainer, clock, start)
    except OverBudget:
        return {"stopped": budget, "trace": clock.kept()}
    return {"trace": clock.kept()}


def reached(found: list[list[Record]], lowest: list[float], near: float) -> list[float] | None:
    """Passes and seconds of all components until each is as near; None if one never is, or was not begun."""
    first = [next((r for r in own if r[2] <= low * (1 + near)), None) for own, low in zip(found, lowest, strict=False)]
    return None if None in first or len(first) < len(lowest) else [sum(r[i] for r in first if r) for i in (0, 1)]


def lowest_of(traces: dict[str, Any]) -> tuple[list[float], float]:
    """The lowest objective of each component, and how far their sum is above its optimum at most."""
    every = [*itertools.zip_longest(*(t["trace"] for t in traces.values()), fillvalue=())]
    lowest = [min(r[2] for own in parts for r in own) for parts in every]
    bounds = [max(r[3] for own in parts for r in own) for parts in every]
    return lowest, (sum(lowest) - sum(bounds)) / sum(lowest)


def table(results: dict[str, Any]) -> list[str]:
    """Return the table of all problems."""

    def cell(value: list[float] | None) -> str:
        return "– | –" if value is None else f"{value[0]:,.0f} | {value[1]:,.1f}"

    text = [
        "| problem | l2 | method | passes to 1 % | s | to 0.1 % | s | to 0.01 % | s | times | known within | commit |",
        "|---|---|---|" + "---:|" * 8 + "---|",
    ]
    for one in results.values():
        lowest, unsure = lowest_of(one["methods"])
        first = None
        for method, name in METHODS.items():
            if method not in one["methods"]:
                continue
            found = one["methods"][method]["trace"]
            spent = [reached(found, lowest, near) for near in NEAR]
            first = first or (spent[-1] and spent[-1][1])
            if "stopped" in one["methods"][method]:
                name += f", stopped at {one['methods'][method]['stopped']:,.0f} s"
            times = f"{first / spent[-1][1]:.1f}" if first and spent[-1] else "–"
            text.append(
                f"| {one['problem']}, {one['sentences']:,} sentences | {one['l2']:.3g} | {name} | "
                f"{' | '.join(map(cell, spent))} | {times} | {unsure:.0e} | {one['methods'][method]['commit']} |"
            )
    return text


def draw(results: dict[str, Any]) -> None:
    """Write the picture: how far all components are from their optima, by seconds and by passes."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    shown = list(results.values())
    figure, axes = plt.subplots(
        2, len(shown), figsize=(2.9 * len(shown), 5.4), constrained_layout=True, squeeze=False, sharey=True
    )
    colours = dict(zip(METHODS, ("#762a83", "#af8dc3", "#999999", "#1b7837"), strict=True))
    for column, one in enumerate(shown):
        lowest, _ = lowest_of(one["methods"])
        for row, what in enumerate(("processor seconds", "passes")):
            axis = axes[row][column]
            for method, kept in one["methods"].items():
                points = [
                    (near, spent[1 - row])
                    for near in np.geomspace(1, 1e-5, 61)
                    if (spent := reached(kept["trace"], lowest, near)) is not None
                ]
                axis.plot([x for _, x in points], [y for y, _ in points], color=colours[method], label=METHODS[method])
            axis.set(yscale="log", ylim=(1e-5, 1), xlabel=what)
            axis.set_xlim(left=0)
            axis.axhline(1e-4, color="#cccccc", lw=0.8, zorder=0)
            axis.spines[["top", "right"]].set_visible(False)
        axes[0][column].set_title(f"{one['problem']}\n{one['sentences']:,} sentences, l2 {one['l2']:.2g}", fontsize=9)
    axes[0][0].set_ylabel("above the optimum")
    axes[1][0].set_ylabel("above the optimum")
    axes[0][0].legend(fontsize=7, frameon=False, loc="upper right")
    figure.savefig(RESULTS / "optimiser.png", dpi=110)


def compare(
    data: str, sentences: int | None, only: str | None, penalties: list[float], wanted: list[str], budget: float
) -> None:
    """Train what is not trained yet."""
    kept = RESULTS / "optimiser.json"
    results = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name, (model, ref) in PROBLEMS.items():
        if only not in (None, name):
            continue
        train = list(read(ref.format(data=data)).sentences())[:sentences]
        if name in ALONE:
            train = [s.with_mentions([m for m in s.mentions if m.label == ALONE[name]]) for s in train]
        chosen = max(0.1, round(sum(len(s.mentions) for s in train) / 6000, 3))
        for l2 in penalties or sorted({0.1, chosen}):
            one = results.setdefault(
                f"{name}, {len(train)}, {l2:g}", {"problem": name, "sentences": len(train), "l2": l2, "methods": {}}
            )
            for method in wanted or ["L-BFGS", "SDCA"]:
                if method not in one["methods"]:
                    one["methods"][method] = {"commit": tables.commit(), **trace(method, model, train, l2, budget)}
                    order = [*PROBLEMS]
                    results = dict(
                        sorted(
                            results.items(), key=lambda r: (order.index(r[1]["problem"]), r[1]["sentences"], r[1]["l2"])
                        )
                    )
                    kept.write_text(json.dumps(results, separators=(",", ":")) + "\n", encoding="utf-8")
    show(results)


def show(results: dict[str, Any]) -> None:
    """Write table and picture."""
    order = [*PROBLEMS]
    results = dict(sorted(results.items(), key=lambda r: (order.index(r[1]["problem"]), r[1]["l2"])))
    draw(results)
    text = [
        "# Optimisers on the likelihood",
        "",
        "Passes over the sentences (an evaluation of objective and gradient is one) and processor seconds of one "
        "thread with the preparation of the rows, added up over the components, until the objective of each is within "
        "1 %, 0.1 % and 0.01 % of the lowest that any method has found; *times*: how much sooner within 0.01 % than "
        "the first method; *known within*: how far that lowest objective is above the optimum at most, by the best "
        "lower bound. Penalties: 0.1, and one for every 6,000 mentions, as `auto` has it. A method that was stopped "
        "had a budget of processor seconds, and is compared as far as it came.",
        "",
        "![Distance from the optimum by seconds and by passes](optimiser.png)",
        "",
        *table(results),
        "",
        f"Default features; Python {platform.python_version()}, {platform.machine()}. Made by "
        "`python benchmarks/optimiser.py --only PROBLEM --sentences N --l2 L2 --method METHOD --budget S`, with "
        "those of each row. The machine had other work at the time: a few per cent say nothing.",
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
    parser.add_argument("--sentences", type=int, help="train on the first so many; all if left out")
    parser.add_argument("--only", choices=list(PROBLEMS))
    parser.add_argument("--l2", type=float, action="append", help="a penalty instead of the two; may be repeated")
    parser.add_argument("--method", choices=list(METHODS), action="append", help="L-BFGS and SDCA if left out")
    parser.add_argument("--budget", type=float, default=float("inf"), help="processor seconds that a training may take")
    parser.add_argument("--draw", action="store_true", help="train nothing")
    args = parser.parse_args()
    if args.draw:
        show(json.loads((RESULTS / "optimiser.json").read_text(encoding="utf-8")))
        return
    if not args.scipy:
        compare(args.data, args.sentences, args.only, args.l2 or [], args.method or [], args.budget)
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
