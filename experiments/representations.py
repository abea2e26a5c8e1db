"""Cho et al. 2013: seven segment representations alone, and several in one model (tables 4, 5, 9, 10, 11 and 13)."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments import bc2gm
from experiments.bc2gm import SCORES, blind, in_characters, scores
from experiments.paired import p_value
from experiments.runner import Context, Experiment, Result, Run
from experiments.settings import recognizer
from spanloom import Document, Recognizer, Sentence, read
from spanloom._native import Likelihood, Supervision
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import LBFGS, LearningProblem
from spanloom.learning.lbfgs import native_tying
from spanloom.models import Chain
from spanloom.models.component import Component, Shapes
from spanloom.models.holding import hold
from spanloom.models.structured import Dev
from spanloom.models.supervised import supervise
from spanloom.schemes import Representations

SINGLE = ("IO", "IOB2", "IOE2", "BI", "IE", "IOBES", "BIES")
SEVERAL = ("IOB2+", "IOBES+", "BIES,IO", "BIES+")
L2 = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5)
SEARCH_TOL = 1e-3
"""Training stops a little earlier while L2 is chosen."""
QUICK = 1500
"""Training sentences of a quick run."""

Chars = list[tuple[int, int]]
GOLD = "bc2gm gold"
"""Under this name, what is to be found is kept beside what the models find."""


def load(corpus: str, part: str, data: Path) -> list[Document]:
    """Read one part of a corpus."""
    return bc2gm.load(part, data) if corpus == "bc2gm" else list(read(f"uner:{data}/uner-ewt?split={part}"))


def encoded(model: Chain, sentences: Sequence[Sentence]) -> tuple[Component, Supervision]:
    """The component of a chain for training sentences, and what it learns from."""
    held = hold(model, sentences, "longest").mentions
    shapes = Shapes([len(s) for s in sentences])
    (component,) = model.components(held, shapes.lengths)
    return component, supervise(component, sentences, held, shapes)


def count_features(scheme: str, sentences: Sequence[Sentence], ner: Recognizer) -> tuple[int, float]:
    """The paper's #feat and AFI: distinct pairs of a feature and a label, and how often each fires on average."""
    rows = ner.extractor_.transform(sentences)
    component, gold = encoded(Chain(scheme), sentences)
    sites, pairs = component.tying()
    objective = Likelihood(
        rows, component.structure, gold, native_tying(sites), native_tying(pairs), merge=False, observed=True
    )
    state = objective.size - (component.structure.global_cells if pairs is None else pairs.width)
    representations = 1 + len(Representations.parse(scheme).others)
    return state, rows.entries * representations / state


def try_l2(settings: dict[str, Any], train: Sequence[Sentence]) -> dict[float, float]:
    """F1 on the last tenth of the training part, learned from the rest with each L2."""
    cut = len(train) * 9 // 10
    learn, watch = train[:cut], train[cut:]
    model = Chain(settings["scheme"])
    component, gold = encoded(model, learn)
    extractor = FeatureExtractor(FeatureSet.named(settings["features"]))
    problem = LearningProblem(extractor.fit(learn, 1), component.structure, gold, *component.tying())
    path = LBFGS(settings["max_iter"], tol=SEARCH_TOL).along_l2(problem, L2, threads=1)
    f1 = Dev.of(model, extractor, watch, 1).f1_of(component)
    return {value: f1(weights) for value, weights in path}


def execute(run: Run, context: Context) -> Result:
    """Train one model and score it on the test part; its predictions are kept for the comparison."""
    s = run.settings
    train = [sentence for doc in load(s["corpus"], "train", context.data) for sentence in doc.sentences]
    train = train[: QUICK if context.quick else round(len(train) * s["share"])]
    test = load(s["corpus"], "test", context.data)
    blank = [blind(doc) for doc in test] if s["corpus"] == "bc2gm" else test
    options: dict[str, Any] = {k: s[k] for k in ("scheme", "features", "tol", "max_iter")}
    options |= {"overlap": "longest", "threads": 1}
    l2, tried = s["l2"], {}
    if l2 == "tune":
        tried = try_l2(s, train)
        l2 = max(L2, key=lambda value: tried[value])
    start = time.process_time()
    ner = recognizer(options, model="chain", l2=l2).fit(train)
    trained = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    seconds = []
    for _ in range(5):
        start = time.process_time()
        found = ner.predict(blank)
        seconds.append(time.process_time() - start)
    features, instances = count_features(s["scheme"], train, ner)
    for name, docs in ((run.name, found), (f"{s['corpus']} gold", test)):
        spans: list[Chars] = [[m.parts[0] for m in in_characters(doc).mentions] for doc in docs]
        (context.work / _file(name)).write_text(json.dumps(spans))
    return {
        **scores(test, found),
        "l2": l2,
        "tried": {str(value): f1 for value, f1 in tried.items()},
        "features": features,
        "instances": instances,
        "iterations": ner.training_["iterations"],
        "train_seconds": trained,
        "words_per_second": sum(map(len, blank)) / min(seconds),
        "peak_gb": peak,
    }


