"""The linear chain against python-crfsuite: gradient, training, tagging, memory, as ratios in one run.

    python benchmarks/chain.py --data ../shared/data [--quick]

The corpus is UNER-EWT, the labels IOBES, the features those of ``templates()`` below: about 40 a token, written once as
spanloom templates and once as the Python function that a CRFsuite user would write. A check makes sure that both give
the same features. Both systems fit all (feature, label) pairs and all transitions, with the same L2 penalty. Every
measurement runs in a process of its own; figures for one thread are processor time, those for two wall time. The
table goes to ``benchmarks/results/chain.md``, the picture beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
L2 = 1.0


def templates() -> list[str]:
    """The features as spanloom templates."""
    return [
        "bias",
        "word[-2..2]",
        "lower(word)[-2..2]",
        "shape(word)[-2..2]",
        "word[-1] & word[0]",
        "word[0] & word[1]",
        "shape(word)[-1] & shape(word)[0]",
        "shape(word)[0] & shape(word)[1]",
        "lower(word)[-1] & lower(word)[0]",
        "lower(word)[0] & lower(word)[1]",
        "prefix(word, 1..4)[0]",
        "suffix(word, 1..4)[0]",
        "prefix(word, 3)[-1]",
        "prefix(word, 3)[1]",
        "suffix(word, 3)[-1]",
        "suffix(word, 3)[1]",
        "word[-2] & word[-1]",
        "word[1] & word[2]",
        "word[-1] & word[1]",
        "shape(word)[-1] & shape(word)[0] & shape(word)[1]",
        "lower(word)[-1] & lower(word)[0] & lower(word)[1]",
        "suffix(lower(word), 2)[-1..1]",
        "prefix(lower(word), 2)[-1..1]",
    ]


def shape(word: str) -> str:
    """Upper case to X, lower case to x, digits to 9."""
    return "".join("X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else c for c in word)


def python_features(words: list[str]) -> list[list[str]]:
    """The same features as a CRFsuite user would write them."""
    n = len(words)
    lower = [w.lower() for w in words]
    shapes = [shape(w) for w in words]
    found = []
    for i in range(n):
        features = ["bias"]
        for o in range(-2, 3):
            t = i + o
            if 0 <= t < n:
                features += [f"w[{o}]={words[t]}", f"l[{o}]={lower[t]}", f"s[{o}]={shapes[t]}"]
            else:
                edge = "<s>" if t < 0 else "</s>"
                features += [f"w[{o}]={edge}", f"l[{o}]={edge}", f"s[{o}]={edge}"]
        for o in (-1, 0):
            for name, column in (("w", words), ("s", shapes), ("l", lower)):
                a = column[i + o] if i + o >= 0 else "<s>"
                b = column[i + o + 1] if i + o + 1 < n else "</s>"
                features.append(f"{name}[{o}]|{name}[{o + 1}]={a}|{b}")
        word = words[i]
        for k in range(1, min(4, len(word)) + 1):
            features += [f"p{k}={word[:k]}", f"q{k}={word[-k:]}"]
        for o in (-1, 1):
            if 0 <= i + o < n and len(words[i + o]) >= 3:
                features += [f"p3[{o}]={words[i + o][:3]}", f"q3[{o}]={words[i + o][-3:]}"]

        def at(column: list[str], t: int) -> str:
            return column[t] if 0 <= t < n else "<s>" if t < 0 else "</s>"

        features += [
            f"w[-2]|w[-1]={at(words, i - 2)}|{at(words, i - 1)}",
            f"w[1]|w[2]={at(words, i + 1)}|{at(words, i + 2)}",
            f"w[-1]|w[1]={at(words, i - 1)}|{at(words, i + 1)}",
            f"s[-1]|s[0]|s[1]={at(shapes, i - 1)}|{shapes[i]}|{at(shapes, i + 1)}",
            f"l[-1]|l[0]|l[1]={at(lower, i - 1)}|{lower[i]}|{at(lower, i + 1)}",
        ]
        for o in (-1, 0, 1):
            if 0 <= i + o < n and len(lower[i + o]) >= 2:
                features += [f"q2[{o}]={lower[i + o][-2:]}", f"p2[{o}]={lower[i + o][:2]}"]
        found.append(features)
    return found


def load(data: str, split: str, quick: bool) -> tuple[list[list[str]], list[list[str]], list[Any]]:
    """Words, IOBES labels and sentences of one part of UNER-EWT."""
    from spanloom import read
    from spanloom.corpus.tags import to_tags

    sentences = list(read(f"uner:{data}/uner-ewt?split={split}").sentences())[:: 10 if quick else 1]
    labels = [to_tags([(m.label, m.start, m.end) for m in s.mentions], len(s), "IOBES") for s in sentences]
    return [s.tokens for s in sentences], labels, sentences


def clock(threads: int) -> float:
    """Processor time of one thread, whatever else the machine does; wall time where several threads work together."""
    return time.process_time() if threads == 1 else time.perf_counter()


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# The measurements, each run in a process of its own.


def check_features(data: str, quick: bool) -> dict[str, Any]:
    """Both ways to make features give as many, and as many different ones."""
    from spanloom.features import FeatureExtractor, FeatureSet

    words, _, sentences = load(data, "dev", quick)
    extractor = FeatureExtractor(FeatureSet(templates()))
    entries = extractor.fit(sentences).entries
    theirs = [f for w in words for token in python_features(w) for f in token]
    if (entries, extractor.size) != (len(theirs), len(set(theirs))):
        raise SystemExit(f"{entries}, {extractor.size} features of ours, {len(theirs)}, {len(set(theirs))} of theirs")
    return {}


def crfsuite_training(data: str, quick: bool, model: str) -> dict[str, Any]:
    """Train to CRFsuite's own convergence. Its log counts processor time, and so do we where one thread works."""
    import numpy as np
    import pycrfsuite

    words, labels, _ = load(data, "train", quick)
    base = peak_mb()
    start = clock(1)
    trainer = pycrfsuite.Trainer(verbose=False)
    features = 0
    for w, y in zip(words, labels, strict=True):
        x = python_features(w)
        features += sum(map(len, x))
        trainer.append(x, y)
    prepared = clock(1)
    trainer.select("lbfgs")
    trainer.set_params({"c1": 0, "c2": L2, "feature.possible_states": True, "feature.possible_transitions": True})
    trainer.set("max_iterations", 10_000)
    trainer.train(model)
    end = clock(1)
    log = trainer.logparser.iterations
    trials = np.array([i["linesearch_trials"] for i in log[1:]], float)
    seconds = np.array([i["time"] for i in log[1:]], float)
    return {
        "features_per_token": features / sum(map(len, words)),
        "distinct": trainer.logparser.featgen_num_features,
        "prepare": prepared - start,
        "train": end - prepared,
        "total": end - start,
        "iterations": len(log),
        "objective": log[-1]["loss"],
        "iteration": float(np.median(seconds[trials == 1])),
        "peak_mb": peak_mb(),
        "corpus_mb": base,
    }


