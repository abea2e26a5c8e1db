"""BioCreative II gene mention: how far one model gets, and what each resource adds.

L2 and repairs are chosen on the last tenth of the training part, which the model then learns from too. Each line trains
five times, the choices from the largest L2 on, each from the optimum before. All lines take about five hours of one
core, estimated from the times of earlier ones, which ended at a cap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.bc2gm import SCORES, blind, counts, load, scores
from experiments.lexicons import references
from experiments.representations import QUICK, QUICK_ITERATIONS
from experiments.runner import Context, Experiment, Result, Run
from experiments.separators import clusters
from experiments.settings import SEARCH_TOL
from experiments.taggers import tagger
from spanloom import Document, Recognizer
from spanloom.features import FeatureSet, read_resource
from spanloom.learning import LBFGS
from spanloom.models import Chain

CLUSTERS = 1000
LISTS = ["gene", "family"]
L2 = [0.05, 0.25, 1.0, 4.0]
REPAIRS: tuple[tuple[str, ...], ...] = ((), ("parentheses",), ("abbreviations",), ("parentheses", "abbreviations"))
TEMPLATES: dict[str, tuple[str, ...]] = {
    "pos": ("pos[-1..1]", "pos[-1] & pos[0]", "pos[0] & pos[1]"),
    "clusters": ("cluster(word, brown, 4, 8, 12, 20)[-1..1]",),
    "lemmas, chunks": (),
    "induced": (),
    "lexicons": (),
}
"""What each resource adds to the features; lexicons bring their own."""


def recognizer(settings: dict[str, Any], context: Context, **options: Any) -> Recognizer:
    """Return a recogniser with the resources of a line."""
    wanted = settings["with"]
    annotators = [str(tagger(context))] if "pos" in wanted else []
    annotators += ["english-rules"] if "lemmas, chunks" in wanted else []
    annotators += references(LISTS, context) if "lexicons" in wanted else []
    annotators += ["induced"] if "induced" in wanted else []
    templates = [*FeatureSet.named(settings["features"]).templates, *(t for name in wanted for t in TEMPLATES[name])]
    resources = {"brown": read_resource(clusters(CLUSTERS, context), "brown")} if "clusters" in wanted else {}
    return Recognizer(
        Chain(settings["scheme"]),
        features=FeatureSet(list(dict.fromkeys(map(str, templates))), name="genes", resources=resources),
        trainer=LBFGS(QUICK_ITERATIONS if context.quick else settings["max_iter"], **options),
        keep="longest",
        annotators=annotators,
    )


def choose(
    settings: dict[str, Any], context: Context, docs: Sequence[Document]
) -> tuple[float, tuple[str, ...], dict[str, float]]:
    """Return L2 and repairs with the best F1 by the rule of the task on the last tenth, and F1 of all of them."""
    cut = len(docs) * 9 // 10
    watch, before = docs[cut:], None
    blank = [blind(doc) for doc in watch]
    found: dict[tuple[float, tuple[str, ...]], float] = {}
    for l2 in sorted(settings["l2"], reverse=True):
        ner = recognizer(settings, context, l2=l2, tol=SEARCH_TOL).fit(docs[:cut], start=before)
        for repairs in REPAIRS:
            ner.set_params(repairs=repairs)
            found[l2, repairs] = scores(watch, ner.predict(blank))["alt_f1"]
        before = ner
    l2, repairs = max(found, key=lambda one: (found[one], -len(one[1]), one[0]))
    return l2, repairs, {f"{value:g} {'+'.join(names)}".strip(): f1 for (value, names), f1 in found.items()}


def execute(run: Run, context: Context) -> Result:
    """Choose, train one model with some of the resources, and score it on the test part, without and with repairs."""
    docs = load("train", context.data)
    docs = docs[:QUICK] if context.quick else docs
    test = load("test", context.data)
    l2, repairs, tried = choose(run.settings, context, docs)
    ner = recognizer(run.settings, context, l2=l2, tol=run.settings["tol"]).fit(docs)
    ner.save(context.work / f"{run.name.replace(' ', '-')}.loom")
    blank = [blind(doc) for doc in test]
    plain = ner.predict(blank)
    ner.set_params(repairs=repairs)
    repaired = ner.predict(blank)
    return {
        **scores(test, plain),
        **counts(test, plain),
        **{f"repaired {name}": value for name, value in scores(test, repaired).items() if name in ("f1", "alt_f1")},
        "repairs": "+".join(repairs),
        "l2": l2,
        "l2_at_edge": l2 in (min(run.settings["l2"]), max(run.settings["l2"])),
        "tried": tried,
        "train_seconds": ner.training_["seconds"],
        "iterations": ner.training_["iterations"],
    }


def _run(name: str, scheme: str, *resources: str, features: str = "default") -> Run:
    used = {resource: list(TEMPLATES[resource]) for resource in resources}
    settings = {"scheme": scheme, "features": features, "with": used, "l2": L2, "max_iter": 2000, "tol": 1e-4}
    return Run(name, settings, differs=("features of ours",) if features == "default" else PAPER)


PAPER = (
    "parts of speech by a tagger that was trained on GENIA, lemmas and chunks by rule",
    "open lists of genes and families for EntrezGene and UMLS",
)
ALL = ("clusters", "pos", "induced", "lexicons")
CHO = ("pos", "lemmas, chunks", "lexicons")
SHARES = (*SCORES, "repaired f1", "repaired alt_f1")

EXPERIMENT = Experiment(
    title="Gene names in BioCreative II",
    runs=[
        _run("words", "BIES"),
        _run("words, parts of speech", "BIES", "pos"),
        _run("words, clusters", "BIES", "clusters"),
        _run("words, lexicons", "BIES", "lexicons"),
        _run("words, clusters, parts of speech", "BIES", "clusters", "pos"),
        _run("words, clusters, parts of speech, induced lexicon", "BIES", "clusters", "pos", "induced"),
        _run("words, clusters, parts of speech, in seven representations", "BIES+", "clusters", "pos"),
        _run("all of these but lexicons, in seven representations", "BIES+", "clusters", "pos", "induced"),
        _run("all of these", "BIES", *ALL),
        _run("all of these, in seven representations", "BIES+", *ALL),
        _run("the paper's features", "BIES", *CHO, features="cho-bio"),
        _run("the paper's features, in seven representations", "BIES+", *CHO, features="cho-bio"),
        _run(
            "the paper's features, clusters, induced lexicon", "BIES", *CHO, "clusters", "induced", features="cho-bio"
        ),
        _run(
            "the paper's features, clusters, induced lexicon, in seven representations",
            "BIES+",
            *CHO,
            "clusters",
            "induced",
            features="cho-bio",
        ),
    ],
    execute=execute,
    columns=(*SHARES, "repairs", "l2", "iterations", "train_seconds"),
    percent=SHARES,
    about=(
        "Test part of BioCreative II gene mention; `alt` is the task's own rule with alternatives. L2 and repairs "
        "(parentheses, abbreviations) are chosen on the last tenth of the training part, by the rule of the task; "
        "training goes on to within 1e-4 of the optimum. Resources: 1,000 Brown clusters of the unlabelled text, a "
        "tagger trained on GENIA's parts of speech, open lists of genes and families, a lexicon induced from the "
        "training part by cross-fitting; with the paper's features also lemmas and chunks by rule. "
        "Figures of others: BANNER 85.0; Ando 87.2, the best of the challenge that was no combination."
    ),
)
