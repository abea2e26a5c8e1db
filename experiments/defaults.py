"""Default settings: F1 against the number of training sentences, for every model and what is taken by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from experiments import bc2gm
from experiments.runner import Context, Experiment, Result, Run
from spanloom import Document, Recognizer, read
from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.configuration import configure
from spanloom.models.reduction import Reduction

CORPORA = {
    "GENIA": "genia:{data}/genia?classes=5&split={part}",
    "GUM": "gum:{data}/gum?split={part}",
    "UNER": "uner:{data}/uner-ewt?split={part}",
}
"""Where a corpus is; BC2GM has no development part, the last tenth of its training part stands for it."""
NESTED, FLAT = ("GENIA", "GUM"), ("UNER", "BC2GM")
SIZES = (200, 500, 1500)
ALL = 1_000_000
COLOURS = 10
"""So many lines of a picture have a colour of their own; the next ones are dashed."""
DEV = 400
"""Sentences that choices are made on where there is development data; three times as many are scored on."""
MODELS: dict[str, dict[str, Any]] = {
    "chain": {"model": "chain"},
    "state": {"model": "state"},
    "edge": {"model": "edge"},
    **{
        name: {"model": name}
        for name in ("chains", "hypergraph", "layered", "multilabel", "memm", "joined", "semimarkov")
    },
    **{name: {"model": name} for name in ("segmental", "spans")},
}
"""Every model that learns from words alone, with nothing else set."""
MOST = {"segmental": 500, "spans": 200}
"""Models that take too long for more sentences here."""
SHARES = (0, 0.1, 0.3, 1)
OTHERS = {"GENIA": (5_000, 10_000), "GUM": (4_000, 5_600)}
"""Of the training part: from which sentence on the share is tried, and from which one on it is scored."""


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


def sentences(corpus: str, part: str, context: Context) -> list[Document]:
    """Return the documents of the training part, or a document for each sentence of the development part."""
    if corpus == "BC2GM":
        documents = bc2gm.load("train", context.data)
        cut = len(documents) * 9 // 10
        return documents[:cut] if part == "train" else documents[cut:]
    documents = list(read(CORPORA[corpus].format(data=context.data, part=part)))
    return documents if part == "train" else [Document([one]) for doc in documents for one in doc.sentences]


def after(documents: list[Document], sentences: int) -> list[Document]:
    """Return the documents that come after so many sentences."""
    left = sentences
    for number, document in enumerate(documents):
        if left <= 0:
            return documents[number:]
        left -= len(document.sentences)
    return []


def execute(run: Run, context: Context) -> Result:
    """Train on the first sentences, choose on the first of the development part, score on the next."""
    s = run.settings
    train = sentences(s["corpus"], "train", context)
    if "from" in s:  # a choice between settings, on training sentences that no other line sees
        held = [Document([one]) for doc in after(train, s["scored from"]) for one in doc.sentences]
        train = after(train, s["from"])
    else:
        held = sentences(s["corpus"], "dev", context)
    train = first(train, 100 if context.quick else s["sentences"])
    # Corpora go by kind of text: every fourth sentence has all kinds, the first quarter only some.
    held = held[: 4 * DEV]
    dev, test = held[::4], [document for number, document in enumerate(held) if number % 4]
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
    result["decided"] = result["penalised"]
    if not isinstance(ner.model_, Reduction):  # `train` leaves those the best structure
        result |= decided(ner, dev, test, "")
        result |= decided(ner, held[: len(held) // 4], held[len(held) // 4 :], ", first")
    return result


def decided(ner: Recognizer, dev: list[Document], test: list[Document], which: str) -> Result:
    """Decide as `spanloom train` does by some of the sentences, score on the others."""
    ner.set_decision("auto", dev)
    told = ner.training_["decision"]
    return {f"decision{which}": told["chosen"], f"on dev{which}": told["f1"], f"decided{which}": ner.score(test).f1}


def _run(corpus: str, size: int, way: str, settings: dict[str, Any]) -> Run:
    name = "all" if size == ALL else str(size)
    return Run(f"{corpus}, {name}: {way}", {"corpus": corpus, "sentences": size, "settings": settings})


def runs() -> list[Run]:
    """Every model on GENIA, the default and its rivals on four corpora, the choice of the share on other sentences."""
    made = []
    for size in SIZES:
        for corpus in (*NESTED, *FLAT):
            made.append(_run(corpus, size, "default", {}))
            wanted = MODELS if corpus == "GENIA" else ("chain", "state", "edge")
            made += [_run(corpus, size, name, MODELS[name]) for name in wanted if size <= MOST.get(name, size)]
            made += [_run(corpus, size, way, settings) for way, settings, sizes in tuned(corpus) if size in sizes]
        for corpus, (begin, scored) in OTHERS.items() if size < SIZES[-1] else ():
            for share in SHARES:
                settings = {"model": "state", "share": share, "l2": round(max(0.1, size / 2000), 2), "trainer": "sdca"}
                more = {"corpus": corpus, "from": begin, "scored from": scored}
                run = _run(f"{corpus}, other sentences", size, f"share {share:g}", settings)
                made.append(Run(run.name, {**run.settings, **more}))
    for corpus in (*FLAT, *NESTED):
        made += [_run(corpus, ALL, "default", {}), _run(corpus, ALL, "chain", MODELS["chain"])]
    return made


def tuned(corpus: str) -> Iterator[tuple[str, dict[str, Any], tuple[int, ...]]]:
    """Yield settings that somebody might find by trying L2 penalties, and the sizes that they are tried at."""
    yield "chain, L2 0.5", {"model": "chain", "l2": 0.5}, SIZES
    for l2 in (0.2, 0.8, 3):
        settings = {"model": "state", "share": 0.3, "l2": l2, "trainer": "sdca"}
        yield f"state, share 0.3, L2 {l2:g}", settings, (500, 1500)


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw F1 against sentences for every model on GENIA."""
    plt = need("matplotlib.pyplot", "plot")
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for number, way in enumerate(("default", *MODELS)):
        points = [(size, results.get(f"GENIA, {'all' if size == ALL else size}: {way}")) for size in (*SIZES, ALL)]
        known = [(r["sentences"], 100 * r["decided"]) for _, r in points if r and "decided" in r]
        if known:
            wide = 2.4 if way == "default" else 1.1
            style = "-" if number < COLOURS else "--"
            axes.plot(*zip(*known, strict=True), style, marker="o", linewidth=wide, markersize=3, label=way)
    axes.set_xscale("log")
    axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
    axes.minorticks_off()
    axes.set_xlabel("training sentences")
    axes.set_ylabel("F1 on development sentences")
    axes.set_title("GENIA, five types, decided as is best on other sentences")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(folder / "defaults.png", dpi=130, metadata={"Software": None})
    plt.close(figure)


