"""Jie, Muis & Lu (2017): tables 1 to 3, edges and time of chain, semi-Markov and dependency-guided models.

All lines take about 20 hours of one core, estimated from the times of earlier ones; half of that chooses L2, where each
value starts from the optimum of the one before, and lines with the same training data share the choice.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import resource
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from experiments import penalties
from experiments.counts import pack
from experiments.dependency_lines import lines
from experiments.dependency_tables import finish
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
QUICK = 600
"""At least so many sentences of each part are in a quick run."""

COARSE = {"person": "PER", "organization": "ORG", "place": "GPE"}
"""The four types of the paper; everything else is MISC."""

CORPORA = {
    "uner": {"path": "uner:{data}/uner-ewt?split={split}", "types": "all"},
    "gum": {"path": "gum:{data}/gum?split={split}", "types": "all"},
    "gum4": {"path": "gum:{data}/gum?split={split}", "types": "coarse"},
    "gum nested": {"path": "gum:{data}/gum?split={split}", "types": "nested"},
}


def load(corpus: str, split: str, context: Context) -> list[Document]:
    """Return the documents of a split with their outermost mentions, in the types of the table."""
    place = CORPORA[corpus]
    docs = []
    for doc in read(place["path"].format(data=context.data, split=split)):
        sentences = list(_marked(doc))
        if place["types"] != "nested":
            sentences = [s.with_mentions(_flat(s.mentions, place["types"] == "coarse")) for s in sentences]
        docs.append(doc.with_sentences(sentences))
        if context.quick and sum(len(d.sentences) for d in docs) >= QUICK:
            break
    return docs


def sentences_of(docs: Sequence[Document]) -> list[Sentence]:
    """Return the sentences of documents."""
    return [sentence for doc in docs for sentence in doc.sentences]


def _marked(doc: Document) -> Iterator[Sentence]:
    for sentence in doc.sentences:
        section = doc.meta.get("genre") or str(sentence.meta.get("sent_id", "")).split("-")[0]
        yield replace(sentence, meta={**sentence.meta, "section": section})


def _flat(mentions: Sequence[Mention], coarse: bool) -> list[Mention]:
    kept, _ = flatten(sorted(set(mentions)), "outermost")
    return [Mention(COARSE.get(m.label, "MISC"), m.parts) for m in kept] if coarse else kept


def lengths(corpus: str, context: Context) -> Result:
    """Count the valid spans of training sentences, however long they may be, by the length of the sentence."""
    spans: dict[int, list[int]] = {}
    for sentence in sentences_of(load(corpus, "train", context)):
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
    parts = (sentences_of(load(settings["corpus"], split, context)) for split in SPLITS)
    scores, _ = _parsed(settings, context, *parts)
    return scores


def _execute(settings: dict[str, Any], context: Context) -> Result:
    docs = load(settings["corpus"], "train", context)
    own = {name: settings.get(name) for name in ("model", "scheme", "features", "longest", "l2", "tol", "max_iter")}
    own |= {"overlap": "outermost"} | ({"max_iter": 5} if context.quick else {})
    chosen = chosen_l2(docs, own, settings, context)
    train, dev, test = sentences_of(docs), *(sentences_of(load(settings["corpus"], s, context)) for s in SPLITS[1:])
    attached: dict[str, float] = {}
    if settings["trees"] != "gold":
        attached, (crossed, dev, test) = _parsed(settings, context, train, dev, test)
        train = train if settings["trees"] == "predicted on test" else crossed
    ner = recognizer(own, l2=chosen.l2, threads=1)
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
        **chosen.to_json(),
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


def chosen_l2(
    docs: Sequence[Document], own: dict[str, Any], settings: dict[str, Any], context: Context
) -> penalties.Chosen:
    """Choose L2 by cross-validation on training documents; lines with the same training data share what is done."""
    parts = penalties.crossed(docs, settings["l2_folds"]) if "l2_folds" in settings else []
    state = context.work / f"l2.{settings['corpus'].replace(' ', '-')}.jsonl"
    return penalties.choose(docs, parts, own, state=state)


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
for their order, not for their height. *By the letter* are lines by the paper's protocol: a chain over IOB2, Stanford's
shapes, the label of the head's arc, gold trees in training; predicted trees are those of the test part. The others are
ours: IOBES, our shapes, jackknifed trees in training where trees are predicted; *ends* adds the dependency features of
a segment's first and last word, *soft guidance* looks at all segments, with the tree's word on each as a feature. L2 is
chosen for every model, corpus and set of features by cross-validation on the training documents (three folds, gold
trees, wider where the best value stands at the edge: `tried` in the JSON file), and training goes on to within 1e-4 of
the optimum; L2 of lines with L = 40 and of `gum nested` is 0.5.
`fits`: the share of gold mentions that the model can hold (table 1); `candidates`, `rows` of features and `edges` per
token of the training data; the time is the median processor time of a whole iteration of training (objective, gradient
and the optimiser's own work) on one core, where other work shares the machine. Parsers are UDPipe, trained on the
training data. Gold parts of speech everywhere. L = 8 unless the settings say otherwise. Comparisons, F1 by section and
pictures: `dependency-details.md`, `dependency-lengths.png`, `dependency-times.png`."""

EXPERIMENT = Experiment(
    title="Dependency-guided recognition (Jie, Muis & Lu 2017)",
    runs=lines(),
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
        "l2",
        "iterations",
        "peak_mb",
    ),
    percent=("precision", "recall", "f1", "fits_train", "fits_test", "uas_train", "uas_test", "las_test"),
    about=ABOUT,
    finish=finish,
)
