"""Alex, Haddow & Grover (2007), tables 4 and 5: nested mentions of GENIA by reduction to flat tagging."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

from experiments.runner import Context, Experiment, Result, Run
from spanloom import Document, Recognizer, read, write
from spanloom.evaluation import evaluate
from spanloom.features import FeatureSet
from spanloom.files import whole_file
from spanloom.reductions import Joined
from spanloom.training import hold
from spanloom.tuning import folds

FOLDS = 5
COMMON = {"features": "alex-genia", "min_count": 2, "scheme": "IOB2", "support": "observed", "overlap": "outermost"}
BASES: dict[str, dict[str, Any]] = {"memm": {"order": 2, "l2": 0.1}, "chain": {"l2": 0.1}}
ROWS: list[tuple[str, dict[str, Any], float]] = [
    ("innermost", {"model": "innermost"}, 64.62),
    ("outermost", {"model": "outermost"}, 62.72),
    ("inside-out layers", {"model": "layered", "direction": "inside-out"}, 67.62),
    ("outside-in layers", {"model": "layered", "direction": "outside-in"}, 67.02),
    ("cascade by performance", {"model": "cascade", "groups": "by-performance"}, 67.88),
    ("cascade by frequency", {"model": "cascade", "groups": "by-frequency"}, 67.72),
    ("cascade all+cell_type", {"model": "cascade", "groups": "all+cell_type"}, 64.55),
    ("cascade all+DNA", {"model": "cascade", "groups": "all+DNA"}, 65.02),
    ("cascade all+other_name", {"model": "cascade", "groups": "all+other_name"}, 66.99),
    ("cascade all+protein", {"model": "cascade", "groups": "all+protein"}, 64.77),
    ("cascade all+RNA", {"model": "cascade", "groups": "all+RNA"}, 64.80),
    ("cascade all+4", {"model": "cascade", "groups": "all+other_name+DNA+protein+RNA"}, 67.56),
    ("joined labels", {"model": "joined"}, 67.82),
]
SIMPLE = ("innermost", "outermost")

RUNS = [
    Run(f"{base}: {name}", {**COMMON, **settings, **more, "base": base}, {"f1": paper})
    for base, more in BASES.items()
    for name, settings, paper in ROWS
] + [Run("edge", {**COMMON, "model": "edge", "l2": 0.1})]


def execute(run: Run, context: Context) -> Result:
    """Train and tag fold after fold; a fold whose predictions are kept is not done again."""
    docs = list(read(f"genia:{context.data / 'genia'}?classes=22"))
    parts = folds(docs, FOLDS, seed=1)
    gold: list[Document] = []
    found: list[Document] = []
    figures: list[dict[str, float]] = []
    for number, part in enumerate(parts[:1] if context.quick else parts):
        test = [docs[i] for i in part]
        kept = context.work / f"{run.name.replace(' ', '-').replace(':', '')}.fold{number}.jsonl"
        beside = kept.with_suffix(".figures.json")
        if not beside.exists():
            left_out = set(part)
            spent = _train_and_tag(run, [d for i, d in enumerate(docs) if i not in left_out], test, kept)
            beside.write_text(json.dumps(spent), encoding="utf-8")
        figures.append(json.loads(beside.read_text(encoding="utf-8")))
        gold += test
        found += list(read(str(kept)))
    report = evaluate(gold, found).to_json()
    micro = report["micro"]
    total = {name: sum(one[name] for one in figures) for name in figures[0]}
    return {
        **{key: micro[key] for key in ("precision", "recall", "f1", "gold", "predicted", "correct")},
        "ceiling": total["reachable"] / micro["gold"],
        "train_seconds": total["training"],
        "words_per_second": sum(map(len, gold)) / total["tagging"],
        "by_label": report["by_label"],
    }


def _train_and_tag(run: Run, train: list[Document], test: list[Document], out: Path) -> dict[str, float]:
    settings = dict(run.settings)
    named = FeatureSet.named(settings.pop("features"))
    features = FeatureSet(named.templates, name=named.name, min_count=settings.pop("min_count"))
    start = time.perf_counter()
    ner = Recognizer(features=features, **settings).fit(train)
    trained = time.perf_counter()
    tagged = ner.predict(test)
    done = time.perf_counter()
    write(tagged, str(out))
    return {"training": trained - start, "tagging": done - trained, "reachable": _reachable(ner, test)}


def _reachable(ner: Recognizer, test: list[Document]) -> int:
    """How many of the test mentions the trained model could find."""
    sentences = [sentence for doc in test for sentence in doc.sentences]
    held = hold(ner.model_, sentences, ner.overlap).mentions
    if isinstance(ner.model_, Joined):
        held = [ner.model_.reachable(mentions, len(s)) for mentions, s in zip(held, sentences, strict=True)]
    return sum(map(len, held))


def chi_square(a: Result, b: Result) -> float:
    """Return p of the paper's test: the same share of right answers (true positives against false ones and misses)?"""
    rows = [(r["correct"], r["gold"] + r["predicted"] - 2 * r["correct"]) for r in (a, b)]
    total = sum(map(sum, rows))
    columns = [rows[0][k] + rows[1][k] for k in (0, 1)]
    value = sum(
        (row[k] - sum(row) * columns[k] / total) ** 2 / (sum(row) * columns[k] / total) for row in rows for k in (0, 1)
    )
    return math.erfc(math.sqrt(value / 2))


def finish(results: dict[str, Result], folder: Path) -> None:
    """Write significance against the best simple tagging, and the scores of every class."""
    lines = ["# Reductions: significance and classes", "", "χ² against the best simple tagging of the same base.", ""]
    lines += ["| run | F1 | p (χ²) |", "|---|---:|---:|"]
    for name, result in results.items():
        base = name.split(":")[0]
        simple = [results[f"{base}: {row}"] for row in SIMPLE if f"{base}: {row}" in results]
        p = chi_square(result, max(simple, key=lambda r: float(r["f1"]))) if simple else None
        lines.append(f"| {name} | {100 * result['f1']:.2f} | {'' if p is None else f'{p:.3g}'} |")
    labels = sorted({label for result in results.values() for label in result["by_label"]})
    lines += ["", f"| class | {' | '.join(results)} |", f"|---|{'---:|' * len(results)}"]
    for label in labels:
        scores = [result["by_label"].get(label, {}).get("f1") for result in results.values()]
        lines.append(f"| {label} | {' | '.join('' if s is None else f'{100 * s:.1f}' for s in scores)} |")
    with whole_file(folder / "reductions-classes.md") as out:
        out.write("\n".join(lines) + "\n")


EXPERIMENT = Experiment(
    title="Nested mentions by reduction (Alex, Haddow & Grover 2007, table 4)",
    runs=RUNS,
    execute=execute,
    columns=("precision", "recall", "f1", "ceiling", "train_seconds", "words_per_second"),
    percent=("precision", "recall", "f1", "ceiling"),
    finish=finish,
    about=(
        "GENIA, 22 classes, five-fold cross-validation by document, all levels of nesting scored together; `--quick` "
        "takes the first fold. Base taggers: the maximum-entropy Markov model, as in the paper, and the chain. The "
        "features are those of the paper as far as it describes them, without its gazetteers, which are not public. "
        "Table 1, the nesting patterns, is in the table of the corpora."
    ),
)
