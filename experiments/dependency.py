"""Jie, Muis & Lu (2017): tables 1 to 3, edges and time of chain, semi-Markov and dependency-guided models."""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import resource
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.counts import pack
from experiments.dependency_tables import FEATURES, LETTER, LONG, LONGEST, finish
from experiments.ends import ends
from experiments.runner import Context, Experiment, Result, Run
from experiments.settings import recognizer
from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom.annotators import Parser, UDPipe, attachment, cross_fit_trees, train_udpipe, with_trees
from spanloom.corpus import valid_spans
from spanloom.corpus.trees import heads_of
from spanloom.evaluation.score import micro
from spanloom.evaluation.significance import interval, unit_counts
from spanloom.models.holding import hold
from spanloom.models.segments import SegmentModel
from spanloom.models.structured import Structured
from spanloom.schemes import flatten

SPLITS = ("train", "dev", "test")

COARSE = {"person": "PER", "organization": "ORG", "place": "GPE"}
"""The four types of the paper; everything else is MISC."""

CORPORA = {
    "uner": {"path": "uner:{data}/uner-ewt?split={split}", "types": "all"},
    "gum": {"path": "gum:{data}/gum?split={split}", "types": "all"},
    "gum4": {"path": "gum:{data}/gum?split={split}", "types": "coarse"},
    "gum nested": {"path": "gum:{data}/gum?split={split}", "types": "nested"},
}
PAPER = {  # overall F1 by (trees, dependency features), in the order of FEATURES
    ("gold", True): (77.8, 79.6, 79.0, 80.5),
    ("predicted", True): (77.3, 79.5, 78.2, 79.4),
    ("gold", False): (76.3, 78.5, 78.6, 79.9),
    ("predicted", False): (76.3, 78.5, 78.0, 78.8),
}
EDGES = {"semimarkov": 132.0, "dgm-s": 40.0, "dgm": 61.0}
L2 = {("uner", "semimarkov"): 1.0}
"""Otherwise 0.5: the best of 0.02, 0.1, 0.5, 1 and 2 on 1,500 training and 1,000 development sentences of UNER-EWT,
dgm-s as dgm. On a quarter of GUM and half of its development part semimarkov has 45.97 with 0.5, 45.65 with 1, and with
dependency features 48.15 and 47.93."""

PARSING = {"folds": 2, "parser": {"iterations": 3, "structured_interval": 0}}
"""On 2,000 sentences of UNER-EWT the structured oracle doubles the time of training, and brings nothing so early."""


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
    for corpus in ("uner", "gum4", "gum"):
        for trees, dep in (("gold", False), ("gold", True), ("predicted", False), ("predicted", True)):
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
                    "l2": L2.get((corpus, model), 0.5),
                }
                if trees == "predicted":
                    settings |= PARSING
                paper = {"f1": PAPER[trees, dep][place], **({"edges": EDGES[model]} if model in EDGES else {})}
                yield Run(name, settings, paper)
    yield from by_the_letter()
    for corpus, dep, model in itertools.product(("gum", "gum4"), (False, True), ("semimarkov", "dgm")):
        settings = {"corpus": corpus, "trees": "gold", "model": model, "features": "jie-semi" + "+dep" * dep, "l2": 0.5}
        yield Run(f"{corpus}, gold trees{', dependency features' * dep}{LONG}: {model}", settings | {"longest": 40})
    for model, features, longest in (
        ("edge", "jie-chain", None),
        ("edge", "jie-chain+dep", None),
        ("dgm-nested", "jie-semi", 12),
        ("spans", "jie-semi", 12),
        ("dgm-nested", "jie-semi+dep", 12),
        ("spans", "jie-semi+dep", 12),
    ):
        dep_name = ", dependency features" * features.endswith("+dep")
        settings = {"corpus": "gum nested", "trees": "gold", "model": model, "features": features}
        yield Run(f"gum nested, gold trees{dep_name}: {model}", settings | {"longest": longest, "l2": 0.5})
    for corpus in ("uner", "gum"):
        yield Run(f"{corpus}: parsers", {"corpus": corpus, "task": "parsers", "trees": "predicted", **PARSING})
        yield Run(f"{corpus}, gold trees: valid spans by length, L = n", {"corpus": corpus, "task": "lengths"})


def by_the_letter() -> Iterator[Run]:
    """Lines by the paper's protocol where those of ``runs`` differ: a chain over IOB2, gold trees in training."""
    for corpus, dep in itertools.product(("uner", "gum4", "gum"), (False, True)):
        dep_name = ", dependency features" * dep
        for trees, models in (("gold", ("chain",)), ("predicted", tuple(FEATURES) if dep else ("dgm-s", "dgm"))):
            for model in models:
                settings: dict[str, Any] = {
                    "corpus": corpus,
                    "trees": "gold" if trees == "gold" else "predicted on test",
                    "model": model,
                    "features": FEATURES[model] + "+dep" * dep,
                    "longest": LONGEST if model != "chain" else None,
                    "l2": L2.get((corpus, model), 0.5),
                }
                settings |= {"scheme": "IOB2"} if model == "chain" else {}
                settings |= PARSING if trees == "predicted" else {}
                paper = {"f1": PAPER[trees, dep][list(FEATURES).index(model)]}
                yield Run(f"{corpus}, {trees} trees{dep_name}{LETTER}: {model}", settings, paper)


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
    work = _parse if run.settings.get("task") == "parsers" else _execute
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, run.settings, context).result()


def _parse(settings: dict[str, Any], context: Context) -> Result:
    """Train the parsers that the lines with predicted trees use; they find them where they are kept."""
    scores, _ = _parsed(settings, context, *(load(settings["corpus"], split, context) for split in SPLITS))
    return scores


