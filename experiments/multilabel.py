"""Discontinuous and overlapping mentions: tables 1 and 2 and figure 5 of McDonald, Crammer & Pereira (2005).

python -m experiments multilabel --data FOLDER [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.runner import Context, Experiment, Result, Run
from experiments.settings import recognizer
from spanloom import Document, Mention, Sentence, read
from spanloom.corpus.kinds import Flags, Kinds, kinds
from spanloom.evaluation import Score, micro
from spanloom.evaluation.calibration import Curve
from spanloom.models.subsets import Subsets

Split = tuple[list[Sentence], list[Sentence], list[Sentence]]
MULTILABEL: dict[str, Any] = {"model": "multilabel", "features": "mcdonald", "max_iter": 8, "patience": 2}
COMPANY: dict[str, Any] = {"company": True}
SELF: dict[str, Any] = {"restrictions": ["no_self_embedding"], "overlap": "longest"}
ANY: dict[str, Any] = {"restrictions": ["no_embedding"], "overlap": "longest"}
FREE: dict[str, Any] = {"restrictions": []}
CRF: dict[str, Any] = {"model": "chain", "features": "mcdonald", "max_iter": 100, "overlap": "longest"}
PERCEPTRON: dict[str, Any] = {**CRF, "algorithm": "perceptron", "max_iter": 10}
BIOHD: dict[str, Any] = {**CRF, "scheme": "BIOHD"}
WORDS: dict[str, Any] = {"features": "mcdonald-words"}
"""BC2GM has no parts of speech."""

KINDS: dict[str, Callable[[Kinds], Flags]] = {
    "both": lambda k: k.overlapping & k.discontinuous,
    "broken": lambda k: k.discontinuous,
    "crossing": lambda k: k.discontinuous | k.crossing,
    "any": lambda k: k.discontinuous | k.overlapping,
}
"""Which mentions are scored apart. Table 2B counts those that are overlapping *and* non-contiguous: ``both``."""


def _run(name: str, data: str, *settings: dict[str, Any], **paper: float) -> Run:
    together: dict[str, Any] = {"data": data}
    for one in settings:
        together |= one
    return Run(f"{data}: {name}", together, paper)


UNLIKE = {
    "multilabel": "the last epoch by development data; averaged weights only",
    "chain": "L2 not tuned, at most 100 iterations",
    "genia": "GENIA's coordinations for chemical names, which are licensed",
    "uner": "UNER-EWT for CoNLL-2003, which is licensed",
    "bc2gm": "BC2GM, which the paper does not have; no parts of speech",
}
"""How lines differ from the paper's, by model and data."""


CHOSEN = "threshold chosen on development data; in the paper it is 0"


def _unlike(run: Run) -> Run:
    keys = (run.settings["model"], run.settings["data"].partition("-")[0])
    chosen = run.settings["model"] == "multilabel" and "threshold" not in run.settings
    return replace(run, differs=(*(UNLIKE[key] for key in keys), *((CHOSEN,) if chosen else ())))


