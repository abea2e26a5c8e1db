"""Jie, Muis & Lu (2017): tables 1 to 3, edges and time of chain, semi-Markov and dependency-guided models."""

from __future__ import annotations

import hashlib
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
from spanloom.corpus import valid_spans
from spanloom.corpus.trees import heads_of
from spanloom.evaluation.score import micro
from spanloom.evaluation.significance import bootstrap, interval, unit_counts
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import Iteration
from spanloom.models import MODELS
from spanloom.parsers import Parser, UDPipeParser, attachment, jackknife, train_udpipe, with_trees
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
    "gum nested": {"path": "gum:{data}/gum?split={split}", "types": "nested"},
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
    if place["types"] == "nested":
        return sentences
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
            settings: dict[str, Any] = {
                "corpus": corpus,
                "trees": trees,
                "model": model,
                "features": features + "+dep" * dep,
                "longest": LONGEST if model != "chain" else None,
                "l2": 0.1,
            }
            if trees == "predicted":
                settings |= {"folds": 3, "parser_iterations": 5}
            paper = {"f1": PAPER[trees, dep][place], **({"edges": EDGES[model]} if model in EDGES else {})}
            yield Run(name, settings, paper)
    for model, features, longest in (
        ("edge", "jie-chain", None),
        ("edge", "jie-chain+dep", None),
        ("spans", "jie-semi", 12),
        ("dgm-nested", "jie-semi", 12),
        ("dgm-nested", "jie-semi+dep", None),
    ):
        dep = ", dependency features" * features.endswith("+dep")
        yield Run(
            f"gum nested, gold trees{dep}: {model}",
            {
                "corpus": "gum nested",
                "trees": "gold",
                "model": model,
                "features": features,
                "longest": longest,
                "l2": 0.1,
            },
        )

    for corpus in ("uner", "gum"):
        yield Run(f"{corpus}, gold trees: valid spans by length, L = n", {"corpus": corpus, "task": "lengths"})


def lengths(corpus: str, context: Context) -> Result:
    """Count the valid spans of training sentences, however long they may be, by the length of the sentence."""
    spans: dict[int, list[int]] = {}
    for sentence in load(corpus, "train", context):
        found = valid_spans(heads_of(sentence).tolist())
        spans.setdefault(len(sentence), []).append(len(found))
    tokens = sum(n * len(counts) for n, counts in spans.items())
    return {
        "candidates": sum(map(sum, spans.values())) / tokens,
        "by_length": {str(n): sum(counts) / len(counts) for n, counts in sorted(spans.items())},
        "sentences": {str(n): len(counts) for n, counts in sorted(spans.items())},
    }


def execute(run: Run, context: Context) -> Result:
    """Do one run in a process of its own, so that its memory can be told."""
    if run.settings.get("task") == "lengths":
        return lengths(run.settings["corpus"], context)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_execute, run.settings, context).result()


def _execute(settings: dict[str, Any], context: Context) -> Result:
    train, dev, test = (load(settings["corpus"], split, context) for split in ("train", "dev", "test"))
    attached: dict[str, float] = {}
    if settings["trees"] == "predicted":
        attached, (train, dev, test) = _parsed(settings, context, train, dev, test)
    ner = Recognizer(
        settings["model"],
        features=settings["features"],
        longest=settings["longest"],
        l2=settings["l2"],
        overlap="outermost",
        max_iter=5 if context.quick else None,
    )
    figures = _cost(ner, train) if settings["model"] != "edge" else {}
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
        **attached,
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
        if component.columns[0] == "O":
            out["edges"] = (longer * (columns - 1) * columns + tokens * columns**2) / tokens
    return out


