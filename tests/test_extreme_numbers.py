"""Numbers at the ends of their range: gradients stay finite, objectives fall, or an error says what is wrong."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, Sentence
from spanloom._native import ChainStructure, EdgeStructure, HypergraphStructure
from spanloom.base.errors import SpanloomError
from spanloom.learning import LBFGS, Iteration

LARGE = 1e30


def corpus(features: list[Any] | None = None, labels: int = 2, sentences: int = 12) -> list[Document]:
    """Sentences of four tokens with one mention each."""
    return [
        Document([Sentence(["a", f"x{k % 5}", "b", "."], [Mention(f"L{k % labels}", ((1, 2),))], features=features)])
        for k in range(sentences)
    ]


def objectives(ner: Recognizer, docs: list[Document]) -> list[float]:
    """Train, and return the objective after every iteration of every component."""
    seen: dict[int, list[float]] = {}

    def listen(record: Iteration) -> None:
        seen.setdefault(record.component, []).append(record.objective)
        assert math.isfinite(record.objective)

    ner.fit(docs, listener=listen)
    for values in seen.values():
        assert all(b <= a * (1 + 1e-9) + 1e-9 for a, b in pairwise(values))
    return [values[-1] for values in seen.values()]


def own(model: str, **trainer: Any) -> Recognizer:
    """A recogniser over the user's own features."""
    return Recognizer(
        model, features="own", keep="longest", decide="best", trainer=LBFGS(max_iter=20, **trainer), threads=1
    )


@pytest.mark.parametrize("value", [5e-324, 1e-300, 1e-30, -1e-30, 1e3, -1e6, 1e8])
@pytest.mark.parametrize("model", ["chain", "edge"])
def test_real_values_of_many_sizes_are_learned_from(model: str, value: float) -> None:
    features = [["bias"], {"bias": 1.0, "big": value}, ["bias"], ["bias"]]
    ner = own(model)
    objectives(ner, corpus(features))
    for weights in ner.trained_.weights:
        assert len(weights.features)
        assert np.isfinite(weights.features).all()
        assert np.isfinite(weights.globals).all()
    ner.predict(corpus(features)[:1])


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (1e12, "no step lowers the objective: its gradient has the norm"),
        (-LARGE, "no step lowers the objective"),
        (1e300, "must be a finite number that fits a 32-bit float"),
        (math.inf, "must be a finite number"),
        (math.nan, "must be a finite number"),
    ],
)
@pytest.mark.parametrize("model", ["chain", "edge"])
def test_real_values_that_are_too_large_are_refused(model: str, value: float, complaint: str) -> None:
    """Without the message, the model would have no weights, and nobody would know why."""
    features = [["bias"], {"bias": 1.0, "big": value}, ["bias"], ["bias"]]
    with pytest.raises(SpanloomError, match=complaint):
        own(model).fit(corpus(features))


@pytest.mark.parametrize("l2", [1e6, LARGE, 1e300])
def test_a_huge_penalty_leaves_no_weights(l2: float) -> None:
    docs = corpus()
    ner = Recognizer("chain", keep="longest", decide="best", trainer=LBFGS(l2=l2, max_iter=20), threads=1)
    objectives(ner, docs)
    assert max(np.abs(one.features).max(initial=0) for one in ner.trained_.weights) < 1e-3
    assert all(math.isfinite(m.prob or 0.0) for m in ner.predict(docs[0], probabilities=True).mentions)


@pytest.mark.parametrize("l2", [0.0, 1e-30, 5e-324])
def test_no_penalty_on_separable_data_stays_finite(l2: float) -> None:
    """The optimum is at infinity; training stops on its way there."""
    ner = Recognizer("chain", keep="longest", decide="best", trainer=LBFGS(l2=l2, max_iter=60), threads=1)
    objectives(ner, corpus())
    assert all(np.isfinite(one.features).all() for one in ner.trained_.weights)


def test_duplicated_features_count_once_each() -> None:
    """Ten copies of a feature at a place are a value of ten, not an error and not one."""
    one = [["f"], {"g": 10.0}, ["f"], ["f"]]
    ten = [["f"], ["g"] * 10, ["f"], ["f"]]
    found = [objectives(own("chain"), corpus(features)) for features in (one, ten)]
    assert found[0] == pytest.approx(found[1], rel=1e-6)


@pytest.mark.parametrize("model", ["chain", "edge", "state", "semimarkov", "memm", "hypergraph", "multilabel"])
@pytest.mark.parametrize("labels", [1, 60])
def test_one_label_and_many(model: str, labels: int) -> None:
    docs = corpus(labels=labels, sentences=max(labels, 12))
    ner = Recognizer(model, keep="longest", decide="best", trainer="auto", threads=1).set_params(trainer__max_iter=2)
    ner.fit(docs)
    assert len(ner.labels_) == labels
    ner.predict(docs[0])


@pytest.mark.slow
@pytest.mark.parametrize("model", ["chain", "edge", "memm"])
def test_five_hundred_labels(model: str, tmp_path: Path) -> None:
    docs = corpus(labels=500, sentences=500)
    ner = Recognizer(model, features="own", keep="longest", decide="best", threads=1)
    docs = [
        Document([Sentence(s.tokens, s.mentions, features=[[t] for t in s.tokens])]) for d in docs for s in d.sentences
    ]
    ner.set_params(trainer__max_iter=2)
    ner.fit(docs)
    assert len(ner.labels_) == 500
    ner.save(tmp_path / "m.loom")
    Recognizer.load(tmp_path / "m.loom").predict(docs[0])


@pytest.mark.slow
@pytest.mark.parametrize("model", ["chain", "edge", "state", "memm", "hypergraph", "semimarkov"])
def test_a_sentence_of_a_hundred_thousand_tokens(model: str) -> None:
    ner = Recognizer(model, keep="longest", decide="best", threads=1).set_params(trainer__max_iter=3)
    ner.fit(corpus())
    long = Sentence(["a", "x1", "b", "."] * 25_000)
    (found,) = ner.predict([Document([long])], probabilities=model in ("chain", "edge"))
    assert len(found.sentences[0]) == 100_000
    assert all(0 <= m.prob <= 1 for m in found.mentions if m.prob is not None)


SCORES = (0.0, 1e-300, 1e3, 1e6, LARGE, 1e150, 1e300, math.inf)


@pytest.mark.parametrize("size", SCORES)
@pytest.mark.parametrize("kind", ["chain", "edge", "hypergraph"])
def test_kernels_take_scores_of_any_size(kind: str, size: float) -> None:
    """Log Z and marginals are numbers, or infinite where the sum of scores is."""
    labels = 3
    every = np.ones(labels, np.uint8)
    structure: Any = {
        "chain": lambda: ChainStructure(labels, np.ones(labels**2, np.uint8), every, every),
        "edge": EdgeStructure,
        "hypergraph": HypergraphStructure,
    }[kind]()
    random = np.random.default_rng(3)
    for sign in (-1.0, 1.0):
        if size == math.inf and sign > 0:
            continue  # a score of plus infinity is no score
        scores = np.where(random.random(5 * structure.columns) < 0.3, sign * size, 0.0)
        others = np.where(random.random(structure.global_cells) < 0.3, sign * size, 0.0)
        value, expected = structure.expectations(scores, others)
        assert not math.isnan(value)
        assert not np.isnan(expected).any()
        assert (expected >= 0).all()
        assert not math.isnan(structure.best(scores, others)[0])
