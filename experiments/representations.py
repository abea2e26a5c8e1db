"""Cho et al. 2013: seven segment representations alone, and several in one model (tables 4, 5, 9, 10, 11 and 13).

A line trains eleven times: for ten values of L2, each from the optimum of the one before, on the training part without
its last tenth, and once for the test part. Features are extracted once for the ten. All lines take about 17 hours of
one core, estimated from the times of earlier ones, which had fewer features and ended at a cap.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import bc2gm
from experiments.bc2gm import SCORES, blind, in_characters, scores
from experiments.lexicons import FILES, references
from experiments.representations_tables import file_of, finish
from experiments.runner import Context, Experiment, Result, Run
from experiments.settings import SEARCH_TOL
from experiments.taggers import tagger
from spanloom import Document, Recognizer, Sentence, read
from spanloom._native import Likelihood, Supervision
from spanloom.annotators import Pipeline
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import LBFGS, LearningProblem
from spanloom.learning.lbfgs import native_tying
from spanloom.models import Chain
from spanloom.models.component import Component, Shapes
from spanloom.models.decoding import Dev
from spanloom.models.holding import hold
from spanloom.models.supervised import supervise
from spanloom.schemes import Representations

SINGLE = ("IO", "IOB2", "IOE2", "BI", "IE", "IOBES", "BIES")
SEVERAL = ("IOB2+", "IOBES+", "BIES,IO", "BIES+")
CURVE = ("IOB2", "IOBES", "BIES", "IOB2+", "IOBES+", "BIES+")
L2 = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
QUICK = 1500
"""Training sentences of a quick run."""
QUICK_ITERATIONS = 20


def load(corpus: str, part: str, data: Path) -> list[Document]:
    """Read one part of a corpus."""
    return bc2gm.load(part, data) if corpus == "bc2gm" else list(read(f"uner:{data}/uner-ewt?split={part}"))


@dataclass(frozen=True)
class Seen:
    """The features of a line, and the columns that they read, made once for all of its trainings."""

    features: FeatureSet
    pipeline: Pipeline

    @classmethod
    def of(cls, settings: dict[str, Any], context: Context) -> Seen:
        """Make the annotators that the settings name; ``pos`` is the tagger that was trained on GENIA."""
        named = [str(tagger(context)) if name == "pos" else name for name in settings.get("annotators", ())]
        listed = references(settings.get("lexicons", []), context)
        pipeline = Pipeline.of([*named, *listed], open_model=Recognizer.load)
        base = FeatureSet.named(settings["features"])
        return cls(FeatureSet([*base.templates, *pipeline.templates], name=settings["features"]), pipeline)

    def annotated(self, documents: Sequence[Document]) -> list[Document]:
        """Return documents with the columns that the features read."""
        return self.pipeline.annotate(documents, self.features.columns())


def encoded(model: Chain, sentences: Sequence[Sentence]) -> tuple[Component, Supervision]:
    """The component of a chain for training sentences, and what it learns from."""
    held = hold(model, sentences, "longest").mentions
    shapes = Shapes([len(s) for s in sentences])
    (component,) = model.components(held, shapes.lengths)
    return component, supervise(component, sentences, held, shapes)


def count_features(scheme: str, sentences: Sequence[Sentence], ner: Recognizer) -> tuple[int, float]:
    """The paper's #feat and AFI: distinct pairs of a feature and a label, and how often each fires on average."""
    rows = ner.extractor_.transform(sentences)
    component, gold = encoded(Chain(scheme), sentences)
    sites, pairs = component.tying()
    objective = Likelihood(
        rows, component.structure, gold, native_tying(sites), native_tying(pairs), merge=False, observed=True
    )
    state = objective.size - (component.structure.global_cells if pairs is None else pairs.width)
    representations = 1 + len(Representations.parse(scheme).others)
    return state, rows.entries * representations / state


def parts(sentences: Sequence[Sentence], share: float) -> tuple[list[Sentence], list[Sentence], list[Sentence]]:
    """What is learned from for the test part, and while L2 is chosen; and on what it is chosen.

    As in the paper: L2 by the last tenth of all training sentences, whatever share of them, from the first on, is
    learned from; a model of all of them is chosen without that tenth, and then learns from it too.
    """
    cut = len(sentences) * 9 // 10
    learn = list(sentences[: round(len(sentences) * share)])
    return learn, learn[: min(cut, len(learn))], list(sentences[cut:])


def try_l2(
    settings: dict[str, Any], features: FeatureSet, learn: Sequence[Sentence], watch: Sequence[Sentence]
) -> dict[float, float]:
    """F1 on what is watched, learned with each L2."""
    model = Chain(settings["scheme"])
    component, gold = encoded(model, learn)
    extractor = FeatureExtractor(features)
    problem = LearningProblem(extractor.fit(learn, 1), component.structure, gold, *component.tying())
    path = LBFGS(settings["max_iter"], tol=SEARCH_TOL).along_l2(problem, L2, threads=1)
    shapes = Shapes([len(s) for s in watch])
    f1 = Dev(extractor.transform(watch), [s.mentions for s in watch], shapes, 1).f1_of(component)
    return {value: f1(weights) for value, weights in path}


