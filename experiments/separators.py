"""Muis & Lu (2017): STATE, EDGE, hypergraph, linear chains and entity trees on corpora with and without overlap."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments import bc2gm, paired
from experiments.counts import pack, unpack
from experiments.licensed import CORPORA as LICENSED
from experiments.licensed import file_of, licensed
from experiments.runner import Context, Experiment, Result, Run
from experiments.settings import SEARCH_TOL, TO_THE_END, recognizer
from experiments.taggers import tagger
from spanloom.corpus import Document, Sentence
from spanloom.evaluation import Evaluation, Score, evaluate
from spanloom.evaluation.significance import unit_counts
from spanloom.features.brown import train_clusters
from spanloom.features.separator_sets import GAP_SETS
from spanloom.formats import read

CORPORA = {
    "genia": "genia:{data}/genia?classes=5&split={split}",
    "gum": "gum:{data}/gum?split={split}",
    "gum3": "gum:{data}/gum?split={split}",
    "uner": "uner:{data}/uner-ewt?split={split}",
    **LICENSED,
}
"""Where a corpus is; ``gum3`` has persons, places and organisations only. BC2GM has no development part."""

GUM3 = frozenset({"person", "place", "organization"})
QUICK = 400


def load(corpus: str, split: str, context: Context) -> list[Document]:
    """Return the documents of a part of a corpus; of BC2GM the last tenth of the training part is for development."""
    if corpus == "bc2gm":
        docs = bc2gm.load("train", context.data)  # a sentence each
        cut = len(docs) * 9 // 10
        docs = docs[:cut] if split == "train" else docs[cut:]
    else:
        docs = list(read(CORPORA[corpus].format(data=context.data, split=split, file=file_of(split))))
    if corpus == "gum3":
        docs = [replace(doc, sentences=[_without_others(s) for s in doc.sentences]) for doc in docs]
    return docs[: QUICK if corpus == "bc2gm" else QUICK // 10] if context.quick else docs


def _without_others(sentence: Sentence) -> Sentence:
    return sentence.with_mentions([m for m in sentence.mentions if m.label in GUM3])


class Test:
    """The test part: what is tagged, and the comparison with gold.

    BC2GM is tokenised anew for tagging, as its reader cuts tokens at the edges of mentions, and scored in characters.
    """

    def __init__(self, corpus: str, context: Context) -> None:
        self.documents = bc2gm.load("test", context.data) if corpus == "bc2gm" else None
        if self.documents is None:
            self.blank: list[Document] = load(corpus, "test", context)
            self.gold: list[Any] = self.blank
        else:
            self.blank = [bc2gm.blind(doc) for doc in self.documents]
            self.gold = [bc2gm.in_characters(doc) for doc in self.documents]

    def report(self, found: list[Any]) -> Evaluation:
        """Compare what was found with gold."""
        return evaluate(self.gold, found if self.documents is None else [bc2gm.in_characters(doc) for doc in found])

    def counts(self, found: list[Any]) -> npt.NDArray[np.int64]:
        """Count gold, found and right mentions, sentence by sentence."""
        found = found if self.documents is None else [bc2gm.in_characters(doc) for doc in found]
        gold, mine = (
            [s.mentions for doc in side for s in getattr(doc, "sentences", [doc])] for side in (self.gold, found)
        )
        return unit_counts(gold, mine)


def clusters(count: int, context: Context) -> Path:
    """Return Brown clusters of the unlabelled text, made once."""
    path = context.work / f"paths{count}"
    if not path.exists():
        with (context.data / "pubmed" / "sentences.txt").open(encoding="utf-8") as lines:
            train_clusters((line for i, line in enumerate(lines) if not context.quick or i < QUICK), count).write(path)
    return path


class Choice:
    """L2 and the number of clusters, by F1 on the development part, each with the penalty that is best there.

    Attributes
    ----------
    tried
        F1 by setting.
    """

    def __init__(self, settings: dict[str, Any], context: Context, train: list[Document], dev: list[Document]) -> None:
        self.settings, self.context, self.train, self.dev = settings, context, train, dev
        self.tried: dict[str, float] = {}

    def made(self) -> dict[str, Any]:
        """Return settings of which nothing is left open: first L2, from the largest on, then the clusters."""
        for name in ("l2", "clusters"):
            values = self.settings.get(name)
            if isinstance(values, list):
                self.settings = self._first(self.settings)
                self.settings[name] = self._best(name, sorted(values, reverse=True))
        return self.settings

    def _first(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Take the largest value of what is open."""
        return {name: max(value) if name in ("l2", "clusters") and isinstance(value, list) else value
                for name, value in settings.items()}  # fmt: skip

    def _best(self, name: str, values: list[Any]) -> Any:
        found, before = {}, None
        for value in values:
            settings = {**self.settings, name: value, "tol": SEARCH_TOL}
            ner = recognizer(ready(settings, self.context), overlap="longest")
            ner.fit(self.train, start=before if name == "l2" else None)
            curve, before = ner.tune_mention_penalty(self.dev), ner
            found[value] = self.tried[f"{name} {value}"] = curve.at(curve.best).f1
        return max(values, key=lambda value: found[value])