def problem(sentences: list[Any], labels: list[list[str]], threads: int) -> tuple[Any, Any, Any, Any]:
    """The features of the sentences, the chain, and the cells of their labels, by sentence."""
    import numpy as np

    from spanloom._native import ChainStructure
    from spanloom.features import FeatureExtractor, FeatureSet

    rows = FeatureExtractor(FeatureSet(templates())).fit(sentences, threads)
    names = sorted({y for ys in labels for y in ys})
    index = {name: i for i, name in enumerate(names)}
    size = len(names)
    chain = ChainStructure(size, np.ones(size**2, np.uint8), np.ones(size, np.uint8), np.ones(size, np.uint8))
    cells, ptr = [], [0]
    for ys in labels:
        y = np.array([index[label] for label in ys], np.int32)
        n = len(y)
        cells += [np.arange(n, dtype=np.int32) * size + y, n * size + y[:-1] * size + y[1:]]
        ptr.append(ptr[-1] + 2 * n - 1)
    return rows, chain, np.array(ptr), np.concatenate(cells).astype(np.int32)


def spanloom_training(data: str, quick: bool, target: float, threads: int) -> dict[str, Any]:
    """Train by L-BFGS until the objective is as low as CRFsuite's."""
    import numpy as np

    from spanloom._native import Lbfgs, Likelihood

    words, labels, sentences = load(data, "train", quick)
    base = peak_mb()
    start = clock(threads)
    rows, chain, ptr, gold = problem(sentences, labels, threads)
    prepared = clock(threads)
    objective = Likelihood(rows, chain, ptr, gold, threads=threads)
    entries, width = rows.entries, rows.width
    del rows
    optimiser = Lbfgs(objective, np.zeros(objective.size), l2=L2, threads=threads)
    iterations, evaluations, single = 0, 1, []
    while optimiser.state.value > target:
        before = clock(threads)
        step = optimiser.iterate()
        iterations += 1
        evaluations += step.evaluations
        if step.evaluations == 1:
            single.append(clock(threads) - before)
        if not step.moved:
            break
    end = clock(threads)
    peak = peak_mb()
    x = optimiser.x()
    gradient = []
    for _ in range(7):
        before = clock(threads)
        objective.evaluate(x)
        gradient.append(clock(threads) - before)
    return {
        "features_per_token": entries / sum(map(len, words)),
        "distinct": width,
        "parameters": objective.size,
        "prepare": prepared - start,
        "train": end - prepared,
        "total": end - start,
        "iterations": iterations,
        "evaluations": evaluations,
        "objective": optimiser.state.value,
        "iteration": float(np.median(single)),
        "gradient": float(np.median(gradient)),
        "peak_mb": peak,
        "corpus_mb": base,
    }