def _parsed(
    settings: dict[str, Any], context: Context, train: list[Sentence], *others: list[Sentence]
) -> tuple[dict[str, float], list[list[Sentence]]]:
    """Replace gold by predicted trees: training data by jackknifing, the rest by a parser trained on all of them.

    Returns the attachment score of each split, too. Parsers see the gold parts of speech, as in the paper.
    """
    folder = context.work / f"parsers.{settings['corpus'][:4].rstrip('4')}"
    folder.mkdir(parents=True, exist_ok=True)
    options = {"iterations": 1 if context.quick else settings["parser_iterations"]}

    def learn(sentences: Sequence[Sentence]) -> Parser:
        digest = hashlib.sha256(repr(([s.tokens for s in sentences], options)).encode()).hexdigest()[:16]
        path = folder / f"{digest}.udpipe"
        return UDPipeParser(path) if path.exists() else train_udpipe(sentences, path, **options)

    parsed = [jackknife(train, learn, folds=settings["folds"], cache=folder)]
    parser = learn(train)
    parsed += [with_trees(split, parser, again=True, cache=folder) for split in others]
    names = ("uas_train", "uas_dev", "uas_test")
    scores = {
        name: attachment(gold, found).uas for name, gold, found in zip(names, (train, *others), parsed, strict=True)
    }
    return scores, parsed


def finish(results: dict[str, Result], folder: Path) -> None:
    """Compare every model with the semi-Markov one by paired bootstrap; draw candidates against length."""
    lines = [
        "# Bootstrap against the semi-Markov model",
        "",
        "| | difference in F1 | 95 % | p |",
        "|---|---:|---:|---:|",
    ]
    for name, result in results.items():
        condition, _, model = name.rpartition(": ")
        base = results.get(f"{condition}: semimarkov")
        if model == "semimarkov" or base is None or "unit_counts" not in result:
            continue
        mine, theirs = (np.array(r["unit_counts"], np.int64).reshape(-1, 3) for r in (result, base))
        test = bootstrap(mine, theirs)
        gap = test.difference["f1"]
        lines.append(
            f"| {name} | {100 * gap.value:+.2f} | {100 * gap.low:+.2f} … {100 * gap.high:+.2f} | {test.p['f1']:.4f} |"
        )
    (folder / "dependency-bootstrap.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _draw_lengths({name: r for name, r in results.items() if "by_length" in r}, folder)


def _draw_lengths(results: dict[str, Result], folder: Path) -> None:
    """Valid spans against sentence length, beside n, e·n and all segments up to L."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    most = 60
    for name, result in results.items():
        points = [(int(n), y) for n, y in result["by_length"].items() if int(n) <= most and result["sentences"][n] >= 5]
        axes.plot(*zip(*points, strict=True), marker=".", label=name.split(":")[0])
    n = np.arange(1, most + 1)
    axes.plot(n, np.e * n, "k--", linewidth=0.8, label="e·n")
    axes.plot(n, n, "k:", linewidth=0.8, label="n (single words)")
    everything = [sum(min(LONGEST, k) for k in range(1, int(m) + 1)) for m in n]
    axes.plot(n, everything, "k-", linewidth=0.8, label=f"L = {LONGEST}, no tree")
    axes.set_xlabel("tokens in the sentence")
    axes.set_ylabel("candidate segments")
    axes.legend(frameon=False)
    figure.savefig(folder / "dependency-lengths.svg")


ABOUT = """\
OntoNotes is licensed; the stand-ins are UNER-EWT (`uner`) and GUM's outermost mentions, in all ten types (`gum`) and in
four coarse ones as in the paper (`gum4`); `gum nested` has all of GUM's mentions. The paper's figures are beside ours
for their order, not for their height. `fits`: the share of gold mentions that the model can hold (table 1);
`candidates` and `edges` per token; the time is that of one evaluation of objective and gradient on the training data on
one core. Parsers are UDPipe, trained on the training data for five passes; training data get their trees by jackknifing
in three folds. Gold parts of speech everywhere. L = 8 unless the settings say otherwise."""

EXPERIMENT = Experiment(
    title="Dependency-guided recognition (Jie, Muis & Lu 2017)",
    runs=list(runs()),
    execute=execute,
    columns=(
        "f1",
        "precision",
        "recall",
        "fits_train",
        "fits_test",
        "uas_test",
        "candidates",
        "edges",
        "ms_per_evaluation",
        "words_per_second",
        "peak_mb",
    ),
    percent=("precision", "recall", "f1", "fits_train", "fits_test", "uas_test"),
    about=ABOUT,
    finish=finish,
)
