"""Jie, Muis & Lu (2017): tables 1, 2 and 3, the edges and the time of chain, semi-Markov and dependency-guided models."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.runner import Context, Experiment, Result, Run
from spanloom import Mention, Recognizer, Sentence, read
from spanloom._native import Likelihood
from spanloom.evaluation.score import micro
from spanloom.evaluation.significance import bootstrap, interval, unit_counts
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import Iteration
from spanloom.models import MODELS
from spanloom.schemes import flatten
from spanloom.training import gold_cells, hold

LONGEST = 8
"""L in the paper."""

COARSE = {"person": "PER", "organization": "ORG", "place": "GPE"}
"""The four types of the paper; everything else is MISC."""

CORPORA = {
    "uner": {"path": "uner:{data}/uner-ewt?split={split}", "types": "all"},
    "gum": {"path": "gum:{data}/gum?split={split}", "types": "all"},
    "gum4": {"path": "gum:{data}/gum?split={split}", "types": "coarse"},
}
FEATURES = {"chain": "jie-chain", "semimarkov": "jie-semi", "dgm-s": "jie-semi", "dgm": "jie-semi"}
PAPER = {  # overall F1 by (trees, dependency features), in the order of FEATURES
    ("gold", True): (77.8, 79.6, 79.0, 80.5),
    ("predicted", True): (77.3, 79.5, 78.2, 79.4),
    ("gold", False): (76.3, 78.5, 78.6, 79.9),
    ("predicted", False): (76.3, 78.5, 78.0, 78.8),
}
EDGES = {"semimarkov": 132.0, "dgm-s": 40.0, "dgm": 61.0}


def load(corpus: str, split: str, context: Context) -> list[Sentence]:
    """Return the sentences of a split with their outermost mentions, in the types of the table."""
    place = CORPORA[corpus]
    sentences = [s for doc in read(place["path"].format(data=context.data, split=split)) for s in _marked(doc)]
    if context.quick:
        sentences = sentences[:600]
    coarse = place["types"] == "coarse"
    return [s.with_mentions(_flat(s.mentions, coarse)) for s in sentences]


def _marked(doc: Any) -> Iterator[Sentence]:
    for sentence in doc.sentences:
        section = doc.meta.get("genre") or str(sentence.meta.get("sent_id", "")).split("-")[0]
        yield replace(sentence, meta={**sentence.meta, "section": section})


def _flat(mentions: Sequence[Mention], coarse: bool) -> list[Mention]:
    kept, _ = flatten(sorted(set(mentions)), "outermost")
    return [Mention(COARSE.get(m.label, "MISC"), m.parts) for m in kept] if coarse else kept


def runs() -> Iterator[Run]:
    """Chain, semi-Markov, DGM-S and DGM, by corpus, trees and dependency features."""
    for corpus, trees, dep in (
        ("uner", "gold", False),
        ("uner", "gold", True),
        ("gum", "gold", False),
        ("gum4", "gold", True),
        ("uner", "predicted", False),
        ("uner", "predicted", True),
        ("gum4", "predicted", True),
    ):
        for place, (model, features) in enumerate(FEATURES.items()):
            if trees == "predicted" and not dep and model in ("chain", "semimarkov"):
                continue  # they see no tree
            name = f"{corpus}, {trees} trees{', dependency features' if dep else ''}: {model}"
            settings = {
                "corpus": corpus,
                "trees": trees,
                "model": model,
                "features": features + "+dep" * dep,
                "longest": LONGEST if model != "chain" else None,
                "l2": 0.1,
            }
            paper = {"f1": PAPER[trees, dep][place], **({"edges": EDGES[model]} if model in EDGES else {})}
            yield Run(name, settings, paper)


def execute(run: Run, context: Context) -> Result:
    """Do one run in a process of its own, so that its memory can be told."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_execute, run.settings, context).result()