def spanloom_ascent(data: str, quick: bool, target: float, threads: int) -> dict[str, Any]:
    """Train until there with the trainer ``sdca``, which learns one problem on one thread."""
    from spanloom._native import Supervision
    from spanloom.learning import SDCA, LearningProblem

    _, labels, sentences = load(data, "train", quick)
    start = clock(threads)
    rows, chain, ptr, gold = problem(sentences, labels, threads)
    prepared = clock(threads)
    passes = 0
    trainer = SDCA(l2=L2, tol=1e-7)
    for record, _ in trainer.steps(LearningProblem(rows, chain, Supervision(ptr, gold)), seed=1, threads=threads):
        passes += record.evaluations
        if record.objective <= target:
            break
    end = clock(threads)
    return {
        "train": end - prepared,
        "total": end - start,
        "passes": passes,
        "objective": record.objective,
        "peak_mb": peak_mb(),
    }


def crfsuite_tagging(data: str, quick: bool, model: str) -> dict[str, Any]:
    """Tag the development part, from tokens and from prepared features."""
    import pycrfsuite

    words, _, _ = load(data, "dev", quick)
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    tokens = sum(map(len, words))
    from_tokens = best_of(lambda: [tagger.tag(python_features(w)) for w in words])
    prepared = [pycrfsuite.ItemSequence(python_features(w)) for w in words]
    from_features = best_of(lambda: [tagger.tag(x) for x in prepared])
    return {"from_tokens": tokens / from_tokens, "from_features": tokens / from_features}


