"""BioCreative II gene mention: how far one model gets, and what each resource adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.bc2gm import SCORES, blind, load, scores
from experiments.representations import QUICK
from experiments.runner import Context, Experiment, Result, Run
from experiments.separators import clusters
from spanloom import Recognizer, Sentence, read
from spanloom.corpus.tokenizer import tokenize
from spanloom.features import FeatureSet, read_resource
from spanloom.learning import LBFGS, Perceptron
from spanloom.models import Chain, Tagger

CLUSTERS = 1000
POS_FEATURES = (
    "bias",
    "word[-2..2]",
    "lower(word)[0]",
    "prefix(word, 1..4)",
    "suffix(word, 1..5)",
    "collapsed(word)[-1..1]",
    "flags(word)",
    "word[-1] & word[0]",
    "word[0] & word[1]",
    "suffix(word, 3)[-1]",
    "suffix(word, 3)[1]",
)
WITH_POS = ("pos[-1..1]", "pos[-1] & pos[0]", "pos[0] & pos[1]")
WITH_CLUSTERS = ("cluster(word, brown, 4, 8, 12, 20)[-1..1]",)


def pieces(sentence: Sentence) -> Sentence:
    """A sentence of GENIA's tokens in ours: every piece of a token has its part of speech."""
    tokens: list[str] = []
    pos: list[str] = []
    for token, tag in zip(sentence.tokens, sentence.columns["pos"], strict=True):
        for start, end in tokenize(token):
            tokens.append(token[start:end])
            pos.append(tag)
    return Sentence(tokens, columns={"pos": pos})


def tagger(context: Context) -> Path:
    """A tagger of parts of speech from the GENIA corpus, trained once."""
    path = context.work / ("pos.quick.loom" if context.quick else "pos.loom")
    if not path.exists():
        docs = read(f"genia:{context.data}/genia?split=train")
        sentences = [pieces(s) for doc in docs for s in doc.sentences]
        if context.quick:
            sentences = sentences[:500]
        features = FeatureSet(POS_FEATURES, name="pos", min_count=2)
        made = Recognizer(Tagger("pos"), features=features, trainer=Perceptron(max_iter=8))
        made.fit(sentences).save(path)
    return path


def execute(run: Run, context: Context) -> Result:
    """Train one model with some of the resources and score it on the test part."""
    s = run.settings
    train = [sentence for doc in load("train", context.data) for sentence in doc.sentences]
    train = train[:QUICK] if context.quick else train
    test = load("test", context.data)
    templates, resources, annotators = list(FeatureSet.named("default").templates), {}, []
    if "pos" in s["with"]:
        annotators.append(str(tagger(context)))
        templates += WITH_POS
    if "clusters" in s["with"]:
        resources["brown"] = read_resource(clusters(CLUSTERS, context), "brown")
        templates += WITH_CLUSTERS
    options: dict[str, Any] = {"annotators": annotators}
    if "induced" in s["with"]:
        options["annotators"] = [*annotators, "induced"]
    features = FeatureSet(templates, name="genes", resources=resources)
    ner = Recognizer(
        Chain(s["scheme"]),
        features=features,
        trainer=LBFGS(s["max_iter"], l2=s["l2"], tol=1e-4),
        keep="longest",
        **options,
    ).fit(train)
    ner.save(context.work / f"{run.name.replace(' ', '-')}.loom")
    blank = [blind(doc) for doc in test]
    result = scores(test, ner.predict(blank))
    for repairs in (["parentheses"], ["abbreviations"], ["parentheses", "abbreviations"]):
        ner.set_params(repairs=repairs)
        repaired = scores(test, ner.predict(blank))
        result["+".join(repairs)] = repaired["alt_f1"]
        result["+".join(repairs) + " strict"] = repaired["f1"]
    return {**result, "train_seconds": ner.training_["seconds"], "iterations": ner.training_["iterations"]}


TEMPLATES = {"pos": WITH_POS, "clusters": WITH_CLUSTERS, "induced": ()}


def _run(name: str, scheme: str, *resources: str) -> Run:
    templates = {resource: list(TEMPLATES[resource]) for resource in resources}
    unlike = ("at most 150 iterations, which trainings reach", "L2 not tuned", "no dictionaries, lemmas and chunks")
    return Run(name, {"scheme": scheme, "with": templates, "l2": 1.0, "max_iter": 150}, differs=unlike)


SHARES = (*SCORES, "parentheses", "abbreviations", "parentheses+abbreviations")

EXPERIMENT = Experiment(
    title="Gene names in BioCreative II",
    runs=[
        _run("words", "BIES"),
        _run("words, parts of speech", "BIES", "pos"),
        _run("words, clusters", "BIES", "clusters"),
        _run("words, clusters, parts of speech", "BIES", "clusters", "pos"),
        _run("words, clusters, parts of speech, induced lexicon", "BIES", "clusters", "pos", "induced"),
        _run("words, clusters, parts of speech, in seven representations", "BIES+", "clusters", "pos"),
        _run("all of these, in seven representations", "BIES+", "clusters", "pos", "induced"),
    ],
    execute=execute,
    columns=(*SHARES, "train_seconds"),
    percent=SHARES,
    about=(
        "Test part of BioCreative II gene mention; `alt` is the task's own rule with alternatives, and so are the "
        "columns of the repairs, each measured on its own, on the test part: which to use is not chosen here. "
        "Resources: 1,000 Brown clusters of the unlabelled text, a tagger trained on GENIA's parts of "
        "speech, a lexicon induced from the training part by cross-fitting. "
        "Figures of others: BANNER 85.0; Ando 87.2, the best of the challenge that was no combination."
    ),
)
