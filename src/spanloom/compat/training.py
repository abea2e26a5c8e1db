"""Training of chains over ready attributes, with CRFsuite's objectives, algorithms and stopping rules.

``lbfgs`` minimises what CRFsuite minimises,

    Σ_s −log P(y_s | x_s)  +  c2 ‖w‖²  +  c1 ‖w‖₁

over the same weights: those of the pairs that occur, unless settings say otherwise. The others learn one sequence after
the other with CRFsuite's rules, in an order of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom._native import (
    AttributeCorpus,
    AttributeSequences,
    ChainFeatures,
    ChainStructure,
    CompressedRows,
    Lbfgs,
    Likelihood,
    OnlineChain,
    Supervision,
    paired_likelihood,
)
from spanloom.base.arrays import Floats
from spanloom.compat import holdout
from spanloom.compat.model import ChainModel
from spanloom.compat.parameters import Say, Settings

FEW_LABELS = 32
"""Up to so many labels, sums that attributes share are made once; above it, weights are kept pair by pair."""
SEED = 1
"""Of the order in which sequences are visited."""


@dataclass
class Data:
    """What is learned from, and what is held out (None: nothing)."""

    corpus: AttributeCorpus
    learned: AttributeSequences
    held: AttributeSequences | None
    features: ChainFeatures
    threads: int


Step = tuple[dict[str, Any], list[str], Callable[[], Floats]]
"""Of an iteration: what it says in numbers and in lines of text, and a function that returns the weights by then."""
Steps = Generator[Step, None, Floats]
"""The iterations of an algorithm; at the end, the weights that it has come to."""


def train(corpus: AttributeCorpus, settings: Settings, group: int, threads: int, say: Say) -> ChainModel:
    """Train a model; sequences of ``group`` are held out, if it is not negative.

    ``say`` is called with CRFsuite's events and texts: ``start``, ``featgen_progress``, ``featgen_end``, ``prepared``,
    ``iteration``, ``optimization_end``.
    """
    begin = time.perf_counter()
    groups = np.asarray(corpus.groups)
    held = corpus.select(np.flatnonzero(groups == group)) if group >= 0 else None
    learned = corpus.select(np.flatnonzero(groups != group)) if group >= 0 else corpus.sequences
    say("start", [*([f"Holdout group: {group + 1}\n", "\n"] if held else []), "Feature generation\n"])
    options = [f"feature.{name}" for name in ("minfreq", "possible_states", "possible_transitions")]
    values = [settings[name] for name in options]
    shown = [
        f"{name}: {value:f}\n" if name == options[0] else f"{name}: {value:d}\n"
        for name, value in zip(options, values, strict=True)
    ]
    least, states, transitions = values
    features = ChainFeatures(
        learned, corpus.attributes, corpus.labels, least, all_states=states, all_transitions=transitions
    )
    say(
        "featgen_progress",
        ["type: CRF1d\n", *shown, "0....1....2....3....4....5....6....7....8....9....10\n"],
        percent=100,
    )
    seconds = time.perf_counter() - begin
    say(
        "featgen_end",
        [f"Number of features: {len(features)}\n", f"Seconds required: {seconds:.3f}\n", "\n"],
        features=len(features),
        seconds=seconds,
    )

    data = Data(corpus, learned, held, features, threads)
    weights = np.zeros(len(features))
    if not len(features):
        say("prepare_error", ["there is nothing to learn: the data have no attributes\n", "\n"])
    else:
        weights = _follow(data, settings, say)
    seconds = time.perf_counter() - begin
    say("optimization_end", [f"Total seconds required for training: {seconds:.3f}\n", "\n"], seconds=seconds)
    return ChainModel.of(features, weights, corpus.attribute_names(), corpus.label_names())


def _follow(data: Data, settings: Settings, say: Say) -> Floats:
    """Run the iterations of an algorithm; return the weights that it has come to."""
    labels = data.corpus.label_names()
    steps = {"lbfgs": lbfgs, "l2sgd": descent}.get(settings.algorithm, online)(data, settings, say)
    word = "Epoch" if settings.algorithm == "l2sgd" else "Iteration"
    number = 0
    while True:
        begin, number = time.perf_counter(), number + 1
        try:
            info, lines, weights = next(steps)
        except StopIteration as end:
            return np.asarray(end.value)
        seconds = time.perf_counter() - begin
        info = {"num": number, "scores": {}, **info, "time": seconds}
        lines = [f"***** {word} #{number} *****\n", *lines, f"Seconds required for this iteration: {seconds:.3f}\n"]
        if data.held is not None:
            found = data.features.best(weights(), data.held, data.threads)
            info |= holdout.score(found, data.held.labels, data.held.group_ptr[1:].tolist(), labels)
            lines += holdout.lines(info)
            del info["counts"]
        say("iteration", [*lines, "\n"], **info)


def lbfgs(data: Data, settings: Settings, say: Say) -> Steps:
    """Regularised maximum likelihood; stops where liblbfgs does, by the gradient or by the objective."""
    names = ("c1", "c2", "num_memories", "max_iterations", "epsilon", "period", "delta", "linesearch", "max_linesearch")
    _prepared(
        say, "L-BFGS optimization", settings, names, {"period": "stop", "max_linesearch": "linesearch.max_iterations"}
    )
    c1, c2, memory, most, epsilon, period, delta, _, trials = (settings[name] for name in names)
    objective = _likelihood(data, merge=c1 == 0)
    optimiser = Lbfgs(objective, np.zeros(objective.size), c1, c2, memory, data.threads, trials)
    values = [optimiser.state.value]
    kept = np.flatnonzero(np.asarray(data.features.transition_of) >= 0)

    def weights() -> Floats:
        x = optimiser.x()
        return np.concatenate([objective.pair_weights(x), objective.global_weights(x)[kept]])

    for _ in range(most):
        step = optimiser.iterate()
        if not step.moved and len(values) > 1:
            break
        values.append(step.value)
        # Under L2 alone no weight stays at 0; under L1 no two attributes share a parameter.
        active = int(np.count_nonzero(optimiser.x())) if c1 > 0 else len(data.features)
        info = {
            "loss": step.value,
            "feature_norm": step.x_norm,
            "error_norm": step.gradient_norm,
            "active_features": active,
            "linesearch_trials": step.evaluations,
            "linesearch_step": step.step_length,
        }
        words = ("Loss", "Feature norm", "Error norm", "Active features", "Line search trials", "Line search step")
        yield (
            info,
            [
                f"{w}: {v}\n" if isinstance(v, int) else f"{w}: {v:f}\n"
                for w, v in zip(words, info.values(), strict=True)
            ],
            weights,
        )
        if not step.moved or step.gradient_norm <= epsilon * max(1.0, step.x_norm):
            break
        if len(values) > period and values[-1 - period] - step.value < delta * abs(step.value):
            break
    return weights()


def _likelihood(data: Data, merge: bool) -> Likelihood:
    """The objective without its penalties: every label may follow every other, and unseen pairs score 0.

    With ``merge``, attributes of the same items that have weights for the same labels are one parameter.
    """
    size, learned, features = data.corpus.labels, data.learned, data.features
    ones = np.ones(size, np.uint8)
    chain = ChainStructure(size, np.ones(size * size, np.uint8), ones, ones)
    ptr, labels = np.asarray(learned.group_ptr), np.asarray(learned.labels)
    lengths = np.diff(ptr)
    first = np.repeat(ptr[:-1], lengths)
    site = (np.arange(len(labels)) - first) * size + labels
    later = np.flatnonzero(np.arange(len(labels)) > first)
    ends = np.repeat(lengths * size, lengths)
    steps = ends[later] + labels[later - 1] * size + labels[later]
    # Cells of a sentence: those of its sites, then those of its pairs of neighbours.
    order = np.concatenate(
        [np.repeat(np.arange(len(lengths)), lengths), np.repeat(np.arange(len(lengths)), lengths)[later]]
    )
    cells = np.concatenate([site, steps])[np.argsort(order, kind="stable")]
    known = Supervision(np.concatenate([[0], np.cumsum(np.maximum(2 * lengths - 1, 0))]), cells.astype(np.int32))
    rows = CompressedRows(
        learned.rows(data.corpus.attributes),
        merge=merge,
        bundles=size <= FEW_LABELS,
        keys=features.label_sets(),
        threads=data.threads,
    )
    pairs = (features.ptr, features.labels)
    return paired_likelihood(rows, chain, known, pairs, features.transition_of, data.threads)


def _prepared(
    say: Say, title: str, settings: Settings, names: tuple[str, ...], shown: dict[str, str] | None = None
) -> None:
    values = ((shown or {}).get(name, name) + ": " + _text(settings[name]) for name in names)
    say("prepared", [f"{title}\n", *(f"{line}\n" for line in values), "\n"])


def _text(value: Any) -> str:
    return f"{value:f}" if isinstance(value, float) else f"{value:d}" if isinstance(value, int) else str(value)


def online(data: Data, settings: Settings, say: Say) -> Steps:
    """The averaged perceptron, passive-aggressive learning and AROW."""
    titles = {
        "averaged-perceptron": ("Averaged perceptron", ()),
        "passive-aggressive": ("Passive Aggressive", ("type", "c", "error_sensitive", "averaging")),
        "arow": ("Adaptive Regularization of Weights (AROW)", ("variance", "gamma")),
    }
    name = settings.algorithm
    title, own = titles[name]
    _prepared(say, title, settings, (*own, "max_iterations", "epsilon"))
    learner = OnlineChain(data.learned, data.features, SEED)
    if name == "arow":
        learner.reset(settings["variance"])
    averaged = name == "averaged-perceptron" or (name == "passive-aggressive" and settings["averaging"])
    weights = learner.averaged if averaged else learner.weights
    for _ in range(settings["max_iterations"]):
        learner.shuffle()
        if name == "averaged-perceptron":
            loss = learner.perceptron()
        elif name == "passive-aggressive":
            loss = learner.passive_aggressive(
                settings["type"], settings["c"], error_sensitive=settings["error_sensitive"]
            )
        else:
            loss = learner.arow(settings["gamma"])
        norm = float(np.linalg.norm(learner.averaged() if name == "averaged-perceptron" else learner.weights()))
        yield {"loss": loss, "feature_norm": norm}, [f"Loss: {loss:f}\n", f"Feature norm: {norm:f}\n"], weights
        mean = loss / max(learner.sequences, 1)
        # CRFsuite stops AROW at epsilon itself, the others below it.
        if mean < settings["epsilon"] or (name == "arow" and mean == settings["epsilon"]):
            break
    return weights()


def descent(data: Data, settings: Settings, say: Say) -> Steps:
    """Stochastic gradient descent on the objective of ``lbfgs`` with c1 = 0; takes the weights of the best epoch."""
    learner = OnlineChain(data.learned, data.features, SEED)
    n = learner.sequences
    penalty = 2.0 * settings["c2"] / n
    _prepared(say, "Stochastic Gradient Descent (SGD)", settings, ("c2", "max_iterations", "period", "delta"))
    t0 = _calibrate(learner, settings, penalty)
    learner.reset()
    period, losses = settings["period"], list[float]()
    lowest, best = np.inf, learner.weights()
    for epoch in range(settings["max_iterations"]):
        learner.shuffle()
        loss = learner.descend(n, penalty, t0, float(epoch * n))
        if not np.isfinite(loss):
            raise FloatingPointError("the loss overflows: a smaller calibration.eta, or a larger c2, is needed")
        weights = learner.weights()
        norm, rate = float(np.linalg.norm(weights)), 1.0 / (penalty * (t0 + (epoch + 1) * n - 1))
        if loss < lowest:
            lowest, best = loss, weights
        lines = [f"Loss: {loss:f}\n"]
        better = np.inf
        if epoch >= period:
            better = (losses[epoch - period] - loss) / loss
            lines.append(f"Improvement ratio: {better:f}\n")
        lines += [f"Feature L2-norm: {norm:f}\n", f"Learning rate (eta): {rate:f}\n"]
        info = {"loss": loss, "feature_norm": norm}
        yield info, [*lines, f"Total number of feature updates: {(epoch + 1) * n}\n"], learner.weights
        losses.append(loss)
        if better < settings["delta"]:
            break
    return best


def _calibrate(learner: OnlineChain, settings: Settings, penalty: float) -> float:
    """Try learning rates on a sample; return t0 of the best one, which begins with it: eta = 1 / (penalty t0)."""
    count = min(learner.sequences, settings["calibration.samples"])
    eta = first = best = settings["calibration.eta"]
    rate, left = settings["calibration.rate"], settings["calibration.candidates"]
    learner.shuffle()
    learner.reset()
    start, lowest, falling = learner.loss(count), np.inf, False
    for _ in range(settings["calibration.max_trials"] - 1):
        learner.reset()
        loss = learner.descend(count, penalty, 1.0 / (penalty * eta))
        good = bool(np.isfinite(loss)) and loss < start
        left -= good
        if np.isfinite(loss) and loss < lowest:
            lowest, best = loss, eta
        if falling:
            eta /= rate
        elif good and left > 0:
            eta *= rate
        else:
            falling, left, eta = True, settings["calibration.candidates"], first / rate
        if left <= 0 and falling:
            break
    return float(1.0 / (penalty * best))
