"""Default settings: F1 against the number of training sentences, for every model and for choices of L2 and penalty."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from experiments.runner import Context, Experiment, Result, Run
from spanloom import Document, Recognizer, read
from spanloom.base.errors import ParameterError
from spanloom.configuration import configure

CORPORA = {
    "GENIA": "genia:{data}/genia?classes=5&split={part}",
    "GUM": "gum:{data}/gum?split={part}",
    "UNER-EWT": "uner:{data}/uner-ewt?split={part}",
    "DaN+": "conll:{data}/danplus/da_news_{part}.tsv?tags=1,2",
}
SIZES = (200, 500, 1500, 5000)
MODELS = (
    "chain",
    "edge",
    "state",
    "chains",
    "hypergraph",
    "layered",
    "joined",
    "semimarkov",
    "multilabel",
    "memm",
    "spans",
)
DEV = 400
"""Sentences that choices are made on where there is development data; others are scored on."""
MOST = {"joined": 1500, "spans": 1500, "semimarkov": 1500}
"""Models that take too long on more."""


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
    most = 20 if context.quick else s["max_iter"]
    ner: Recognizer = configure(
        {"model": s["model"], "keep": "longest", "threads": 1, "max_iter": most, **s["settings"]}
    )
    ner.fit(train)
    score = ner.score(test).micro
    result = {
        "sentences": sum(len(doc.sentences) for doc in train),
        "scored on": len(test),
        "iterations": max(record.number for record in ner.history_),
        "P": score.precision,
        "R": score.recall,
        "F1": score.f1,
    }
    with suppress(ParameterError):  # of models that take no penalty
        result["penalty"] = ner.tune_mention_penalty(dev).chosen
        result["F1, penalty"] = ner.score(test).f1
    return result


def runs() -> list[Run]:
    """Chain, edge and state on all corpora with several L2; learning curves of all models on GENIA with defaults."""
    made = []
    for corpus in CORPORA:
        for size in SIZES[:3]:
            for model in ("chain", "edge", "state"):
                for l2 in (0.1, 0.5, 2.0):
                    one = {"corpus": corpus, "sentences": size, "model": model, "max_iter": 150, "settings": {"l2": l2}}
                    made.append(Run(f"{corpus}, {size}: {model}, L2 {l2:g}", one))
    for size in SIZES:
        for model in MODELS:
            if size <= MOST.get(model, SIZES[-1]):
                one = {"corpus": "GENIA", "sentences": size, "model": model, "max_iter": 150, "settings": {}}
                made.append(Run(f"GENIA, {size}: {model}", one))
    return made


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw F1 against sentences for every model on GENIA."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    for model in MODELS:
        points = [(size, results.get(f"GENIA, {size}: {model}")) for size in SIZES]
        known = [(size, 100 * result["F1"]) for size, result in points if result]
        if known:
            axes.plot(*zip(*known, strict=True), marker="o", linewidth=1.2, markersize=3, label=model)
    axes.set_xscale("log")
    axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    axes.minorticks_off()
    axes.set_xlabel("training sentences")
    axes.set_ylabel("F1 on development sentences")
    axes.set_title("GENIA, five types, default settings")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(folder / "defaults.png", dpi=130, metadata={"Software": None})
    plt.close(figure)


EXPERIMENT = Experiment(
    title="Default settings, and what L2 and the mention penalty change",
    runs=runs(),
    execute=execute,
    columns=["sentences", "scored on", "iterations", "P", "R", "F1", "penalty", "F1, penalty"],
    percent=("P", "R", "F1", "F1, penalty"),
    about=(
        "Trained on the first sentences of the training part, scored on sentences 400 to 1,600 of the development part "
        "(fewer where there are fewer), without and with a mention penalty, which the first 400 choose. Nothing was "
        "tried on test parts. At most 150 iterations; models that cannot hold all mentions are trained on the longest, "
        "and scored on all. DaN+ is expected as `danplus` in the folder of the corpora."
    ),
    finish=draw,
)