def _execute(settings: dict[str, Any], context: Context) -> Result:
    train, dev, test = (load(settings["corpus"], split, context) for split in ("train", "dev", "test"))
    if settings["trees"] == "predicted":
        train, dev, test = _parsed(settings["corpus"], train, dev, test, context)
    ner = Recognizer(
        settings["model"],
        features=settings["features"],
        longest=settings["longest"],
        l2=settings["l2"],
        overlap="outermost",
        max_iter=5 if context.quick else None,
    )
    figures = _cost(ner, train)
    seconds: list[float] = []
    start = time.process_time()

    def listen(record: Iteration) -> None:
        seconds.append(time.process_time() - start)

    ner.fit(train, listener=listen)
    begun = time.process_time()
    found = [s.mentions for s in ner.predict(test)]
    tagging = time.process_time() - begun
    gold = [s.mentions for s in test]
    score = micro(gold, found)
    counts = unit_counts(gold, found)
    sections = sorted({s.meta["section"] for s in test})
    return {
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "dev_f1": ner.score(dev).f1,
        "fits_train": ner.ceiling_,
        "fits_test": hold(ner.model_, test, "outermost").ceiling,
        **figures,
        "iterations": len(ner.history_),
        "training_cpu_seconds": round(seconds[-1], 2),
        "words_per_second": round(sum(map(len, test)) / tagging),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "features": ner.extractor_.size,
        "interval": interval(counts)["f1"].to_json(),
        "sections": {
            section: micro(
                [g for g, s in zip(gold, test, strict=True) if s.meta["section"] == section],
                [f for f, s in zip(found, test, strict=True) if s.meta["section"] == section],
            ).f1
            for section in sections
        },
        "unit_counts": counts.ravel().tolist(),
    }


def _cost(ner: Recognizer, train: Sequence[Sentence]) -> dict[str, float]:
    """Measure one evaluation of objective and gradient on one core, and count candidates and edges.

    ``edges`` are those of the paper's lattice, one for every candidate with its column and the column before it.
    """
    model = MODELS[ner.model](**({"longest": ner.longest} if ner.model != "chain" else {}))
    held = hold(model, train, "outermost").mentions
    model.learn([(mentions, len(s)) for mentions, s in zip(held, train, strict=True)])
    (component,) = model.components
    extractor = FeatureExtractor(FeatureSet.named(str(ner.features)), model.sites)
    shapes = model.shapes(train, extractor.layout)
    rows = extractor.fit(train, None, shapes.lattices)
    cells = gold_cells(component, held, shapes)
    objective = Likelihood(rows, component.structure_for(shapes), *cells, threads=1)
    x = np.zeros(objective.size)
    objective.evaluate(x)
    times = []
    for _ in range(5):
        start = time.process_time()
        objective.evaluate(x)
        times.append(time.process_time() - start)
    tokens = sum(map(len, train))
    out = {"ms_per_evaluation": 1000 * min(times), "entries_per_token": rows.entries / tokens}
    if shapes.lattices is not None:
        columns = len(component.columns)
        longer = shapes.lattices.segments - tokens
        out["candidates"] = shapes.lattices.segments / tokens
        out["edges"] = (longer * (columns - 1) * columns + tokens * columns**2) / tokens
    return out


def _parsed(corpus: str, *splits: Any) -> tuple[list[Sentence], ...]:
    raise NotImplementedError


def finish(results: dict[str, Result], folder: Path) -> None:
    """Compare DGM with the others by bootstrap, and draw edges and time."""


EXPERIMENT = Experiment(
    title="Dependency-guided recognition (Jie, Muis & Lu 2017)",
    runs=list(runs()),
    execute=execute,
    columns=("f1", "precision", "recall", "fits_train", "fits_test", "candidates", "edges", "ms_per_evaluation", "peak_mb"),
    percent=("precision", "recall", "f1", "fits_train", "fits_test"),
    finish=finish,
)
