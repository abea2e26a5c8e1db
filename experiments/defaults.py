"""Default settings: F1 against the number of training sentences, for what is taken where nothing is set and models."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from experiments.runner import Context, Experiment, Result, Run
from spanloom import Document, Recognizer, read
from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.configuration import configure
from spanloom.features import FeatureSet

CORPORA = {
    "GENIA": "genia:{data}/genia?classes=5&split={part}",
    "GUM": "gum:{data}/gum?split={part}",
}
SIZES = (200, 500, 1500)
ALL = 1_000_000
DEV = 400
"""Sentences that choices are made on where there is development data; others are scored on."""
WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "chain": {"model": "chain"},
    "state": {"model": "state"},
    "edge": {"model": "edge"},
    "before": {"model": "edge", "features": list(FeatureSet.named("default").templates)},
    "chain, L2 0.5": {"model": "chain", "l2": 0.5},
    "chains": {"model": "chains"},
    "hypergraph": {"model": "hypergraph"},
    "layered": {"model": "layered"},
    "multilabel": {"model": "multilabel"},
    "memm": {"model": "memm"},
}
"""What is set. ``before``: the default of earlier versions, ``edge`` with features of the right side of a gap."""


def first(documents: list[Document], sentences: int) -> list[Document]:
    """Return the first documents that together have so many sentences; the last one is cut."""
    taken: list[Document] = []
    left = sentences
    for document in documents:
        if left <= 0:
            break
        own = document.sentences[:left]
        taken.append(document if len(own) == len(document.sentences) else Document(own, document.id))
        left -= len(own)
    return taken


def execute(run: Run, context: Context) -> Result:
    """Train on the first sentences, choose on the first of the development part, score on the next."""
    s = run.settings
    ref = CORPORA[s["corpus"]]
    train = first(list(read(ref.format(data=context.data, part="train"))), 100 if context.quick else s["sentences"])
    held = [Document([one]) for doc in read(ref.format(data=context.data, part="dev")) for one in doc.sentences]
    size = min(DEV, len(held) // 2)
    dev, test = held[:size], held[size : 4 * size]
    ner: Recognizer = configure({"keep": "longest", "threads": 1, **s["settings"]})
    ner.fit(train)
    score = ner.score(test).micro
    result = {
        "model": repr(ner.model_),
        "sentences": sum(len(doc.sentences) for doc in train),
        "scored on": len(test),
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "penalty": None,
        "penalised": score.f1,
        "training": ner.training_["seconds"],
    }
    with suppress(ParameterError):  # of models that take no penalty
        result["penalty"] = ner.tune_mention_penalty(dev).chosen
        result["penalised"] = ner.score(test).f1
    return result


def runs() -> list[Run]:
    """Learning curves on GENIA, the new and the old default on GUM."""
    made = []
    for way, settings in WAYS.items():
        sizes = (*SIZES, ALL) if way in ("default", "chain") else SIZES
        for corpus in ("GENIA", "GUM") if way in ("default", "chain", "state", "edge", "before") else ("GENIA",):
            for size in sizes:
                if size == ALL and corpus == "GUM":
                    continue
                name = "all" if size == ALL else str(size)
                made.append(
                    Run(f"{corpus}, {name}: {way}", {"corpus": corpus, "sentences": size, "settings": settings})
                )
    return sorted(made, key=_order)


def _order(run: Run) -> tuple[bool, int, bool]:
    """What matters first, so that an experiment that is stopped has it."""
    size = run.settings["sentences"]
    return size == ALL, size, run.settings["corpus"] != "GENIA"


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw F1 against sentences for every model on GENIA."""
    plt = need("matplotlib.pyplot", "plot")
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for way in WAYS:
        points = [(size, results.get(f"GENIA, {'all' if size == ALL else size}: {way}")) for size in (*SIZES, ALL)]
        known = [(r["sentences"], 100 * r["penalised"]) for _, r in points if r]
        if known:
            wide = 2.4 if way == "default" else 1.1
            axes.plot(*zip(*known, strict=True), marker="o", linewidth=wide, markersize=3, label=way)
    axes.set_xscale("log")
    axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    axes.minorticks_off()
    axes.set_xlabel("training sentences")
    axes.set_ylabel("F1 on development sentences")
    axes.set_title("GENIA, five types, with a mention penalty where a model takes one")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(folder / "defaults.png", dpi=130, metadata={"Software": None})
    plt.close(figure)


EXPERIMENT = Experiment(
    title="Default settings, by the number of training sentences",
    runs=runs(),
    execute=execute,
    columns=["sentences", "scored on", "precision", "recall", "f1", "penalty", "penalised", "training"],
    percent=("precision", "recall", "f1", "penalised"),
    about=(
        "Trained on the first sentences of the training part, scored on sentences 400 to 1,600 of the development part "
        "(fewer where there are fewer), without and with a mention penalty, which the first 400 choose. Nothing was "
        "tried on test parts. Features are the default ones. Models that cannot hold all mentions are trained on the "
        "longest, and scored on all. `default` is what is taken where nothing is set, `before` what was taken in "
        "earlier versions: `edge` with features that know more of the right side of a gap than of the left one. "
        "`penalised` is F1 with the penalty, `training` is in seconds of a busy machine."
    ),
    finish=draw,
)