def _execute(settings: dict[str, Any], context: Context) -> Result:
    train, dev, test = (load(settings["corpus"], split, context) for split in SPLITS)
    attached: dict[str, float] = {}
    if settings["trees"] != "gold":
        attached, (crossed, dev, test) = _parsed(settings, context, train, dev, test)
        train = train if settings["trees"] == "predicted on test" else crossed
    own = {name: settings.get(name) for name in ("model", "scheme", "features", "longest", "l2")}
    ner = recognizer(own, overlap="outermost", max_iter=5 if context.quick else None, threads=1)
    times = [time.process_time()]
    ner.fit(train, listener=lambda _: times.append(time.process_time()))
    seconds = np.diff(times)
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
        "fits_test": hold(ner.trained_.holder, test, "outermost").ceiling,
        **_candidates(ner, train),
        **attached,
        "iterations": len(ner.history_),
        # The first ones also hold the features and the line search's first steps.
        "ms_per_iteration": 1000 * float(np.median(seconds[2:])),
        "training_cpu_seconds": round(times[-1] - times[0], 2),
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
        "unit_counts": pack(counts),
        "trainings": ends(ner),
    }


def _candidates(ner: Recognizer, train: Sequence[Sentence]) -> dict[str, float]:
    """Count candidates, rows of features and edges per token of the training data.

    ``edges`` are those of the paper's lattice, one for every candidate with its column and the column before it.
    """
    trained = ner.trained_
    if not isinstance(trained, Structured) or not isinstance(trained.model, SegmentModel):
        return {}
    tokens = sum(map(len, train))
    lattices = trained.model.lattices(train, trained.extractor.layout)
    segments = lattices.segments
    (component,) = trained.components
    columns = len(component.columns)
    out = {"candidates": segments / tokens, "rows": lattices.rows / tokens}
    if component.columns[0] == "O":
        out["edges"] = ((segments - tokens) * (columns - 1) * columns + tokens * columns**2) / tokens
    return out


def _parsed(
    settings: dict[str, Any], context: Context, train: list[Sentence], *others: list[Sentence]
) -> tuple[dict[str, float], list[list[Sentence]]]:
    """Replace gold by predicted trees: training data by cross-fitting, the rest by a parser trained on all of them.

    Returns the attachment score of each split, too. Parsers see the gold parts of speech, as in the paper.
    """
    folder = context.work / f"parsers.{settings['corpus'][:4].rstrip('4')}"
    folder.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = settings["parser"] | ({"iterations": 1} if context.quick else {})

    def learn(sentences: Sequence[Sentence]) -> Parser:
        digest = hashlib.sha256(repr(([s.tokens for s in sentences], options)).encode()).hexdigest()[:16]
        path = folder / f"{digest}.udpipe"
        return UDPipe(path) if path.exists() else train_udpipe(sentences, path, **options)

    alone = [Document([sentence]) for sentence in train]
    crossed = cross_fit_trees(alone, learn, folds=settings["folds"], cache=folder)
    parsed = [[sentence for document in crossed for sentence in document.sentences]]
    parser = learn(train)
    parsed += [with_trees(split, parser, again=True, cache=folder) for split in others]
    scores: dict[str, float] = {}
    for name, gold, found in zip(SPLITS, (train, *others), parsed, strict=True):
        score = attachment(gold, found)
        scores |= {f"uas_{name}": score.uas, f"las_{name}": score.las}
    return scores, parsed


ABOUT = """\
OntoNotes is licensed; the stand-ins are UNER-EWT (`uner`) and GUM's outermost mentions, in all ten types (`gum`) and in
four coarse ones as in the paper (`gum4`); `gum nested` has all of GUM's mentions. The paper's figures are beside ours
for their order, not for their height. `fits`: the share of gold mentions that the model can hold (table 1);
`candidates`, `rows` of features and `edges` per token of the training data; the time is the median processor time of a
whole iteration of training (objective, gradient and the optimiser's own work) on one core, where other work shares the
machine. Parsers are UDPipe, trained on the training data; training data get their trees by jackknifing. Gold parts of
speech everywhere. L = 8 unless the settings say otherwise. Comparisons, F1 by section and pictures:
`dependency-details.md`, `dependency-lengths.png`, `dependency-times.png`."""

UNLIKE = (
    "UNER-EWT or GUM for OntoNotes, which is licensed",
    "L2 roughly by development data, not by cross-validation",
    "shapes of ours; the label of the token's own arc; adjacent mentions of one type are not merged",
)
CHAIN = "IOBES labels, not IOB2"
JACKKNIFED = "jackknifed trees in training, not gold ones"


def _unlike(run: Run) -> Run:
    """Say how a line of the paper's tables differs from it."""
    if not run.paper:
        return run
    more = (CHAIN,) * (run.settings["model"] == "chain" and "scheme" not in run.settings)
    more += (JACKKNIFED,) * (run.settings["trees"] == "predicted")
    return replace(run, differs=(*UNLIKE, *more))


EXPERIMENT = Experiment(
    title="Dependency-guided recognition (Jie, Muis & Lu 2017)",
    runs=[_unlike(run) for run in runs()],
    execute=execute,
    columns=(
        "f1",
        "precision",
        "recall",
        "fits_train",
        "fits_test",
        "uas_train",
        "uas_test",
        "las_test",
        "candidates",
        "rows",
        "edges",
        "ms_per_iteration",
        "words_per_second",
        "peak_mb",
    ),
    percent=("precision", "recall", "f1", "fits_train", "fits_test", "uas_train", "uas_test", "las_test"),
    about=ABOUT,
    finish=finish,
)