_RUNS = [
    _run("averaged perceptron", "genia", PERCEPTRON, f1=81.15, both_f1=0.0),
    _run("CRF", "genia", CRF, f1=82.31, both_f1=0.0),
    _run("CRF, BIOHD", "genia", BIOHD),
    _run("multilabel", "genia", MULTILABEL, f1=84.38, both_f1=43.78),
    _run("multilabel, restricted", "genia", MULTILABEL, SELF, f1=86.53, both_f1=56.25),
    _run("multilabel, log-linear", "genia", MULTILABEL, {"algorithm": "loglinear"}),
    _run("multilabel, company", "genia", MULTILABEL, COMPANY),
    _run("multilabel, company, restricted", "genia", MULTILABEL, COMPANY, SELF),
    _run("CRF", "genia-protein", CRF),
    _run("CRF, BIOHD", "genia-protein", BIOHD),
    _run("multilabel", "genia-protein", MULTILABEL),
    _run("multilabel, restricted", "genia-protein", MULTILABEL, ANY),
    _run("multilabel, company", "genia-protein", MULTILABEL, COMPANY),
    _run("multilabel, company, restricted", "genia-protein", MULTILABEL, COMPANY, ANY),
    _run("averaged perceptron", "uner", PERCEPTRON, f1=82.80),
    _run("CRF", "uner", CRF, f1=83.47),
    _run("multilabel", "uner", MULTILABEL, FREE, f1=82.33),
    _run("multilabel, restricted", "uner", MULTILABEL, f1=83.26),
    _run("averaged perceptron", "bc2gm", PERCEPTRON, WORDS),
    _run("CRF", "bc2gm", CRF, WORDS),
    _run("multilabel", "bc2gm", MULTILABEL, WORDS, FREE),
    _run("multilabel, restricted", "bc2gm", MULTILABEL, WORDS),
    *(
        _run(f"multilabel{name}, threshold 0", data, MULTILABEL, *more, {"threshold": 0.0})
        for data, restricted, words in (("genia", SELF, {}), ("uner", {}, {}), ("bc2gm", {}, WORDS))
        for name, more in (("", (words, {} if data == "genia" else FREE)), (", restricted", (words, restricted)))
    ),
]
RUNS = [_unlike(run) for run in _RUNS]


def execute(run: Run, context: Context) -> Result:
    """Do one line: cross-validation on GENIA, the given split elsewhere."""
    settings = dict(run.settings)
    data = settings.pop("data")
    return score(settings, splits(data, context))


def splits(data: str, context: Context) -> Iterator[Split]:
    """Training, development and test sentences; a quick run takes three folds instead of ten, a quarter elsewhere."""
    if data.startswith("genia"):
        yield from folds(genia(context.data, data == "genia-protein"), 3 if context.quick else 10)
        return
    if data == "uner":
        parts = [_sentences(read(f"uner:{context.data / 'uner-ewt'}?split={s}")) for s in ("train", "dev", "test")]
    else:
        train, test = (_sentences(read(f"biocreative:{context.data / 'bc2gm' / s}")) for s in ("train", "test"))
        parts = [[s for i, s in enumerate(train) if i % 10], train[::10], test]
    yield parts[0][:: 4 if context.quick else 1], parts[1], parts[2]


@lru_cache(maxsize=1)
def genia(data: Path, protein: bool) -> list[Document]:
    """Documents with at least one mention that is discontinuous or crosses another; coordinations are their members."""
    docs = list(read(f"genia:{data / 'genia'}?classes=5&coordination=expand"))
    if protein:
        docs = [_only(doc, "protein") for doc in docs]
    return [doc for doc in docs if any(some(KINDS["crossing"], s.mentions) for s in doc.sentences)]


def folds(docs: Sequence[Document], n: int) -> Iterator[Split]:
    """Training, development (a tenth of what is not test) and test sentences of each fold, by document."""
    for fold in range(n):
        rest = [doc for i, doc in enumerate(docs) if i % n != fold]
        test = _sentences(docs[fold::n])
        yield _sentences(doc for i, doc in enumerate(rest) if i % 10), _sentences(rest[::10]), test