EXPERIMENT = Experiment(
    title="Default settings, by the number of training sentences",
    runs=runs(),
    execute=execute,
    columns=[
        *("sentences", "scored on", "precision", "recall", "f1", "penalty", "penalised"),
        *("decision", "on dev", "decided", "decision, first", "on dev, first", "decided, first", "training"),
    ],
    percent=("precision", "recall", "f1", "penalised", "on dev", "decided", "on dev, first", "decided, first"),
    about=(
        "Trained on the first sentences of the training part, scored on the first 1,600 of the development part but "
        "every fourth one, which together choose how to decide: `f1` is the best structure, `penalised` that with "
        "the mention penalty of highest F1 there, `decided` the better there of these two, or thresholds on "
        "probabilities if they are better by more than a standard error, each fifth decided by thresholds from the "
        "others (`decision`, with its F1 `on dev`): what `spanloom train train.jsonl --dev dev.jsonl` does; "
        "reductions, which it leaves the best structure, have the penalty. `first`: the same where the first "
        "quarter of the 1,600 chooses and the rest is scored, so that the choice is made on other documents, in "
        "UNER and GUM of other kinds, than the score. Nothing was tried on test parts. Features are the default "
        "ones. Models that cannot hold all mentions are trained on the longest, and scored on all. `default` is "
        "what is taken where nothing is set. BC2GM has no development part; the last tenth of its training part "
        "stands for it, and its reader cuts tokens at the edges of mentions, so that F1 is higher than on text. "
        "*Other sentences*: how much labels share was chosen there, on training sentences that no other line up to "
        "1,500 sentences sees. `training` is in seconds of a busy machine."
    ),
    finish=draw,
)
