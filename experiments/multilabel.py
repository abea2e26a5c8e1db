"""Broken and overlapping mentions: tables 1 and 2 and figure 5 of McDonald, Crammer & Pereira (2005).

python -m experiments multilabel --data FOLDER [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.runner import Context, Experiment, Result, Run
from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom.corpus.kinds import kinds
from spanloom.evaluation import micro
from spanloom.thresholds import threshold_curve

MULTILABEL: dict[str, Any] = {"model": "multilabel", "features": "mcdonald", "max_iter": 10}
RESTRICTED: dict[str, Any] = {**MULTILABEL, "restrictions": ["no_embedding"], "overlap": "longest"}
LOGLINEAR: dict[str, Any] = {**MULTILABEL, "algorithm": "loglinear"}
PERCEPTRON: dict[str, Any] = {
    "model": "chain", "features": "mcdonald", "algorithm": "perceptron", "max_iter": 10, "overlap": "longest",
}  # fmt: skip
CRF: dict[str, Any] = {"model": "chain", "features": "mcdonald", "max_iter": 100, "overlap": "longest"}
BIOHD: dict[str, Any] = {**CRF, "scheme": "BIOHD"}


def _run(name: str, data: str, settings: dict[str, Any], **paper: float) -> Run:
    return Run(f"{data}: {name}", {"data": data, **settings}, paper)


RUNS = [
    _run("averaged perceptron", "genia", PERCEPTRON, f1=81.15, broken_f1=0.0),
    _run("CRF", "genia", CRF, f1=82.31, broken_f1=0.0),
    _run("CRF, BIOHD", "genia", BIOHD),
    _run("multilabel", "genia", MULTILABEL, f1=84.38, broken_f1=43.78),
    _run("multilabel, restricted", "genia", RESTRICTED, f1=86.53, broken_f1=56.25),
    _run("multilabel, log-linear", "genia", LOGLINEAR),
    _run("CRF", "genia-protein", CRF),
    _run("CRF, BIOHD", "genia-protein", BIOHD),
    _run("multilabel", "genia-protein", MULTILABEL),
    _run("multilabel, restricted", "genia-protein", RESTRICTED),
    _run("averaged perceptron", "uner", PERCEPTRON, f1=82.80),
    _run("CRF", "uner", CRF, f1=83.47),
    _run("multilabel", "uner", {**MULTILABEL, "restrictions": []}, f1=82.33),
    _run("multilabel, restricted", "uner", MULTILABEL, f1=83.26),
]


def execute(run: Run, context: Context) -> Result:
    """Do one line: cross-validation on GENIA, the given split elsewhere."""
    settings = dict(run.settings)
    data = settings.pop("data")
    if data == "uner":
        train, dev, test = (list(read(f"uner:{context.data / 'uner-ewt'}?split={s}")) for s in ("train", "dev", "test"))
        if context.quick:
            train = train[: len(train) // 4]
        return _score(settings, [(train, dev, test)])
    docs = genia(context.data, data == "genia-protein")
    return _score(settings, folds(docs, 3 if context.quick else 10))


@lru_cache(maxsize=1)
def genia(data: Path, protein: bool) -> list[Document]:
    """Documents with at least one mention that is broken or crosses another; coordinations are their members."""
    docs = list(read(f"genia:{data / 'genia'}?classes=5&coordination=expand"))
    if protein:
        docs = [_only(doc, "protein") for doc in docs]
    return [doc for doc in docs if any(hard(s.mentions) for s in doc.sentences)]


def folds(docs: Sequence[Document], n: int) -> Iterator[tuple[list[Sentence], list[Sentence], list[Sentence]]]:
    """Train, development (a tenth of what is not test) and test sentences of each fold, by document."""
    for fold in range(n):
        rest = [doc for i, doc in enumerate(docs) if i % n != fold]
        test = _sentences(docs[fold::n])
        yield _sentences(doc for i, doc in enumerate(rest) if i % 10), _sentences(rest[::10]), test


def hard(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions that are broken or cross another."""
    if len(mentions) < 1:
        return []
    of = kinds([mentions])
    return [m for m, chosen in zip(mentions, of.discontinuous | of.crossing, strict=True) if chosen]


def _score(settings: dict[str, Any], splits: Iterable[tuple[Any, Any, Any]]) -> Result:
    gold: list[list[Mention]] = []
    found: list[list[Mention]] = []
    scored: list[list[tuple[float, Mention]]] = []
    tokens, seconds, ceilings = 0, 0.0, []
    for train, dev, test in splits:
        sentences = _sentences(test)
        ner = Recognizer(**settings).fit(train, dev=dev)
        ceilings.append(ner.ceiling_)
        start = time.perf_counter()
        tagged = ner.predict(sentences)
        seconds += time.perf_counter() - start
        tokens += sum(map(len, sentences))
        gold.extend(s.mentions for s in sentences)
        found.extend(s.mentions for s in tagged)
        if settings["model"] == "multilabel":
            scored.extend(ner.model_.candidates(sentences))
    every = micro(gold, found)
    broken = micro([hard(m) for m in gold], [hard(m) for m in found])
    gaps = micro(*([[m for m in some if m.discontinuous] for some in side] for side in (gold, found)))
    return {
        "precision": every.precision,
        "recall": every.recall,
        "f1": every.f1,
        "broken_precision": broken.precision,
        "broken_recall": broken.recall,
        "broken_f1": broken.f1,
        "gap_f1": gaps.f1,
        "held": float(np.mean(ceilings)),
        "words_per_second": tokens / seconds,
        "curve": _curve(scored, gold) if scored else None,
    }


def _curve(scored: list[list[tuple[float, Mention]]], gold: list[list[Mention]]) -> list[dict[str, float]]:
    """Precision and recall at whole and half thresholds (figure 5)."""
    thresholds, precision, recall = threshold_curve(scored, gold)
    points = []
    for at in np.arange(-3, 3.01, 0.5):
        i = int(np.searchsorted(-thresholds, -at, side="right")) - 1
        if i >= 0:
            points.append({"threshold": float(at), "precision": float(precision[i]), "recall": float(recall[i])})
    return points


def _sentences(items: Iterable[Document | Sentence]) -> list[Sentence]:
    return [s for item in items for s in (item.sentences if isinstance(item, Document) else [item])]


def _only(doc: Document, label: str) -> Document:
    sentences = [s.with_mentions([m for m in s.mentions if m.label == label]) for s in doc.sentences]
    return Document(sentences, doc.id, doc.text, doc.starts, doc.meta)


EXPERIMENT = Experiment(
    title="Broken and overlapping mentions (McDonald, Crammer & Pereira 2005)",
    runs=RUNS,
    execute=execute,
    columns=(
        "precision",
        "recall",
        "f1",
        "broken_precision",
        "broken_recall",
        "broken_f1",
        "gap_f1",
        "held",
        "words_per_second",
    ),
    percent=("precision", "recall", "f1", "broken_precision", "broken_recall", "broken_f1", "gap_f1", "held"),
    about=(
        "GENIA with its coordinations expanded into members, five types or proteins only, restricted as the paper did "
        "to documents with at least one mention that is broken or crosses another; cross-validation by document. The "
        "columns *broken* count those mentions alone, *gap* the discontinuous ones; *held* is the share of the "
        "training mentions that the model can hold. The paper's figures are for chemical names, whose corpus is "
        "licensed; UNER stands in for its flat data. Restricted means no embedding on GENIA, and no overlap, embedding "
        "or gaps on UNER."
    ),
)