def ready(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return settings for a recogniser: clusters and tagger are made, a quick run is short."""
    made = {**settings, "max_iter": 5} if context.quick else dict(settings)
    if "annotators" in made:
        made["annotators"] = [str(tagger(context, "gum")) if one == "pos" else one for one in made["annotators"]]
    return {**made, "clusters": clusters(made["clusters"], context)} if made.get("clusters") else made


def execute(run: Run, context: Context) -> Result:
    """Choose L2 and clusters, train, score the test part, choose the penalty, all on dev, and score again."""
    settings: dict[str, Any] = dict(run.settings)
    corpus = settings.pop("corpus")
    train, dev, test = load(corpus, "train", context), load(corpus, "dev", context), Test(corpus, context)
    choice = Choice(settings, context, train, dev)
    settings = choice.made()
    ner = recognizer(ready(settings, context), overlap="longest")
    start = time.perf_counter()
    ner.fit(train)
    seconds = time.perf_counter() - start
    untuned = test.report(ner.predict(test.blank, probabilities=False)).micro
    curve = ner.tune_mention_penalty(dev)
    ner.threads = 1
    words = sum(len(s) for doc in test.blank for s in doc.sentences)
    speed, found = 0.0, []
    for _ in range(5):
        start = time.process_time()  # one thread: what it takes of a core, whatever else the machine does
        found = ner.predict(test.blank, probabilities=False)
        speed = max(speed, words / (time.process_time() - start))
    report = test.report(found)
    kinds = report.by_sentence_kind
    ends = {r.component: r.number for r in ner.history_}
    return {
        **scores(report),
        "untuned P": untuned.precision,
        "untuned R": untuned.recall,
        "untuned F1": untuned.f1,
        "dev F1": curve.at(curve.best).f1,
        "penalty": curve.best,
        "l2": settings["l2"],
        "clusters": settings.get("clusters"),
        "tried": choice.tried,
        # Blank where no gold sentence is of the kind.
        "F1 overlap": _f1(kinds.get("overlapping")),
        "F1 no overlap": _f1(kinds.get("without_overlap")),
        "ceiling": ner.ceiling_,
        "words_per_second": speed,
        "training seconds": seconds,
        "iterations": sum(ends.values()),
        "features": ner.extractor_.size,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "objective": [[round(r.objective, 1) for r in ner.history_ if r.component == c] for c in sorted(ends)],
        "curve": curve.to_json(),
        "sentence kinds": {name: score.to_json() for name, score in kinds.items()},
        "units": pack(test.counts(found)),
    }


def scores(report: Evaluation) -> Result:
    """Return precision, recall and F1 with its 95 % interval."""
    f1, all_ = report.interval(resamples=2000)["f1"], report.micro
    return {"precision": all_.precision, "recall": all_.recall, "f1": all_.f1, "low": f1.low, "high": f1.high}


def _f1(score: Score | None) -> float | None:
    return score.f1 if score is not None and score.gold else None


def paper(precision: float, recall: float, f1: float, speed: float | None = None) -> dict[str, float]:
    """Return a line of table 3; without a speed that of another paper, which has none."""
    figures = {"precision": precision, "recall": recall, "f1": f1}
    return figures if speed is None else {**figures, "words_per_second": speed}


RICH = {"corpus": "genia", "model": "edge", "annotators": ["phrases"], "l2": 32.0, **TO_THE_END}
"""L2 is the best of 4, 8, 16, 32 and 64 for EDGE and the proteins of the development part."""

PAPER = {"corpus": "genia", "features": "muis-lu-genia", "clusters": [100, 300, 1000], "l2": [3.0, 6.0, 12.0, 24.0]}
GUM_PAPER = {"corpus": "gum", "features": "muis-lu-ace", "l2": [0.5, 2.0, 8.0, 32.0]}
GUM = {"corpus": "gum", "features": "gaps+gap-heads", "annotators": ["phrases"], "l2": [2.0, 8.0, 32.0]}
FLAT = {"corpus": "uner", "features": "muis-lu-ace", "l2": [0.1, 0.5, 2.0, 8.0]}
GENES = {"corpus": "bc2gm", "features": "default", "l2": [0.5, 2.0, 8.0]}
MODELS = (
    ("tree", {"model": "tree", "features": "finkel-manning", "longest": 20}, paper(75.4, 65.9, 70.3)),
    ("chain", {"model": "chain", "scheme": "BILOU"}, paper(77.1, 63.3, 69.5, 81.6)),
    ("chains", {"model": "chains", "scheme": "BILOU"}, paper(75.9, 66.1, 70.6, 175.8)),
    ("hypergraph", {"model": "hypergraph"}, paper(74.2, 66.7, 70.3, 931.9)),
    ("state", {"model": "state"}, paper(74.0, 67.7, 70.7, 110.8)),
    ("edge", {"model": "edge"}, paper(75.4, 66.8, 70.8, 389.2)),
)


def _unlike(settings: dict[str, Any]) -> tuple[str, ...]:
    said = UNLIKE["gum" if settings["corpus"] == "gum3" else settings["corpus"]]
    if settings["model"] == "tree":
        return (*said, *TREES)
    if settings.get("scheme") == "BIOHD":
        return (*said, "one chain for all types; the paper gives no figure, but that it is close to LCRF (multiple)")
    if settings.get("annotators") and not settings["corpus"].startswith("ace"):
        said = ("features of ours", *said[:1], *(() if isinstance(settings["l2"], list) else (FIXED,)))
    return said


def ablation() -> Iterator[Run]:
    """The rich features without one of their parts each, all with the same penalty."""
    for part in GAP_SETS:
        if part != "gap-words":
            features = "+".join(other for other in GAP_SETS if other != part)
            used = {"clusters": 1000} if part != "gap-clusters" else {}
            yield Run(f"genia, edge, rich without {part}", {**RICH, **used, "features": features})


def of(settings: dict[str, Any], model: dict[str, Any]) -> dict[str, Any]:
    """Return the settings for a model; the paper's features are around the word before for those with sites at gaps.

    Those of a model that has its own are the same on all corpora.
    """
    if "features" in model:
        return {n: value for n, value in {**settings, **TO_THE_END, **model}.items() if n != "annotators"}
    features = settings["features"]
    at_gaps = model["model"] in ("state", "edge") and features.startswith("muis-lu")
    return {**settings, **TO_THE_END, **model, "features": f"{features}-gaps" if at_gaps else features}


FIXED = "L2 chosen for EDGE and proteins, the same for these lines; one number of clusters"
UNLIKE = {
    "genia": ("features partly reconstructed: the supplement was not seen",),
    "gum": ("GUM for ACE, which is licensed",),
    "uner": ("UNER-EWT for CoNLL-2003, which is licensed", "F1 without the penalty beside it"),
    "bc2gm": ("BC2GM for CoNLL-2003, which is licensed", "features of ours"),
    "ace2004": ("parts of speech by a tagger that was trained on GUM", "our tokens and sentences"),
    "ace2005": ("parts of speech by a tagger that was trained on GUM", "our tokens and sentences"),
    "conll2003": (),
}
"""How lines differ from the paper's, by corpus."""

TREES = (
    "features after Finkel & Manning (2009), from memory",
    "mentions of at most 20 tokens",
    "trees without parts of speech, whose rules do not see the sibling before",
)
"""How those of entity trees differ besides."""

_RUNS = [
    *(
        Run(
            f"genia, {model}, rich{name}",
            {**RICH, "model": model, "features": "genia-rich", "clusters": 1000, "annotators": annotators},
        )
        for model in ("edge", "state")
        for name, annotators in (("", ["phrases"]), (", second look", ["phrases", "elsewhere"]))
    ),
    *(Run(f"genia, {name}, paper's features", of(PAPER, model), line) for name, model, line in reversed(MODELS)),
    Run("genia, BIOHD, paper's features", of(PAPER, {"model": "chain", "scheme": "BIOHD"})),
    *(Run(f"gum, {name}, paper's features", of(GUM_PAPER, model)) for name, model, _ in reversed(MODELS)),
    *(Run(f"gum, {name}", of(GUM, model)) for name, model, _ in reversed(MODELS)),
    *(Run(f"gum, three types, {name}", of({**GUM, "corpus": "gum3"}, model)) for name, model, _ in reversed(MODELS)),
    *(Run(f"uner (flat), {name}", of(FLAT, model)) for name, model, _ in reversed(MODELS)),
    *(Run(f"bc2gm (flat), {name}", of(GENES, model)) for name, model, _ in reversed(MODELS)),
    *ablation(),
    *licensed([(name, model) for name, model, _ in reversed(MODELS)], of),
]
RUNS = [replace(run, differs=_unlike(run.settings)) for run in _RUNS]


def compare(results: dict[str, Result], folder: Path) -> None:
    """Write paired tests of EDGE against every other model on the same data with the same features."""
    lines = ["# Separators: EDGE against the others", "", f"| | against | {' | '.join(paired.HEADS)} |"]
    lines.append(f"|---|---|{'---:|' * 4}---|")
    made = len(lines)
    for name, result in results.items():
        for other, *_ in MODELS[:-1]:
            base = results.get(name.replace("edge", other)) if "edge" in name else None
            if base is not None and "units" in result and "units" in base:
                found = paired.cells(unpack(result["units"]), unpack(base["units"]))
                lines.append(f"| {name} | {other} | {' | '.join(found)} |")
    if len(lines) > made:
        (folder / "separators-paired.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def finish(results: dict[str, Result], folder: Path) -> None:
    """Compare and draw."""
    compare(results, folder)
    draw(results, folder)


PANELS = {
    "GENIA": "genia, {}, paper's features",
    "GUM": "gum, {}, paper's features",
    "UNER-EWT": "uner (flat), {}",
    "BC2GM": "bc2gm (flat), {}",
}


def draw(results: dict[str, Result], folder: Path) -> None:
    """Draw the objective over the iterations (figure 7), until each has converged; several chains are added up."""
    panels = {
        title: {name: results[run] for name, *_ in MODELS if (run := pattern.format(name)) in results}
        for title, pattern in PANELS.items()
    }
    panels = {title: lines for title, lines in panels.items() if lines}
    if not panels:
        return
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.6), layout="constrained", squeeze=False)
    for axis, (title, lines) in zip(axes[0], panels.items(), strict=True):
        for name, result in lines.items():
            chains = result["objective"]
            length = max(map(len, chains))  # a chain that is done keeps its objective
            sums = [sum(one[min(i, len(one) - 1)] for one in chains) for i in range(length)]
            axis.plot(range(1, length + 1), sums, label=name)
            axis.plot(length, sums[-1], "k.", markersize=4)
        axis.set(title=title, xlabel="iteration", xscale="log", yscale="log")
    axes[0][0].set_ylabel("objective (penalised negative log-likelihood)")
    axes[0][-1].legend(fontsize=8)
    figure.savefig(folder / "separators.png", dpi=120)
    plt.close(figure)


