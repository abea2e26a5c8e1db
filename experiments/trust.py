"""Can probabilities be believed? Calibration error before and after, decisions by what is wanted, suggestions."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from experiments import bc2gm, trust_pictures
from experiments.ends import CAP, CONVERGED, PASSES
from experiments.runner import Context, Experiment, Result, Run, commit
from experiments.separators import load
from spanloom import Document, Recognizer, Sentence
from spanloom.decisions.decision import AtLeast, Best, Decision, ExpectedF1, OnDev
from spanloom.evaluation import Evaluation, evaluate
from spanloom.evaluation.reliability import Reliability, error_interval, reliability
from spanloom.learning import Auto
from spanloom.parameters import LEAST_L2, PER_L2, l2_for
from spanloom.tuning import suggest

CORPORA = {"GENIA": "genia", "GUM": "gum", "BC2GM": "bc2gm", "UNER": "uner"}
MODELS = ("edge", "state", "chain", "semimarkov", "multilabel")
DECISIONS: dict[str, Decision] = {
    "best": Best(),
    "penalty": Best(penalty="auto"),
    "f1": ExpectedF1(),
    "auto": OnDev(),
    "precision=0.95": AtLeast(precision=0.95),
    "recall=0.9": AtLeast(recall=0.9),
}
ALL = 1_000_000
"""More sentences than any corpus has."""
ITERATIONS = {"multilabel": 10}
"""Passes of the online trainer; all others may take 300 iterations to converge."""
TRAIN = 3000
"""Training sentences at most, whole documents: twenty trainings are to fit into an hour on one core."""
DRAW = 1
"""The seed by which whole documents of a corpus are drawn."""
L2 = f"{LEAST_L2} or mentions / {PER_L2}"
SEEDS = (1, 2, 3)
WAYS = ("random", "entropy", "change")
STEPS = (200, 400, 600, 800, 1000)
"""Sentences that a learning curve has annotated."""


def drawn(documents: Sequence[Document], sentences: int) -> list[Document]:
    """Return documents that have so many sentences together, drawn by ``DRAW``; all if there are no more.

    The files of a corpus may go by kind of text, as those of GUM do: its first documents are of a few kinds only.
    """
    order = list(documents)
    if sentences < sum(len(document.sentences) for document in documents):
        random.Random(DRAW).shuffle(order)
    kept, count = [], 0
    for document in order:
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
    return drawn(documents, min(sentences, 200) if context.quick else sentences)


def judged(ner: Recognizer, test: Sequence[Document], **asked: Any) -> tuple[Evaluation, Reliability]:
    """Return the evaluation of predictions with probabilities, and how reliable these are."""
    report = evaluate(list(test), ner.predict(test, **asked))
    return report, reliability(report.outcomes, widths="adaptive")


def recognizer(model: str, max_iter: int, train: Sequence[Document]) -> Recognizer:
    """Return a recogniser with the L2 penalty that is chosen where model and trainer are left open."""
    ner = Recognizer(model, keep="longest", trainer=Auto(max_iter=max_iter), threads=1)
    return ner if model == "multilabel" else ner.set_params(trainer__l2=l2_for(train))


def trained(settings: Result, context: Context) -> tuple[Recognizer, Result]:
    """Train, or take the model that the same commit has trained with the same settings before."""
    own = {name: settings[name] for name in ("corpus", "model", "train", "draw", "max_iter", "l2") if name in settings}
    own["commit"] = commit()
    changed = (own["commit"] or "+").endswith("+")  # nobody knows what such a tree was when it trained
    digest = hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:12]
    path = context.work / f"model-{digest}.loom"
    kept = path.with_suffix(".json")
    if changed or not kept.exists():
        train = part(own["corpus"], "train", own["train"], context)
        start = time.process_time()
        ner = recognizer(own["model"], own["max_iter"], train).fit(train)
        seconds = round(time.process_time() - start, 1)
        ner.save(path)
        facts = {"settings": own, "seconds": seconds, "iterations": len(ner.history_)}
        kept.write_text(json.dumps(facts), encoding="utf-8")
    facts = json.loads(kept.read_text(encoding="utf-8"))
    return Recognizer.load(path, threads=1), facts


def beliefs(run: Run, context: Context) -> Result:
    """Train once; measure calibration error before and after, and every decision, on test."""
    s = run.settings
    ner, facts = trained(s, context)
    dev, test = (part(s["corpus"], name, s["most"], context) for name in ("dev", "test"))
    online = s["model"] == "multilabel"
    ended = PASSES if online else CONVERGED if ner.training_["converged"] else CAP
    end = {"part": "", "ended": ended, "iterations": facts["iterations"], "objective": ner.training_["objective"]}
    result: Result = {
        "sentences": ner.training_["sentences"],
        "training seconds": facts["seconds"],
        "trained by": facts["settings"]["commit"],
        "trainings": [{**end, "gap": ner.training_.get("gap"), "seed": ner.seed}],
    }
    found: dict[str, Reliability] = {}
    for name, decide in (("", Best()), (" calibrated", Best(calibrate="auto"))):
        ner.set_decision(decide, dev)
        report, found[name] = judged(ner, test, probabilities=True)
        _, all_of_them = judged(ner, test, above=0.05)
        low, high = (getattr(error_interval(report.outcomes), end) for end in ("low", "high"))
        result |= {
            f"ECE{name}": found[name].error,
            f"ECE{name} interval": [low, high],
            f"by chance{name}": found[name].chance,
            f"debiased{name}": found[name].debiased,
            f"ECE{name}, all above 0.05": all_of_them.error,
            f"bins{name}": found[name].bins,
        }
    told = ner.training_["calibration"]
    result |= {"kind": told["kind"], "ECE calibrated, dev": told.get("error_calibrated", told["error"])}
    for name, decide in DECISIONS.items():
        if name == "penalty" and not ner.model_.penalised:
            continue
        ner.set_decision(decide, dev)
        score = evaluate(list(test), ner.predict(test, probabilities=False)).micro
        result[f"F1 {name}"] = score.f1
        if isinstance(decide, AtLeast):
            result[f"{name.partition('=')[0]} at {name}"] = getattr(score, name.partition("=")[0])
            told = ner.training_["decision"]
            result |= {f"{name} on dev": told[name.partition("=")[0]], f"bound on dev, {name}": told["lower_bound"]}
            result |= {f"given at {name}": score.predicted, f"recall at {name}": score.recall}
    return result


def curve(run: Run, context: Context) -> Result:
    """Annotate more and more sentences, those that are suggested or at random, and train anew each time."""
    s = run.settings
    pool = [sent for doc in part(s["corpus"], "train", s["train"], context) for sent in doc.sentences if len(sent)]
    test = part(s["corpus"], "test", s["test"], context)
    order = list(range(len(pool)))
    random.Random(s["seed"]).shuffle(order)
    steps = [size // 10 for size in STEPS] if context.quick else list(STEPS)
    chosen, scores, tokens = order[: steps[0]], [], []
    for size in [*steps[1:], 0]:
        annotated = [Document([pool[i]]) for i in chosen]
        ner = recognizer("edge", s["max_iter"], annotated).fit(annotated)
        scores.append(evaluate(test, ner.predict(test, probabilities=False)).micro.f1)
        tokens.append(sum(len(pool[i]) for i in chosen))
        if not size:
            break
        taken = set(chosen)
        rest = [i for i in order if i not in taken]
        if s["by"] == "random":
            chosen = chosen + rest[: size - len(chosen)]
        else:
            chosen = chosen + _suggested(ner, [pool[i] for i in rest], rest, size - len(chosen), s["by"])
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
            settings = {"corpus": corpus, "model": model, "most": ALL, "max_iter": ITERATIONS.get(model, 300)}
            settings |= {"train": TRAIN, "draw": DRAW}
            settings |= {} if model == "multilabel" else {"l2": L2}
            made.append(Run(f"{name}, {model}", settings))
    for name in ("GENIA", "GUM"):
        for seed in SEEDS:
            for by in WAYS:
                settings = {"corpus": CORPORA[name], "by": by, "seed": seed, "train": 2500, "test": 700, "max_iter": 50}
                settings |= {"l2": L2, "draw": DRAW}
                made.append(Run(f"{name}, sentences by {by}, seed {seed}", settings))
    return made


def finish(results: dict[str, Result], folder: Path) -> None:
    """Draw reliability diagrams and learning curves."""
    for name in CORPORA:
        panels = {m: results[f"{name}, {m}"] for m in MODELS if f"{name}, {m}" in results}
        if not panels:
            continue
        trust_pictures.reliability_diagrams(name, panels, folder / f"trust-{CORPORA[name]}.png")
    found = curves(results)
    if found:
        trust_pictures.learning_curves(found, folder / "trust-suggest.png")


def curves(results: Mapping[str, Result]) -> dict[str, dict[str, list[Result]]]:
    """Return the learning curves by corpus and way, one for each seed that all ways have."""
    found: dict[str, dict[str, list[Result]]] = {}
    for name in ("GENIA", "GUM"):
        names = {by: f"{name}, sentences by {by}, seed {{}}" for by in WAYS}
        seeds = [seed for seed in SEEDS if all(one.format(seed) in results for one in names.values())]
        if seeds:
            found[name] = {by: [results[one.format(seed)] for seed in seeds] for by, one in names.items()}
    return found


def needed(sizes: Sequence[float], scores: Sequence[float], f1: float) -> float | None:
    """Return how many sentences give an F1, by a straight line between two steps; None if it is never reached.

    Examples
    --------
    >>> needed([200, 400, 600], [0.4, 0.5, 0.6], 0.55), needed([200, 400], [0.4, 0.5], 0.6)
    (500.0, None)
    """
    for (a, low), (b, high) in pairwise(zip(sizes, scores, strict=True)):
        if low <= f1 <= high:
            return a + (b - a) * (f1 - low) / (high - low) if high > low else float(a)
    return None


EXPERIMENT = Experiment(
    title="Can probabilities be believed?",
    runs=_runs(),
    execute=execute,
    columns=[
        "ECE",
        "by chance",
        "debiased",
        "ECE calibrated",
        "by chance calibrated",
        "debiased calibrated",
        "ECE calibrated, dev",
        "kind",
        "ECE, all above 0.05",
        "ECE calibrated, all above 0.05",
        *(f"F1 {name}" for name in DECISIONS),
        "precision=0.95 on dev",
        "precision at precision=0.95",
        "recall=0.9 on dev",
        "recall at recall=0.9",
        "sentences",
        *(f"F1 at {size}" for size in STEPS),
    ],
    percent=[
        *(f"ECE{a}{b}" for a in ("", " calibrated") for b in ("", ", all above 0.05")),
        *(f"{a}{b}" for a in ("by chance", "debiased") for b in ("", " calibrated")),
        "ECE calibrated, dev",
        "precision=0.95 on dev",
        "recall=0.9 on dev",
        *(f"F1 {name}" for name in DECISIONS),
        "precision at precision=0.95",
        "recall at recall=0.9",
        *(f"F1 at {size}" for size in STEPS),
    ],
    about=(
        "The expected calibration error (ECE, ten adaptive bins) of mentions of the best answer on test, as the model "
        'gives them and calibrated on the development data (`Best(calibrate="auto")`: temperature, Platt, beta, '
        "isotonic or none, by cross-validated loss of the mentions of answers); the same for every mention with a "
        "probability of at least 0.05. By chance: what perfect probabilities would have with as many mentions; "
        "debiased: root mean square without what chance adds. F1 on test under each decision, all chosen on the "
        "development data and none calibrated; what precision and recall were reached on the development data and on "
        "test where 95 % and 90 % were asked for. One training serves a line, kept in the work folder. Development and "
        "test parts are whole; of the training parts documents with 3,000 sentences are drawn, so that all trainings "
        "fit into an hour, and F1 is not that of the other tables. The L2 penalty is the one that is chosen "
        "where model and trainer are left open, 1 for 6,000 mentions; the last column says where 300 iterations were "
        "not enough to converge. Features are the defaults; BC2GM is scored in the tokens of its reader, not by the "
        "rule of BioCreative. Reliability diagrams: trust-genia.png, trust-gum.png, trust-bc2gm.png, trust-uner.png. "
        "The kinds of curves, the loss that `auto` goes by and that answers have a curve of their own were decided "
        "when test figures of GENIA and GUM from earlier trainings were known; BC2GM and UNER had not been run. "
        "The other lines annotate 200 sentences, drawn at random from 2,500, then 200 more at a time: at random, or "
        "those that `suggest` asks for, by entropy a token or by expected changes of the answer; `edge`, 50 "
        "iterations, F1 on 700 test sentences (trust-suggest.png). Planted errors that `audit` finds: "
        "[audit.md](audit.md)."
    ),
    finish=finish,
)