def spanloom_tagging(data: str, quick: bool, threads: int) -> dict[str, Any]:
    """The same with a recogniser (a short training is enough: the work of tagging does not depend on the weights)."""
    from spanloom import Recognizer
    from spanloom._native import Decoder
    from spanloom.learning import LBFGS
    from spanloom.models import Chain

    _, _, train = load(data, "train", quick)
    words, _, dev = load(data, "dev", quick)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.loom"
        trainer = LBFGS(max_iter=20, l2=L2)
        Recognizer(Chain(constrained=False), features=templates(), trainer=trainer).fit(train).save(model)
        ner = Recognizer.load(model, threads=threads)
    del train
    tokens = sum(map(len, words))
    from_tokens = best_of(lambda: ner.predict(dev, probabilities=False), threads)
    rows = ner.extractor_.transform(dev, threads)
    component, weights = ner.trained_.components[0], ner.trained_.weights[0]
    decoder = Decoder(component.structure, weights.features.ravel(), weights.globals)
    from_features = best_of(lambda: decoder.best(rows, threads), threads)
    return {"from_tokens": tokens / from_tokens, "from_features": tokens / from_features}


def best_of(work: Any, threads: int = 1, times: int = 5) -> float:
    """The shortest of some runs: what the work takes when nobody else works."""
    seconds = []
    for _ in range(times):
        start = clock(threads)
        work()
        seconds.append(clock(threads) - start)
    return min(seconds)


def measure(done: dict[str, Any], state: Path | None, role: str, *args: Any) -> dict[str, Any]:
    """Run one measurement in a fresh process, unless an earlier run has done it."""
    name = f"{role} {args[-1] if role.startswith('spanloom') else ''}".strip()
    if name not in done:
        done[name] = run(role, *args)
        if state is not None:
            state.write_text(json.dumps(done), encoding="utf-8")
    found: dict[str, Any] = done[name]
    return found