SHARES = (
    "precision",
    "recall",
    "f1",
    "low",
    "high",
    "untuned F1",
    "dev F1",
    "F1 overlap",
    "F1 no overlap",
    "ceiling",
)

EXPERIMENT = Experiment(
    title="Overlapping mentions: separators, hypergraph and chains",
    runs=RUNS,
    execute=execute,
    columns=(*SHARES, "penalty", "l2", "clusters", "words_per_second", "training seconds", "iterations", "peak GB"),
    percent=SHARES,
    about=(
        "Tables 2 to 5 of Muis & Lu (2017). GENIA has five types, 14,836 / 1,855 / 1,855 sentences, words cut at "
        "hyphens and slashes, part of speech from the corpus; Brown clusters come from 116,435 biomedical sentences. "
        "`paper's features` on GENIA are the paper's as far as it tells them, with the shapes and affixes of Finkel & "
        "Manning (2009), whom it follows, from memory. L2 and, on GENIA, the number of clusters are chosen for every "
        "model on the development part where several are given, and so is the mention penalty; `low` "
        "and `high` bound F1 with 95 % (bootstrap over sentences); `F1 overlap` counts the sentences in which gold "
        "mentions overlap. Words per second are from tokens to mentions on one core, by processor time, the best "
        "of five. `objective` in the JSON file is drawn in separators.png (figure 7; a dot where training ended). "
        "BC2GM is tokenised anew for tagging and scored in characters, without alternatives; the last "
        "tenth of its training part serves as development part."
    ),
    finish=finish,
)
