"""Can probabilities be believed? Calibration error before and after, decisions by what is wanted, suggestions."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments import bc2gm, trust_pictures
from experiments.runner import Context, Experiment, Result, Run
from experiments.separators import load
from spanloom import Document, Recognizer, Sentence
from spanloom.decisions.decision import AtLeast, Best, Decision, ExpectedF1, OnDev
from spanloom.evaluation import Evaluation, evaluate
from spanloom.evaluation.reliability import Reliability, error_interval, reliability
from spanloom.learning import Auto
from spanloom.tuning import suggest

CORPORA = {"GENIA": "genia", "GUM": "gum", "BC2GM": "bc2gm", "UNER": "uner"}
MODELS = ("edge", "state", "chain", "semimarkov", "multilabel")
DECISIONS: dict[str, Decision] = {
    "best": Best(),
    "f1": ExpectedF1(),
    "auto": OnDev(),
    "precision=0.95": AtLeast(precision=0.95),
    "recall=0.9": AtLeast(recall=0.9),
}
STEPS = (200, 400, 600, 800, 1000)
"""Sentences that a learning curve has annotated."""


def first(documents: Sequence[Document], sentences: int) -> list[Document]:
    """Return the first documents that have so many sentences together."""
    kept, count = [], 0
    for document in documents:
        if count >= sentences:
            break
        kept.append(document)
        count += len(document.sentences)
    return kept


def part(corpus: str, split: str, sentences: int, context: Context) -> list[Document]:
    """Return a part of a corpus, whole documents up to so many sentences."""
    if corpus == "bc2gm" and split == "test":
        documents = bc2gm.load("test", context.data)
    else:
        documents = load(corpus, split, Context(context.data, False, context.work))
    return first(documents, min(sentences, 200) if context.quick else sentences)


def judged(ner: Recognizer, test: Sequence[Document], **asked: Any) -> tuple[Evaluation, Reliability]:
    """Return the evaluation of predictions with probabilities, and how reliable these are."""
    report = evaluate(list(test), ner.predict(test, **asked))
    return report, reliability(report.outcomes, widths="adaptive")


def beliefs(run: Run, context: Context) -> Result:
    """Train once; measure calibration error before and after, and every decision, on test."""
    s = run.settings
    train, dev, test = (part(s["corpus"], name, s[name], context) for name in ("train", "dev", "test"))
    trainer = Auto(max_iter=s["max_iter"])
    start = time.process_time()
    ner = Recognizer(s["model"], keep="longest", trainer=trainer, threads=1).fit(train, dev=dev)
    result: Result = {"training seconds": round(time.process_time() - start, 1), "iterations": len(ner.history_)}
    found: dict[str, Reliability] = {}
    for name, decide in (("", Best()), (" calibrated", Best(calibrate="auto"))):
        ner.set_decision(decide, dev)
        report, found[name] = judged(ner, test, probabilities=True)
        _, all_of_them = judged(ner, test, above=0.05)
        low, high = (getattr(error_interval(report.outcomes), end) for end in ("low", "high"))
        result |= {
            f"ECE{name}": found[name].error,
            f"ECE{name} interval": [low, high],
            f"ECE{name}, all above 0.05": all_of_them.error,
            f"bins{name}": found[name].bins,
        }
    result["kind"] = ner.training_["calibration"]["kind"]
    for name, decide in DECISIONS.items():
        ner.set_decision(decide, dev)
        score = evaluate(list(test), ner.predict(test)).micro
        result[f"F1 {name}"] = score.f1
        if isinstance(decide, AtLeast):
            result[f"{name.partition('=')[0]} at {name}"] = getattr(score, name.partition("=")[0])
            result[f"reached on dev, {name}"] = ner.training_["decision"]["reached"]
    return result


def curve(run: Run, context: Context) -> Result:
    """Annotate more and more sentences, those that are suggested or at random, and train anew each time."""
    s = run.settings
    pool = [sent for doc in part(s["corpus"], "train", s["train"], context) for sent in doc.sentences if len(sent)]
    test = part(s["corpus"], "test", s["test"], context)
    order = list(range(len(pool)))
    random.Random(s["seed"]).shuffle(order)
    steps = [size // 10 for size in STEPS] if context.quick else list(STEPS)
    chosen, scores = order[: steps[0]], []
    for size in [*steps[1:], 0]:
        ner = Recognizer("edge", keep="longest", trainer=Auto(max_iter=s["max_iter"]), threads=1)
        ner.fit([pool[i] for i in chosen])
        scores.append(evaluate(test, ner.predict(test)).micro.f1)
        if not size:
            break
        taken = set(chosen)
        rest = [i for i in order if i not in taken]
        if s["by"] == "random":
            chosen = chosen + rest[: size - len(chosen)]
        else:
            chosen = chosen + _suggested(ner, [pool[i] for i in rest], rest, size - len(chosen), s["by"])
    tokens = sum(len(pool[i]) for i in chosen)
    return {
        "sizes": steps,
        "scores": scores,
        "tokens": tokens,
        **{f"F1 at {n}": f for n, f in zip(STEPS, scores, strict=True)},
    }


def _suggested(ner: Recognizer, sentences: list[Sentence], numbers: list[int], count: int, by: str) -> list[int]:
    """Return the numbers of the sentences that the model asks for; each goes in as a document with its number."""
    documents = [Document([s], id=str(i)) for s, i in zip(sentences, numbers, strict=True)]
    found = [int(one.document) for one in suggest(ner, documents, count, by=by)]
    taken = set(found)
    return (found + [i for i in numbers if i not in taken])[:count]


def execute(run: Run, context: Context) -> Result:
    """Do one run, of either kind."""
    return curve(run, context) if "by" in run.settings else beliefs(run, context)


def _runs() -> list[Run]:
    made = []
    for name, corpus in CORPORA.items():
        for model in MODELS:
            slow = model == "multilabel"
            settings = {"corpus": corpus, "model": model, "max_iter": 4 if slow else 40}
            settings |= {"train": 500 if slow else 1500, "dev": 800, "test": 1000}
            made.append(Run(f"{name}, {model}", settings))
    for name in ("GENIA", "GUM"):
        for by in ("random", "entropy", "change"):
            settings = {"corpus": CORPORA[name], "by": by, "seed": 1, "train": 2500, "test": 700, "max_iter": 25}
            made.append(Run(f"{name}, sentences by {by}", settings))
    return made


def finish(results: dict[str, Result], folder: Path) -> None:
    """Draw reliability diagrams and learning curves."""
    for name in CORPORA:
        panels = {m: results[f"{name}, {m}"] for m in MODELS if f"{name}, {m}" in results}
        trust_pictures.reliability_diagrams(name, panels, folder / f"trust-{CORPORA[name]}.png")
    curves = {
        name: {by: results[f"{name}, sentences by {by}"] for by in ("random", "entropy", "change")}
        for name in ("GENIA", "GUM")
    }
    trust_pictures.learning_curves(curves, folder / "trust-suggest.png")


EXPERIMENT = Experiment(
    title="Can probabilities be believed?",
    runs=_runs(),
    execute=execute,
    columns=[
        "ECE",
        "ECE calibrated",
        "kind",
        "ECE, all above 0.05",
        "ECE calibrated, all above 0.05",
        *(f"F1 {name}" for name in DECISIONS),
        "precision at precision=0.95",
        "recall at recall=0.9",
        *(f"F1 at {size}" for size in STEPS),
    ],
    percent=[
        *(f"ECE{a}{b}" for a in ("", " calibrated") for b in ("", ", all above 0.05")),
        *(f"F1 {name}" for name in DECISIONS),
        "precision at precision=0.95",
        "recall at recall=0.9",
        *(f"F1 at {size}" for size in STEPS),
    ],
    about=(
        "The expected calibration error (ECE, ten adaptive bins) of mentions of the best answer on test, as the model "
        'gives them and calibrated on the development data (`Best(calibrate="auto")`: temperature, Platt, isotonic '
        "or none, by cross-validated loss); the same for every mention with a probability of at least 0.05. F1 on test "
        "under each decision, all chosen on the development data and none calibrated; what precision and recall were "
        "reached on test where 95 % and 90 % were asked for. One training serves a line. To take a quarter of an hour "
        "on one core, everything is reduced: the first 1,500 training sentences (whole documents), 800 of the "
        "development part and 1,000 of the test part; 40 iterations; for `multilabel` 500 sentences and 4 passes. So "
        "F1 is not that of the other tables. Features are the defaults; BC2GM is scored in the tokens of its reader, "
        "not by the rule of BioCreative. Reliability diagrams: trust-genia.png, trust-gum.png, trust-bc2gm.png, "
        "trust-uner.png. The last six lines annotate 200 sentences, drawn at random from 2,500, and then 200 more at "
        "a time: at random, or those that `suggest` asks for, by entropy a token or by expected changes of the answer; "
        "`edge`, 25 iterations, F1 on 700 test sentences (trust-suggest.png). Planted errors that "
        "`audit` finds: [audit.md](audit.md)."
    ),
    finish=finish,
)
