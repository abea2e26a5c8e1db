"""Accuracy: what models, features and what they learn from bring, each alone and together."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from experiments import steps
from experiments.defaults import CORPORA, first
from experiments.runner import Context, Experiment, Result, Run
from spanloom import Document, Mention, Recognizer, read
from spanloom.configuration import configure
from spanloom.corpus import Sentence
from spanloom.evaluation.score import Score, micro
from spanloom.models import MODELS
from spanloom.models.ceilings import ceiling, readings
from spanloom.models.segmental import SegmentalComponent

CHOSEN = ("GENIA", "GUM")
ALL = 1_000_000
QUICK = 100
FLOOR = 0.02
"""Mentions that are less probable are no candidates for a decision by probabilities."""
THRESHOLDS = [k / 100 for k in range(15, 71)]
SETS = {
    "gaps": {"edge": "gaps", "state": "gaps", "segmental": "gaps+mention-words+mention-pos"},
    "gaps alone": {"segmental": "gaps"},
}
"""What models look at, by a common name: whole mentions where they can."""
L2 = {200: (0.3,), 1500: (1.0, 3.0)}
"""Values that are tried, by the number of sentences."""


def sentences(corpus: str, part: str, context: Context, size: int = ALL) -> list[Document]:
    """Return the first sentences of a part of a corpus, in documents."""
    found = list(read(CORPORA[corpus].format(data=context.data, part=part)))
    return first(found, min(size, QUICK) if context.quick else size)


def halves(docs: Iterable[Document]) -> tuple[list[Document], list[Document]]:
    """Return every other sentence, each as a document: choices are made on one half and scored on the other."""
    alone = [Document([one]) for doc in docs for one in doc.sentences]
    return alone[::2], alone[1::2]


def execute(run: Run, context: Context) -> Result:
    """Do what the settings say: ceilings, one model, or the average of several."""
    s = run.settings
    if "ceilings" in s:
        return ceilings(s, context)
    if "sentences" not in s:
        return steps.execute(run, context)
    train = sentences(s["corpus"], "train", context, s["sentences"])
    parts = halves(sentences(s["corpus"], "dev", context))
    start = time.process_time()
    made = [_train(one, train) for one in s["models"]]
    result: Result = {"training": time.process_time() - start}
    result.update(features=sum(ner.extractor_.size for ner in made), ceiling=min(ner.ceiling_ for ner in made))
    if len(made) == 1:
        result.update(penalised(made[0], parts))
    result.update(_by_threshold(made, parts))
    if len(made) > 1:
        result.update({name: result[f"threshold {name}"] for name in ("precision", "recall", "f1")})
    return result


def _train(settings: dict[str, Any], train: Sequence[Document]) -> Recognizer:
    ner: Recognizer = configure({"keep": "longest", "threads": 1, **settings})
    return ner.fit(train)


def _gold(docs: Iterable[Document]) -> list[list[Mention]]:
    return [s.mentions for doc in docs for s in doc.sentences]


def _scores(score: Score, prefix: str = "") -> Result:
    return {f"{prefix}{name}": getattr(score, name) for name in ("precision", "recall", "f1")}


def penalised(ner: Recognizer, parts: tuple[list[Document], list[Document]]) -> Result:
    """Score each half with the penalty that the other one chooses."""
    both = [*parts[0], *parts[1]]
    plain = micro(_gold(both), _gold(ner.predict(both, probabilities=False)))
    found, penalties = [], []
    for own, other in (parts, parts[::-1]):
        penalties.append(ner.tune_mention_penalty(own).chosen)
        found.append(_gold(ner.predict(other, probabilities=False)))
    start = time.process_time()
    ner.predict(both, probabilities=False)
    seconds = time.process_time() - start
    words = sum(len(s) for doc in both for s in doc.sentences)
    score = micro([*_gold(parts[1]), *_gold(parts[0])], [*found[0], *found[1]])
    return {
        **_scores(score),
        "untuned F1": plain.f1,
        "penalties": penalties,
        "words_per_second": words / seconds,
    }


def _by_threshold(made: Sequence[Recognizer], parts: tuple[list[Document], list[Document]]) -> Result:
    """Average P(mention) of models, and take what is above the threshold that the other half chooses."""
    for ner in made:
        ner.set_mention_penalty(0.0)
    believed = [_average([_gold(ner.predict(part, above=FLOOR)) for ner in made]) for part in parts]
    gold = [_gold(part) for part in parts]
    found, chosen = [], []
    for own, other in ((0, 1), (1, 0)):
        curve = {p: micro(gold[own], _above(believed[own], p)).f1 for p in THRESHOLDS}
        best = max(curve, key=lambda p: curve[p])
        chosen.append(best)
        found += _above(believed[other], best)
    return {**_scores(micro([*gold[1], *gold[0]], found), "threshold "), "thresholds": chosen}


def _average(found: Sequence[Sequence[Sequence[Mention]]]) -> list[dict[Mention, float]]:
    sums: list[dict[Mention, float]] = []
    for own in zip(*found, strict=True):
        total: dict[Mention, float] = defaultdict(float)
        for mentions in own:
            for m in mentions:
                total[Mention(m.label, m.parts)] += (m.prob or 0.0) / len(found)
        sums.append(total)
    return sums


def _above(believed: Sequence[dict[Mention, float]], least: float) -> list[list[Mention]]:
    return [[m for m, p in own.items() if p >= least] for own in believed]


def ceilings(settings: dict[str, Any], context: Context) -> Result:
    """Say what models hold of the training part, and what separators lose and invent."""
    given: list[Sentence] = [s for doc in sentences(settings["corpus"], "train", context) for s in doc.sentences]
    with_mentions = [s for s in given if s.mentions]
    told = readings(with_mentions)
    total, back = 0, 0
    for s in with_mentions:
        for label in {m.label for m in s.mentions}:
            own = {m for m in s.mentions if m.label == label}
            component = SegmentalComponent(label)
            total += len(own)
            back += len(own & set(component.decode(component.encode(sorted(own), len(s)), len(s))))
    return {
        "ceiling": back / total,
        "ceiling of edge": ceiling(MODELS["edge"](), with_mentions),
        "lost by edge": sum(told.values()) - told["invented"],
        "invented by edge": told["invented"],
        "mentions": sum(len(s.mentions) for s in given),
        "longest": max(len(m) for s in given for m in s.mentions),
    }


def one(corpus: str, size: int, model: str, features: str, l2: float, **more: Any) -> Run:
    """Return the run of one model."""
    settings = {"model": model, "features": SETS[features][model], "l2": l2, **more}
    said = "".join(f", {name} {value:g}" for name, value in more.items())
    name = f"{corpus}, {_size(size)}: {model}, {features}{said}, L2 {l2:g}"
    return Run(name, {"corpus": corpus, "sentences": size, "models": [settings]})


def together(corpus: str, size: int, features: str, l2: dict[str, float]) -> Run:
    """Return the run of the average of several models."""
    models = [{"model": model, "features": SETS[features][model], "l2": value} for model, value in l2.items()]
    said = ", ".join(f"{model} L2 {value:g}" for model, value in l2.items())
    name = f"{corpus}, {_size(size)}: average of {said}, {features}"
    return Run(name, {"corpus": corpus, "sentences": size, "models": models})


def _size(size: int) -> str:
    return "all" if size == ALL else f"{size:,}"


def runs() -> list[Run]:
    """What matters first, so that an experiment that is stopped has it."""
    made = steps.runs()
    made += [Run(f"{corpus} train: ceilings", {"corpus": corpus, "ceilings": True}) for corpus in CHOSEN]
    for size, corpus in product(L2, CHOSEN):
        for l2 in L2[size]:
            made += [one(corpus, size, model, "gaps", l2) for model in ("state", "segmental", "edge")]
            made.append(one(corpus, size, "segmental", "gaps alone", l2))
            made.append(together(corpus, size, "gaps", {"state": l2, "segmental": l2}))
            made.append(together(corpus, size, "gaps", {"state": l2, "edge": l2}))
    return made


EXPERIMENT = Experiment(
    title="Accuracy",
    runs=runs(),
    execute=execute,
    columns=[
        "precision",
        "recall",
        "f1",
        "low",
        "high",
        "on dev",
        "untuned F1",
        "threshold f1",
        "training",
        "words_per_second",
        "MB",
        "peak GB",
        "features",
        "ceiling",
        "ceiling of edge",
        "lost by edge",
        "invented by edge",
        "longest",
    ],
    percent=(
        "precision",
        "recall",
        "f1",
        "low",
        "high",
        "on dev",
        "untuned F1",
        "threshold f1",
        "ceiling",
        "ceiling of edge",
    ),
    finish=steps.finish,
    about=(
        "Lines with a figure in `on dev` are steps to the best model without pretrained networks: trained on the whole "
        "training part, thresholds for the highest F1 chosen on the development part, precision, recall and F1 with "
        "their 95 % interval on the test part. `on dev` is the F1 of each half of the documents of the development "
        "part, with thresholds from the other half: what was decided about the next step. Each step is compared with "
        "the one before in [accuracy-steps.md](accuracy-steps.md). "
        "Lines of ceilings count the training mentions that come back from encode and decode. The lines after these: "
        "trained on the first sentences of the training part, scored on the development part; test parts were not "
        "read. Every other sentence of the development part chooses a mention penalty for the rest, and the other way "
        "round; precision, recall and F1 are of both halves together. `untuned F1` is without penalty. `threshold f1` "
        "takes every mention whose probability is above a threshold, which is chosen in the same way; averages of "
        "several models are decided by it. L2 is not chosen: every value that was tried has a line. GENIA has five "
        "types, GUM ten. `training` is in seconds of processor time on one core, words/s are from tokens to mentions "
        "on one core; the machine had other work. `gaps` is the feature set of that name, for `segmental` with "
        "`mention-words` and `mention-pos`."
    ),
)