def compare(results: dict[str, Result], folder: Path) -> None:
    """Write p-values between models and what changes from one to the other (tables 5, 10 and 11)."""
    work = folder if folder.name.endswith(".quick") else folder.parent / "work" / "representations"
    lines = ["# Changes between segment representations", ""]
    names = [n for n in results if n.startswith("bc2gm") and n.endswith(tuple(SINGLE + SEVERAL))]
    names = [n for n in names if (work / _file(n)).exists()]  # others were run elsewhere
    if not names or not (work / _file(GOLD)).exists():
        return
    gold, *found = (_read(work / _file(name)) for name in (GOLD, *names))
    sets = dict(zip(names, found, strict=True))
    lines += ["Chance that the model of the row is not better than that of the column (paired bootstrap, 10,000).", ""]
    lines += ["| | " + " | ".join(_short(n) for n in names) + " |", "|---|" + "---:|" * len(names)]
    chances = _bootstrap(gold, found)
    for i, a in enumerate(names):
        cells = ["" if a == b else p_value(chances[i, j]) for j, b in enumerate(names)]
        lines.append(f"| {_short(a)} | " + " | ".join(cells) + " |")
    for a, b in (("bc2gm IO", "bc2gm BIES"), ("bc2gm BIES", "bc2gm BIES+"), ("bc2gm BIES", "bc2gm BIES,IO")):
        if a in sets and b in sets:
            lines += ["", f"From {_short(a)} to {_short(b)}: {_changes(gold, sets[a], sets[b])}"]
    three = ("bc2gm IO", "bc2gm BIES", "bc2gm BIES,IO")
    if all(name in sets for name in three):
        lines += ["", "What IO and BIES find together or alone, and how much of it BIES,IO finds (table 11):", ""]
        lines += ["| found by | | mentions | also by BIES,IO |", "|---|---|---:|---:|"]
        for (who, what), (count, also) in agreement(gold, *(sets[name] for name in three)).items():
            lines.append(f"| {who} | {what} | {count:,} | {also:,} |")
    (folder / "representations-changes.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw precision and recall over the share of the training data (figures 2 and 3)."""
    curves = {
        scheme: [
            (share, results[f"bc2gm {scheme}{part}"])
            for share, part in ((0.1, " 10%"), (0.2, " 20%"), (0.4, " 40%"), (1.0, ""))
            if f"bc2gm {scheme}{part}" in results
        ]
        for scheme in ("IOB2", "IOBES", "BIES", "IOB2+", "IOBES+", "BIES+")
    }
    if all(len(points) < 2 for points in curves.values()):
        return
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, column in zip(axes, ("precision", "recall"), strict=True):
        for i, (scheme, points) in enumerate(curves.items()):
            shares, values = [100 * s for s, _ in points], [100 * r[column] for _, r in points]
            axis.plot(shares, values, "o-" if i >= 3 else "o--", color=f"C{i % 3}", label=scheme)
        axis.set(xlabel="% of the training sentences", ylabel=column)
    axes[1].legend()
    figure.savefig(folder / "representations.png", dpi=120)
    plt.close(figure)


def finish(results: dict[str, Result], folder: Path) -> None:
    """Compare and draw."""
    compare(results, folder)
    draw(results, folder)


Sets = list[set[tuple[int, ...]]]


def agreement(gold: Sets, a: Sets, b: Sets, both: Sets) -> dict[tuple[str, str], tuple[int, int]]:
    """Count true and false positives that two models share or have alone, and those of them that a third has.

    Examples
    --------
    >>> found = agreement([{(0, 1)}], [{(0, 1), (2, 3)}], [{(0, 1)}], [{(0, 1)}])
    >>> found["both", "right"], found["the first alone", "wrong"]
    ((1, 1), (1, 0))
    """
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for who, chosen in (
        ("both", [x & y for x, y in zip(a, b, strict=True)]),
        ("the first alone", [x - y for x, y in zip(a, b, strict=True)]),
        ("the second alone", [y - x for x, y in zip(a, b, strict=True)]),
    ):
        for what in ("right", "wrong"):
            kept = [c & g if what == "right" else c - g for c, g in zip(chosen, gold, strict=True)]
            also = sum(len(k & third) for k, third in zip(kept, both, strict=True))
            counts[who, what] = (sum(map(len, kept)), also)
    return counts


def _changes(gold: Sets, a: Sets, b: Sets) -> str:
    counts = dict.fromkeys(("false negatives mended", "new", "false positives mended", "new ones"), 0)
    for g, x, y in zip(gold, a, b, strict=True):
        counts["false negatives mended"] += len(g & (y - x))
        counts["new"] += len(g & (x - y))
        counts["false positives mended"] += len((x - y) - g)
        counts["new ones"] += len((y - x) - g)
    return ", ".join(f"{count} {what}" for what, count in counts.items()) + "."


def _bootstrap(gold: Sets, found: Sequence[Sets], resamples: int = 10_000) -> npt.NDArray[np.float64]:
    """``[a, b]``: the share of resamples of the sentences in which F1 of a is not above that of b."""
    wanted = np.array([len(g) for g in gold], np.float64)
    mine = np.array([[len(x) for x in one] for one in found], np.float64)
    right = np.array([[len(g & x) for g, x in zip(gold, one, strict=True)] for one in found], np.float64)
    counts = np.concatenate([2 * right, wanted + mine]).T
    counts = counts[counts.any(axis=1)]
    random = np.random.default_rng(1)
    worse = np.zeros((len(found), len(found)))
    for _ in range(resamples // 500):
        drawn = random.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), 500) @ counts
        f1 = drawn[:, : len(found)] / drawn[:, len(found) :]
        worse += (f1[:, :, None] <= f1[:, None, :]).sum(axis=0)
    return worse / (resamples // 500 * 500)


def _short(name: str) -> str:
    return name.removeprefix("bc2gm ")


def _file(name: str) -> str:
    return f"{name.replace(' ', '-')}.mentions.json"


def _read(path: Path) -> Sets:
    return [{tuple(part) for part in doc} for doc in json.loads(path.read_text())]


def _runs() -> list[Run]:
    common = {"features": "default", "tol": 1e-4, "max_iter": 200}
    whole = [
        Run(f"{corpus} {scheme}", {**common, "corpus": corpus, "share": 1.0, "scheme": scheme, "l2": "tune"})
        for corpus in ("bc2gm", "uner-ewt")
        for scheme in (*SEVERAL[::-1], *SINGLE[::-1])
    ]
    parts = [
        Run(f"bc2gm {scheme} {share:.0%}", {**common, "corpus": "bc2gm", "share": share, "scheme": scheme, "l2": 0.5})
        for share in (0.1, 0.2, 0.4)
        for scheme in ("IOB2", "IOBES", "BIES", "IOB2+", "IOBES+", "BIES+")
    ]
    unlike = ("words only, no lemmas, parts of speech, chunks or dictionaries", "at most 200 iterations, not 2,000")
    corpus = {"uner-ewt": ("UNER-EWT for CoNLL-2003, which is licensed",)}
    alone = ("one L2 for all points of the learning curve",)
    return [
        replace(run, differs=(*unlike, *corpus.get(run.settings["corpus"], ()), *(alone if run in parts else ())))
        for run in whole + parts
    ]


EXPERIMENT = Experiment(
    title="Segment representations (Cho et al. 2013)",
    runs=_runs(),
    execute=execute,
    columns=(
        *SCORES,
        "l2",
        "features",
        "instances",
        "iterations",
        "train_seconds",
        "peak_gb",
        "words_per_second",
    ),
    percent=SCORES,
    about=(
        "BioCreative II gene mention and UNER-EWT, test part, exact match; `alt` is BioCreative's rule with "
        "alternatives. Words only (the feature set `default`); the paper also has lemmas, parts of speech, chunks and "
        "two large dictionaries. `features` are distinct pairs of a feature and a label over all representations, "
        "`instances` how often such a pair fires in training on average (AFI). L2 is chosen for every model from ten "
        "values on the last tenth of the training part, and the model then learns from all of it, as in the paper. "
        "Percentages after a name: the first so many of the training sentences, with one L2 for all. Training seconds "
        "and words per second are processor time of one thread; tagging is the best of five."
    ),
    finish=finish,
)