def some(kind: Callable[[Kinds], Flags], mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions of a sentence that are of a kind."""
    if not mentions:
        return []
    return [m for m, chosen in zip(mentions, kind(kinds([mentions])), strict=True) if chosen]


def score(settings: dict[str, Any], parts: Iterable[Split]) -> Result:
    """Train and tag split after split; score all test mentions together."""
    gold: list[list[Mention]] = []
    found: list[list[Mention]] = []
    scored: list[list[tuple[float, Mention]]] = []
    tokens, seconds, ceilings, first = 0, 0.0, [], 0
    for train, dev, test in parts:
        ner = recognizer(settings, threads=1).fit(train, dev=dev)
        ceilings.append(ner.ceiling_)
        start = time.process_time()
        tagged = ner.predict(test, probabilities=False)
        seconds += time.process_time() - start
        tokens += sum(map(len, test))
        gold.extend(s.mentions for s in test)
        found.extend(s.mentions for s in tagged)
        first = first or len(gold)
        if isinstance(ner.trained_, Subsets):
            scored.extend(ner.trained_.candidates(test, threads=1))
    every = micro(gold, found)
    result: Result = {
        "precision": every.precision,
        "recall": every.recall,
        "f1": every.f1,
        "held": float(np.mean(ceilings)),
        "words_per_second": tokens / seconds,
        "curve": curve(scored, gold) if scored else None,
        "first_fold": {"f1": micro(gold[:first], found[:first]).f1},
    }
    for name, kind in KINDS.items():
        right, mine = ([some(kind, mentions) for mentions in side] for side in (gold, found))
        apart = micro(right, mine)
        result |= {f"{name}_precision": apart.precision, f"{name}_recall": apart.recall, f"{name}_f1": apart.f1}
        result["first_fold"][f"{name}_f1"] = micro(right[:first], mine[:first]).f1
    return result


def curve(scored: Sequence[Sequence[tuple[float, Mention]]], gold: Sequence[Sequence[Mention]]) -> list[dict[str, Any]]:
    """How many are found, and how many of them are right, at every tenth of a threshold (figure 5)."""
    wanted = [set(mentions) for mentions in gold]
    scores = np.array([score for some in scored for score, _ in some])
    right = np.array([m in mentions for some, mentions in zip(scored, wanted, strict=True) for _, m in some], np.bool_)
    total = sum(map(len, wanted))
    points = []
    for at in np.round(np.arange(-2.5, 2.51, 0.1), 1):
        found = scores > at
        point = {"gold": total, "found": int(found.sum()), "right": int((found & right).sum())}
        points.append({"threshold": float(at), **point})
    return points


def finish(results: dict[str, Result], folder: Path) -> None:
    """Draw figure 5 for every data set that has its curve."""
    from spanloom.evaluation.plots import plot_curve, save

    for data in ("genia", "uner", "bc2gm"):
        points = results.get(f"{data}: multilabel", {}).get("curve")
        if points:
            scores = [Score(p["gold"], p["found"], p["right"], p["right"]) for p in points]
            figure = plot_curve(Curve("threshold", [p["threshold"] for p in points], scores))
            save(figure, folder / f"multilabel-{data}.png")


def _sentences(items: Iterable[Document | Sentence]) -> list[Sentence]:
    return [s for item in items for s in (item.sentences if isinstance(item, Document) else [item])]


def _only(doc: Document, label: str) -> Document:
    sentences = [s.with_mentions([m for m in s.mentions if m.label == label]) for s in doc.sentences]
    return Document(sentences, doc.id, doc.text, doc.starts, doc.meta)


COLUMNS = ("precision", "recall", "f1", "both_precision", "both_recall", "both_f1", "crossing_f1", "any_f1", "held")

EXPERIMENT = Experiment(
    title="Discontinuous and overlapping mentions (McDonald, Crammer & Pereira 2005)",
    runs=RUNS,
    execute=execute,
    columns=(*COLUMNS, "words_per_second"),
    percent=COLUMNS,
    about=(
        "GENIA with its coordinations expanded into members, five types or proteins only, restricted as the paper did "
        "to documents with at least one mention that is discontinuous or crosses another; cross-validation by "
        "document. *both* is the paper's table 2B: mentions that overlap another and are discontinuous (5.9 % here, 6 "
        "% in the paper's data); *crossing* counts the discontinuous ones and those that cross another, *any* the "
        "discontinuous ones and those that overlap another at all, nested ones too; found mentions are sorted by what "
        "they overlap among those found, so that a CRF has none. *held* is the share of the training mentions that "
        "the model can hold. The paper's figures are for chemical names, whose corpus is licensed; UNER and BC2GM "
        "stand in for its flat data. *restricted*: no mention within another of its label on GENIA, which its gold "
        "does not keep (4.7 % of the mentions are such); all restrictions on flat data, which does. *company*: "
        "discontinuous mentions are scored again together with the other candidates of their sentence (rescoring). "
        "Words a second are of one core, with features."
    ),
    finish=finish,
    quick_about="A quick run: three folds instead of ten, and a quarter of the training sentences of UNER and BC2GM.",
)