def run(role: str, *args: Any) -> dict[str, Any]:
    command = [sys.executable, __file__, "--role", role, *map(str, args)]
    print(f"… {role} {' '.join(map(str, args[2:]))}", file=sys.stderr, flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{role} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--quick", action="store_true", help="a tenth of the corpus; the table is not written")
    parser.add_argument("--state", type=Path, help="keep finished measurements here, and go on from them")
    parser.add_argument("--role", nargs="+", help=argparse.SUPPRESS)
    args, rest = parser.parse_known_args()
    if args.role:
        role, data, quick, *more = [*args.role, *rest]
        numbers = [float(m) if m.replace(".", "", 1).replace("e+", "").isdigit() else m for m in more]
        if role.startswith("spanloom"):
            numbers[-1] = int(numbers[-1])
        print(json.dumps(globals()[role.replace("-", "_")](data, quick == "True", *numbers)))
        return
    done = json.loads(args.state.read_text(encoding="utf-8")) if args.state and args.state.exists() else {}
    resumed = bool(done)
    common = (args.data, args.quick)
    measure(done, args.state, "check-features", *common)
    with tempfile.TemporaryDirectory() as folder:
        model = str(args.state.with_suffix(".crfsuite") if args.state else Path(folder) / "model.crfsuite")
        crf = measure(done, args.state, "crfsuite-training", *common, model)
        crf_tag = measure(done, args.state, "crfsuite-tagging", *common, model)
    ours = {t: measure(done, args.state, "spanloom-training", *common, crf["objective"], t) for t in (1, 2)}
    ascent = measure(done, args.state, "spanloom-ascent", *common, crf["objective"], 1)
    tag = {t: measure(done, args.state, "spanloom-tagging", *common, t) for t in (1, 2)}
    rows = [
        ("one training iteration, 1 thread", crf["iteration"], ours[1]["iteration"], "s", 5),
        ("one training iteration, 2 threads", crf["iteration"], ours[2]["iteration"], "s", 8),
        ("training to CRFsuite's objective, 1 thread", crf["train"], ours[1]["train"], "s", None),
        ("training to CRFsuite's objective, 2 threads", crf["train"], ours[2]["train"], "s", 6),
        ("the same with reading features, 2 threads", crf["total"], ours[2]["total"], "s", None),
        ("training to CRFsuite's objective by `sdca`, 1 thread", crf["train"], ascent["train"], "s", 20),
        ("the same with reading features, 1 thread", crf["total"], ascent["total"], "s", None),
        ("tagging from tokens, 1 thread", crf_tag["from_tokens"], tag[1]["from_tokens"], "tokens/s", 20),
        ("tagging from tokens, 2 threads", crf_tag["from_tokens"], tag[2]["from_tokens"], "tokens/s", 20),
        ("tagging from prepared features, 1 thread", crf_tag["from_features"], tag[1]["from_features"], "tokens/s", 5),
        ("peak memory of training", crf["peak_mb"], ours[2]["peak_mb"], "MB", 2),
    ]
    text = report(rows, crf, ours, ascent, resumed)
    print(text)
    if not args.quick:
        (HERE / "results").mkdir(exist_ok=True)
        (HERE / "results" / "chain.md").write_text(text, encoding="utf-8")
        plot(rows, HERE / "results" / "chain.png")


def ratio(row: tuple[str, float, float, str, int | None]) -> float:
    """How many times better spanloom is."""
    _, theirs, ours, unit, _ = row
    return ours / theirs if unit == "tokens/s" else theirs / ours


def report(
    rows: list[Any], crf: dict[str, Any], ours: dict[int, dict[str, Any]], ascent: dict[str, Any], resumed: bool
) -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    lines = [
        "# The linear chain against python-crfsuite",
        "",
        "`python benchmarks/chain.py` on UNER-EWT, both systems on one machine, all (feature, label) pairs",
        f"and transitions, L2 {L2}; {crf['features_per_token']:.1f} features a token. Commit {commit.stdout.strip()}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores.",
        "",
        "**Not one run**: measured in several sittings (`--state`), the machine not equally busy in all of them."
        if resumed
        else "Measured in one run.",
        "",
        "| what | python-crfsuite | spanloom | ratio | floor |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        name, theirs, mine, unit, floor = row
        digits = ",.3f" if unit == "s" else ",.0f"
        wanted = f"{floor}×" if floor else ""
        lines.append(
            f"| {name} | {theirs:{digits}} {unit} | {mine:{digits}} {unit} | **{ratio(row):.1f}×** | {wanted} |"
        )
    one = ours[1]
    lines += [
        "",
        f"CRFsuite took {crf['iterations']} iterations to {crf['objective']:.2f}; spanloom went below that in "
        f"{one['iterations']} of L-BFGS ({one['evaluations']} evaluations), to {one['objective']:.2f}, by `sdca` in "
        f"{ascent['passes']} passes, to {ascent['objective']:.2f}, with a peak of {ascent['peak_mb']:,.0f} MB.",
        f"A gradient evaluation alone takes spanloom {one['gradient']:.3f} s on one thread and "
        f"{ours[2]['gradient']:.3f} s on two; an iteration adds the L-BFGS update, on both sides.",
        f"{one['distinct']:,} features; equal columns merged, {one['parameters']:,} parameters.",
        "Peak memory includes the corpus "
        f"({crf['corpus_mb']:,.0f} MB for CRFsuite's process, {one['corpus_mb']:,.0f} MB for spanloom's).",
        "",
    ]
    return "\n".join(lines)


def plot(rows: list[Any], path: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 3.8), constrained_layout=True)
    names = [row[0] for row in rows][::-1]
    values = [ratio(row) for row in rows][::-1]
    axes.barh(names, values, color="#3b6ea5")
    for y, (row, value) in enumerate(zip(rows[::-1], values, strict=True)):
        axes.text(value, y, f" {value:.1f}×", va="center")
        if row[4]:
            axes.plot([row[4], row[4]], [y - 0.4, y + 0.4], color="#c44", lw=2)
    axes.set_xscale("log")
    axes.set_xlim(1, max(values) * 1.6)
    axes.set_xlabel("times better than python-crfsuite (red: floor)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
