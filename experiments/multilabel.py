"""Discontinuous and overlapping mentions: tables 1 and 2 and figure 5 of McDonald, Crammer & Pereira (2005).

python -m experiments multilabel --data FOLDER [--quick]

All lines take about 12 hours of one core, estimated from the times of earlier ones; ten of them are the ten folds of
GENIA. CRFs choose L2 in each fold, each value from the optimum of the one before, and what is done is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments import paired, penalties
from experiments.counts import pack, unpack
from experiments.multilabel_lines import VARIANTS, lines
from experiments.noun_chunks import with_chunks
from experiments.runner import Context, Experiment, Result, Run
from experiments.settings import recognizer
from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom.corpus.kinds import Flags, Kinds, kinds
from spanloom.evaluation import Score, micro
from spanloom.evaluation.calibration import Curve
from spanloom.evaluation.significance import unit_counts
from spanloom.models.subsets import Subsets

Split = tuple[list[Sentence], list[Sentence], list[Sentence]]
"""Training, development and test sentences."""

KINDS: dict[str, Callable[[Kinds], Flags]] = {
    "both": lambda k: k.overlapping & k.discontinuous,
    "broken": lambda k: k.discontinuous,
    "crossing": lambda k: k.discontinuous | k.crossing,
    "any": lambda k: k.discontinuous | k.overlapping,
}
"""Which mentions are scored apart. Table 2B counts those that are overlapping *and* non-contiguous: ``both``."""


PERSON = "PER"


def execute(run: Run, context: Context) -> Result:
    """Do one line: cross-validation on GENIA, the given split elsewhere."""
    settings = dict(run.settings)
    data = settings.pop("data")
    return score(settings, splits(data, context), context.work / f"l2.{data}.jsonl")


def splits(data: str, context: Context) -> Iterator[Split]:
    """Training, development and test sentences; a quick run takes three folds instead of ten, a quarter elsewhere."""
    if data.startswith("genia"):
        yield from folds(genia(context.data, data == "genia-protein"), 3 if context.quick else 10)
        return
    if data == "bc2gm":
        train, test = (_sentences(read(f"biocreative:{context.data / 'bc2gm' / s}")) for s in ("train", "test"))
        parts = [[s for i, s in enumerate(train) if i % 10], train[::10], test]
    else:
        parts = [_sentences(read(f"uner:{context.data / 'uner-ewt'}?split={s}")) for s in ("train", "dev", "test")]
    if data == "np":
        parts = [[with_chunks(sentence) for sentence in part] for part in parts]
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


def flat(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences without overlapping or discontinuous mentions, which sequence taggers can hold."""
    return [s for s in sentences if not some(KINDS["any"], s.mentions)]


def trained(
    settings: dict[str, Any], train: list[Sentence], dev: list[Sentence], state: Path
) -> tuple[Recognizer, float]:
    """Train one model; return it and the share of the training mentions that it could learn from.

    ``learn`` says from what: without it, from the training part, with choices on the development part. ``all``: from
    both, after what is open (L2, a threshold) was chosen as before. ``flat``: the same without sentences that a
    sequence tagger cannot hold.
    """
    own = dict(settings)
    learn = own.pop("learn", None)
    if learn is None:
        ner = recognizer(own, threads=1).fit(train, dev=dev)
        return ner, ner.ceiling_
    known = flat(train) if learn == "flat" else train
    if isinstance(own.get("l2"), list):
        corpus = [*known, *dev]
        part = (range(len(known)), range(len(known), len(corpus)))
        own["l2"] = penalties.choose(corpus, [part], own, state=state).l2
    if own.get("threshold") == "global":
        chosen = recognizer(own, threads=1).fit(known, dev=dev).trained_
        if isinstance(chosen, Subsets):
            own["threshold"] = float(chosen.thresholds[0])
    together = [*known, *(flat(dev) if learn == "flat" else dev)]
    ner = recognizer(own, threads=1).fit(together)
    mentions = sum(len(s.mentions) for s in together) / max(1, sum(len(s.mentions) for s in (*train, *dev)))
    return ner, ner.ceiling_ * mentions


def score(settings: dict[str, Any], parts: Iterable[Split], state: Path) -> Result:
    """Train and tag split after split; score all test mentions together."""
    gold: list[list[Mention]] = []
    found: list[list[Mention]] = []
    scored: list[list[tuple[float, Mention]]] = []
    tokens, seconds, ceilings, first = 0, 0.0, [], 0
    chosen: list[Any] = []
    for train, dev, test in parts:
        ner, held = trained(settings, train, dev, state)
        ceilings.append(held)
        chosen.append(ner.get_params().get("trainer__l2"))
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
        "person_curve": curve(scored, gold, PERSON)
        if scored and any(m.label == PERSON for s in gold for m in s)
        else None,
        "first_fold": {"f1": micro(gold[:first], found[:first]).f1},
        "l2": chosen,
        "units": pack(unit_counts(gold, found)),
    }
    for name, kind in KINDS.items():
        right, mine = ([some(kind, mentions) for mentions in side] for side in (gold, found))
        apart = micro(right, mine)
        result |= {f"{name}_precision": apart.precision, f"{name}_recall": apart.recall, f"{name}_f1": apart.f1}
        result["first_fold"][f"{name}_f1"] = micro(right[:first], mine[:first]).f1
        if name == "both":
            result["both_units"] = pack(unit_counts(right, mine))
    return result