def execute(run: Run, context: Context) -> Result:
    """Choose L2, train one model and score it on the test part; its predictions are kept for the comparison."""
    s = dict(run.settings)
    s["max_iter"] = QUICK_ITERATIONS if context.quick else s["max_iter"]
    seen = Seen.of(s, context)
    docs = load(s["corpus"], "train", context.data)
    if context.quick:
        docs = docs[: QUICK if s["corpus"] == "bc2gm" else QUICK // 20]
    sentences = [sentence for doc in seen.annotated(docs) for sentence in doc.sentences]
    train, learn, watch = parts(sentences, s["share"])
    test = load(s["corpus"], "test", context.data)
    blank = seen.annotated([blind(doc) for doc in test] if s["corpus"] == "bc2gm" else test)
    tried = try_l2(s, seen.features, learn, watch)
    l2 = max(L2, key=lambda value: (tried[value], value))  # of equals the largest
    start = time.process_time()
    trainer = LBFGS(s["max_iter"], l2=l2, tol=s["tol"])
    ner = Recognizer(Chain(s["scheme"]), features=seen.features, trainer=trainer, keep="longest", threads=1).fit(train)
    trained = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    seconds = []
    for _ in range(5):
        start = time.process_time()
        found = ner.predict(blank)
        seconds.append(time.process_time() - start)
    features, instances = count_features(s["scheme"], train, ner)
    for name, some in ((run.name, found), (f"{s['corpus']} gold", test)):
        spans = [[(m.label, *m.parts[0]) for m in in_characters(doc).mentions] for doc in some]
        (context.work / file_of(name)).write_text(json.dumps(spans))
    return {
        **scores(test, found),
        **bc2gm.counts(test, found),
        "l2": l2,
        "l2_at_edge": l2 in (min(L2), max(L2)),
        "tried": {str(value): f1 for value, f1 in tried.items()},
        "features": features,
        "instances": instances,
        "iterations": ner.training_["iterations"],
        "train_seconds": trained,
        "words_per_second": sum(map(len, blank)) / min(seconds),
        "peak_gb": peak,
    }


COMMON: dict[str, Any] = {"tol": 1e-4, "max_iter": 2000, "share": 1.0, "l2": list(L2)}
GENES: dict[str, Any] = {
    **COMMON,
    "corpus": "bc2gm",
    "features": "cho-bio",
    "annotators": ["pos", "english-rules"],
    "lexicons": list(FILES),
}
NEWS: dict[str, Any] = {**COMMON, "corpus": "uner-ewt", "features": "cho-conll", "annotators": ["english-rules"]}
WORDS: dict[str, Any] = {**COMMON, "corpus": "bc2gm", "features": "default"}
"""Ours: from words alone."""

UNLIKE = {
    "cho-bio": (
        "parts of speech by a tagger that was trained on GENIA, lemmas and chunks by rule",
        "open lists of names for EntrezGene and UMLS",
    ),
    "cho-conll": ("UNER-EWT for CoNLL-2003, which is licensed", "chunks by rule"),
    "default": ("words only",),
}
"""How lines differ from the paper's, by features."""
STOPS = "ends within 1e-4 of the optimum, where the paper's stops when the likelihood hardly changes"


def lines() -> list[Run]:
    """Return all lines: tables 4, 9 and 13, the learning curve, and ours from words alone."""
    both = (("bc2gm", GENES), ("uner-ewt", NEWS))
    made = [(f"{name} {scheme}", {**s, "scheme": scheme}) for name, s in both for scheme in (SEVERAL + SINGLE)[::-1]]
    made += [
        (f"bc2gm {scheme} {share:.0%}", {**GENES, "scheme": scheme, "share": share})
        for share in (0.1, 0.2, 0.4)
        for scheme in CURVE
    ]
    made += [(f"bc2gm words {scheme}", {**WORDS, "scheme": scheme}) for scheme in ("IO", "BIES", "BIES,IO", "BIES+")]
    return [Run(name, settings, differs=(*UNLIKE[settings["features"]], STOPS)) for name, settings in made]


EXPERIMENT = Experiment(
    title="Segment representations (Cho et al. 2013)",
    runs=lines(),
    execute=execute,
    columns=(
        *SCORES,
        "l2",
        "features",
        "instances",
        "iterations",
        "train_seconds",
        "peak_gb",
        "words_per_second",
    ),
    percent=SCORES,
    about=(
        "BioCreative II gene mention and UNER-EWT, test part, exact match; `alt` is BioCreative's rule with "
        "alternatives (UNER-EWT has none). Features are those of the paper: `cho-bio` with parts of speech, lemmas, "
        "chunks and lists of names, `cho-conll` on UNER-EWT; *words* are lines from words alone. `features` are "
        "distinct pairs of a feature and a label over all representations, `instances` how often such a pair fires in "
        "training on average (AFI). L2 is chosen for every line from ten values on the last tenth of the training "
        "part; the model then learns from all of it, as in the paper, up to 2,000 iterations. Percentages after a "
        "name: the first so many of the training sentences, L2 by the same last tenth. Training seconds and "
        "words per second are processor time of one thread; tagging is the best of five. p-values and changes: "
        "`representations-changes.md`."
    ),
    finish=finish,
)
