"""Muis & Lu (2017): STATE, EDGE, mention hypergraph and linear chains on corpora with and without overlap."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from experiments.runner import Context, Experiment, Result, Run
from spanloom import Recognizer
from spanloom.corpus import Sentence, read
from spanloom.evaluation import evaluate
from spanloom.features.brown import train_clusters

CORPORA = {
    "genia": ("genia:{data}/genia?classes=5&split={split}", ("train", "dev", "test")),
    "gum": ("gum:{data}/gum?split={split}", ("train", "dev", "test")),
    "gum3": ("gum:{data}/gum?split={split}", ("train", "dev", "test")),
    "uner": ("uner:{data}/uner-ewt?split={split}", ("train", "dev", "test")),
}
"""Where a corpus is; ``gum3`` has persons, places and organisations only."""

GUM3 = frozenset({"person", "place", "organization"})
QUICK = 400


def load(corpus: str, split: str, context: Context) -> list[Sentence]:
    """Return the sentences of a part of a corpus."""
    ref = CORPORA[corpus][0].format(data=context.data, split=split)
    found: Iterable[Sentence] = (s for doc in read(ref) for s in doc.sentences)
    if corpus == "gum3":
        found = (s.with_mentions([m for m in s.mentions if m.label in GUM3]) for s in found)
    sentences = list(found)
    return sentences[:QUICK] if context.quick else sentences


def clusters(count: int, context: Context) -> Path:
    """Return Brown clusters of the unlabelled text, made once."""
    path = context.work / f"paths{count}"
    if not path.exists():
        with (context.data / "pubmed" / "sentences.txt").open(encoding="utf-8") as lines:
            train_clusters((line for i, line in enumerate(lines) if not context.quick or i < QUICK), count).write(path)
    return path


def execute(run: Run, context: Context) -> Result:
    """Train, score the test part, choose the penalty on the development part, and score again."""
    settings: dict[str, Any] = dict(run.settings)
    corpus = settings.pop("corpus")
    train, dev, test = (load(corpus, split, context) for split in CORPORA[corpus][1])
    if settings.get("clusters"):
        settings["clusters"] = clusters(settings["clusters"], context)
    if context.quick:
        settings["max_iter"] = 5
    ner = Recognizer(overlap="longest", **settings)
    start = time.perf_counter()
    ner.fit(train)
    seconds = time.perf_counter() - start
    untuned = evaluate(test, ner.predict(test)).micro
    curve = ner.tune_mention_penalty(dev)
    ner.threads = 1
    words = sum(map(len, test))
    start = time.process_time()  # one thread: what it takes of a core, whatever else the machine does
    found = ner.predict(test)
    speed = words / (time.process_time() - start)
    report = evaluate(test, found)
    kinds = report.by_sentence_kind
    f1 = report.interval(resamples=2000)["f1"]
    ends = {r.component: r.number for r in ner.history_}
    return {
        "precision": report.micro.precision,
        "recall": report.micro.recall,
        "f1": report.micro.f1,
        "low": f1.low,
        "high": f1.high,
        "untuned P": untuned.precision,
        "untuned R": untuned.recall,
        "untuned F1": untuned.f1,
        "dev F1": curve.at(curve.best).f1,
        "penalty": curve.best,
        "F1 overlap": kinds["overlapping"].f1 if "overlapping" in kinds else None,
        "F1 no overlap": kinds["without_overlap"].f1 if "without_overlap" in kinds else None,
        "ceiling": ner.ceiling_,
        "words_per_second": speed,
        "training seconds": seconds,
        "iterations": sum(ends.values()),
        "features": ner.extractor_.size,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "objective": [[r.component, r.number, round(r.objective, 1)] for r in ner.history_],
        "curve": curve.to_json(),
        "sentence kinds": {name: score.to_json() for name, score in kinds.items()},
    }


def paper(precision: float, recall: float, f1: float, speed: float) -> dict[str, float]:
    """Return a line of table 3."""
    return {"precision": precision, "recall": recall, "f1": f1, "words_per_second": speed}


RICH = {"corpus": "genia", "model": "edge", "annotators": ["phrases"], "l2": 4.0, "max_iter": 100, "tol": 1e-3}
PAPER = {"corpus": "genia", "features": "muis-lu-genia", "clusters": 1000, "l2": 0.5, "max_iter": 150, "tol": 1e-3}
GUM = {"corpus": "gum", "features": "muis-lu-ace", "l2": 0.5, "max_iter": 150, "tol": 1e-3}
FLAT = {"corpus": "uner", "features": "muis-lu-ace", "l2": 0.5, "max_iter": 150, "tol": 1e-3}
MODELS = (
    ("chain", {"model": "chain", "scheme": "BILOU"}, paper(77.1, 63.3, 69.5, 81.6)),
    ("chains", {"model": "chains", "scheme": "BILOU"}, paper(75.9, 66.1, 70.6, 175.8)),
    ("hypergraph", {"model": "hypergraph"}, paper(74.2, 66.7, 70.3, 931.9)),
    ("state", {"model": "state"}, paper(74.0, 67.7, 70.7, 110.8)),
    ("edge", {"model": "edge"}, paper(75.4, 66.8, 70.8, 389.2)),
)

RUNS = [
    Run("genia, edge, rich", {**RICH, "features": "genia-rich", "clusters": 1000}),
    *(Run(f"genia, {name}, paper's features", {**PAPER, **model}, line) for name, model, line in reversed(MODELS)),
    *(Run(f"gum, {name}", {**GUM, **model}) for name, model, _ in reversed(MODELS)),
    *(Run(f"gum, three types, {name}", {**GUM, **model, "corpus": "gum3"}) for name, model, _ in reversed(MODELS)),
    *(Run(f"uner (flat), {name}", {**FLAT, **model}) for name, model, _ in reversed(MODELS)),
    Run("genia, edge, rich without clusters", {**RICH, "features": "gaps+gap-heads"}),
    Run("genia, edge, rich without heads", {**RICH, "features": "gaps"}),
]

EXPERIMENT = Experiment(
    title="Overlapping mentions: separators, hypergraph and chains",
    runs=RUNS,
    execute=execute,
    columns=(
        "precision",
        "recall",
        "f1",
        "low",
        "high",
        "untuned F1",
        "dev F1",
        "penalty",
        "F1 overlap",
        "F1 no overlap",
        "ceiling",
        "words_per_second",
        "training seconds",
        "iterations",
        "peak GB",
    ),
    percent=(
        "precision",
        "recall",
        "f1",
        "low",
        "high",
        "untuned F1",
        "dev F1",
        "F1 overlap",
        "F1 no overlap",
        "ceiling",
    ),
    about=(
        "Tables 2 to 5 of Muis & Lu (2017). GENIA has five types, 14,836 / 1,855 / 1,855 sentences, words cut at "
        "hyphens and slashes, part of speech from the corpus; Brown clusters come from 116,435 biomedical sentences. "
        "The mention penalty is chosen on the development part; `low` and `high` bound F1 with 95 % (bootstrap over "
        "sentences); `F1 overlap` counts the sentences in which gold mentions overlap. Words per second are from "
        "tokens to mentions on one core, by processor time. `objective` in the JSON file is figure 7."
    ),
)