def curve(
    scored: Sequence[Sequence[tuple[float, Mention]]], gold: Sequence[Sequence[Mention]], label: str | None = None
) -> list[dict[str, Any]]:
    """How many are found, and how many of them are right, at every tenth of a threshold (figure 5); of one label."""
    wanted = [{m for m in mentions if label in (None, m.label)} for mentions in gold]
    mine = [[(score, m) for score, m in some if label in (None, m.label)] for some in scored]
    scores = np.array([score for some in mine for score, _ in some])
    right = np.array([m in mentions for some, mentions in zip(mine, wanted, strict=True) for _, m in some], np.bool_)
    total = sum(map(len, wanted))
    points = []
    for at in np.round(np.arange(-2.5, 2.51, 0.1), 1):
        found = scores > at
        point = {"gold": total, "found": int(found.sum()), "right": int((found & right).sum())}
        points.append({"threshold": float(at), **point})
    return points


FIGURES = {
    "multilabel-genia": ("genia: multilabel", "curve"),
    "multilabel-uner": ("uner: multilabel", "curve"),
    "multilabel-bc2gm": ("bc2gm: multilabel", "curve"),
    "multilabel-letter": ("genia: multilabel, by the letter", "curve"),
    "multilabel-persons": ("uner: multilabel, by the letter", "person_curve"),
    "multilabel-np": ("np: multilabel, by the letter", "curve"),
}
"""Figure 5 by name of the file: of ours, then of the paper's rows, in the place of CHEM, PER and NP."""

PAIRS = (
    ("multilabel, by the letter", "CRF"),
    ("multilabel, restricted, by the letter", "CRF"),
    ("multilabel, restricted, by the letter", "averaged perceptron"),
    ("multilabel, restricted, by the letter", "multilabel, by the letter"),
    *((f"multilabel, by the letter{name}", "multilabel, by the letter") for name in VARIANTS if name),
    ("multilabel, restricted", "multilabel, restricted, by the letter"),
    ("multilabel, restricted", "CRF"),
    ("CRF", "averaged perceptron"),
)
"""What is compared with what, on the same data."""


def finish(results: dict[str, Result], folder: Path) -> None:
    """Draw figure 5 and write paired tests over sentences."""
    from spanloom.evaluation.plots import plot_curve, save

    for file, (name, key) in FIGURES.items():
        points = results.get(name, {}).get(key)
        if points:
            scores = [Score(p["gold"], p["found"], p["right"], p["right"]) for p in points]
            save(plot_curve(Curve("threshold", [p["threshold"] for p in points], scores)), folder / f"{file}.png")
    lines = ["# Discontinuous and overlapping mentions: paired tests", "", "Over sentences of the test parts.", ""]
    lines += [f"| data | | against | mentions | {' | '.join(paired.HEADS)} |", f"|---|---|---|---|{'---:|' * 4}---|"]
    made = len(lines)
    for data in dict.fromkeys(name.partition(": ")[0] for name in results):
        for one, other in PAIRS:
            a, b = (results.get(f"{data}: {name}", {}) for name in (one, other))
            for key, kind in (("units", "all"), ("both_units", "overlapping and discontinuous")):
                if key in a and key in b:
                    counts = unpack(a[key]), unpack(b[key])
                    if counts[0][:, 0].any():
                        lines.append(f"| {data} | {one} | {other} | {kind} | {' | '.join(paired.cells(*counts))} |")
    if len(lines) > made:
        (folder / "multilabel-paired.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _sentences(items: Iterable[Document | Sentence]) -> list[Sentence]:
    return [s for item in items for s in (item.sentences if isinstance(item, Document) else [item])]


def _only(doc: Document, label: str) -> Document:
    sentences = [s.with_mentions([m for m in s.mentions if m.label == label]) for s in doc.sentences]
    return Document(sentences, doc.id, doc.text, doc.starts, doc.meta)


COLUMNS = ("precision", "recall", "f1", "both_precision", "both_recall", "both_f1", "crossing_f1", "any_f1", "held")

EXPERIMENT = Experiment(
    title="Discontinuous and overlapping mentions (McDonald, Crammer & Pereira 2005)",
    runs=lines(),
    execute=execute,
    columns=(*COLUMNS, "words_per_second"),
    percent=COLUMNS,
    about=(
        "Tables 1 and 2 and figure 5. *By the letter*: threshold 0, k = n, margins of ±1 with no cap, ten epochs, the "
        "last weights, learned from all but the test part; then with averaged weights, with capped steps, with both, "
        "and in the all-pairs form of figure 4 (threshold chosen on development data). CRF: L2 chosen on the "
        "development part, trained to within 1e-4 of the optimum; perceptron: until it makes no mistake, at most 100 "
        "epochs; both with the same predicates, from sentences that they can hold. The lines without these words are "
        "ours: averaged weights, capped steps, epoch and threshold by the development part. "
        "GENIA with its coordinations expanded into members, five types or proteins only, restricted as the paper did "
        "to documents with at least one mention that is discontinuous or crosses another; ten-fold cross-validation by "
        "document. *np*: base noun phrases of UD-EWT by the rule in `experiments/noun_chunks.py`, predicates after Sha "
        "& Pereira (2003). *both* is the paper's table 2B: mentions that overlap another and are discontinuous; "
        "*crossing* counts the discontinuous ones and those that cross another, *any* the discontinuous ones and those "
        "that overlap another at all, nested ones too; found mentions are sorted by what they overlap among those "
        "found, so that a CRF has none. *held* is the share of the training mentions that the model can hold or learns "
        "from. *restricted*: no mention within another of its label on GENIA, which its gold does not keep; all "
        "restrictions on flat data, which does. *company*: discontinuous mentions are scored again together with the "
        "other candidates of their sentence (rescoring). Paired tests are in `multilabel-paired.md`. Words a second "
        "are of one core, with features."
    ),
    finish=finish,
    quick_about="A quick run: three folds instead of ten, and a quarter of the training sentences of UNER and BC2GM.",
)
