"""Partial annotation: what is won by saying which labels of a document were annotated."""

from __future__ import annotations

import random

from experiments.runner import Context, Experiment, Result, Run
from spanloom import Document, Recognizer, read
from spanloom.corpus import Known
from spanloom.learning import LBFGS

REF = "genia:{data}/genia?classes=5&split={part}"
WAYS = {
    "whole": "everything is annotated",
    "known": "half of the labels of each document are hidden, and the document says which are annotated",
    "absent": "the same half is hidden, and trained on as if there were no such mentions",
}


def hide(documents: list[Document], way: str, seed: int) -> list[Document]:
    """Hide a random half of the labels (rounded up) of every document, and say so or not."""
    labels = sorted({m.label for d in documents for s in d.sentences for m in s.mentions})
    draw = random.Random(seed)
    made = []
    for document in documents:
        kept = tuple(sorted(draw.sample(labels, len(labels) // 2)))
        if way == "whole":
            made.append(document)
            continue
        sentences = []
        for sentence in document.sentences:
            one = sentence.with_mentions([m for m in sentence.mentions if m.label in kept])
            if way == "known":
                one.known = Known(labels=kept)
            sentences.append(one)
        made.append(document.with_sentences(sentences))
    return made


def execute(run: Run, context: Context) -> Result:
    """Train on documents with hidden labels, and score on whole ones."""
    s = run.settings
    train = [d for d in read(REF.format(data=context.data, part="train")) if d.sentences]
    train = train[: 60 if context.quick else s["documents"]]
    hidden = hide(train, s["way"], s["seed"])
    trainer = LBFGS(l2=s["l2"], max_iter=s["max_iter"])
    ner = Recognizer(s["model"], features="default", trainer=trainer, keep="longest", threads=1).fit(hidden)
    score = ner.score(read(REF.format(data=context.data, part="dev"))).micro
    longest = max(record.number for record in ner.history_)
    return {
        "documents": len(train),
        "mentions": ner.training_["mentions"],
        "iterations": longest,
        "converged": "yes" if longest < s["max_iter"] else "no: cap",
        "P": score.precision,
        "R": score.recall,
        "F1": score.f1,
    }


EXPERIMENT = Experiment(
    title="Partial annotation of GENIA, five types",
    runs=[
        Run(f"{model}, {way}", {"model": model, "way": way, "documents": 300, "seed": 1, "l2": 1.0, "max_iter": 400})
        for model in ("edge", "chain")
        for way in WAYS
    ],
    execute=execute,
    columns=["documents", "mentions", "iterations", "converged", "P", "R", "F1"],
    percent=("P", "R", "F1"),
    about=(
        "The first 300 documents of the training part, scored on the development part. "
        + "; ".join(f"{way}: {words}" for way, words in WAYS.items())
        + ". L2 1.0 for all, not tuned; no mention penalty. The chain is trained on the longest mentions."
    ),
)
