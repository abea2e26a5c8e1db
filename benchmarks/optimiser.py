"""Our L-BFGS against SciPy's L-BFGS-B on the same likelihood, to the same objective.

    python benchmarks/optimiser.py --data ../shared/data [--part 4]

The likelihood is that of ``benchmarks/chain.py`` on every ``--part``-th sentence of UNER-EWT, with memory 6, on one
thread, in processor time. Both are run until they are within 1e-4 of the lower of the two optima.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from chain import L2, load, templates
from scipy.optimize import minimize

from spanloom._native import Lbfgs, Likelihood
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.models import Chain, Shapes
from spanloom.models.supervised import supervise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--part", type=int, default=4)
    args = parser.parse_args()
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
