"""Types that share weights: the objective from its definition, its gradient, and what training makes of it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, Sentence, read
from spanloom._native import Likelihood
from spanloom.base.errors import ParameterError
from spanloom.corpus import Known
from spanloom.features import FeatureExtractor, FeatureSet
from spanloom.learning import LBFGS, SDCA, Auto, Perceptron
from spanloom.learning.sharing import SharedObjective
from spanloom.models import Chains, Edge, Hypergraph, Model, State
from spanloom.models.component import Shapes
from spanloom.models.structured import Structured
from spanloom.models.supervised import supervise
from spanloom.scale import out_of_core
from spanloom.schemes.separators import encode_separators, inside_left, inside_right

FEW = [
    Sentence(["a", "b"], [Mention("X", ((0, 1),)), Mention("Y", ((0, 2),))]),
    Sentence(["b", "c"], [Mention("Y", ((1, 2),))]),
]
FEATURES = ["bias", "word[-1..0]"]
SAMPLE = list(read("sample:train"))[:12]


def likelihoods(model: Edge | State, sentences: list[Sentence]) -> list[Likelihood]:
    rows = FeatureExtractor(FeatureSet(FEATURES), "gaps").fit(sentences, 1)
    gold, shapes = [s.mentions for s in sentences], Shapes([len(s) for s in sentences])
    components = model.components(gold, shapes.lengths)
    return [Likelihood(rows, c.structure, supervise(c, sentences, gold, shapes), merge=False) for c in components]


def table(sentences: list[Sentence]) -> np.ndarray:
    """Features of every gap, dense."""
    rows = FeatureExtractor(FeatureSet(FEATURES), "gaps").fit(sentences, 1)
    dense = np.zeros((rows.rows, rows.width))
    dense[np.repeat(np.arange(rows.rows), np.diff(rows.row_ptr)), rows.ids] = 1.0
    return dense


def loss(weights: np.ndarray, sentences: list[Sentence], label: str) -> float:
    """−log p of the mentions of a label under STATE, from all sequences of separators."""
    dense, total, first = table(sentences), 0.0, 0
    sites, transitions = weights[: 8 * dense.shape[1]].reshape(-1, 8), weights[8 * dense.shape[1] :].reshape(8, 8)
    for sentence in sentences:
        n = len(sentence)
        scores = dense[first : first + n + 1] @ sites
        first += n + 1
        gold = tuple(encode_separators([m.parts[0] for m in sentence.mentions if m.label == label], n).tolist())
        of = {
            path: sum(scores[g, s] for g, s in enumerate(path))
            + sum(transitions[pair] for pair in itertools.pairwise(path))
            for path in itertools.product(range(8), repeat=n + 1)
            if not inside_left(path[0])
            and not inside_right(path[-1])
            and all(inside_right(a) == inside_left(b) for a, b in itertools.pairwise(path))
        }
        total += float(np.logaddexp.reduce(list(of.values()))) - of[gold]
    return total


@pytest.mark.parametrize("share", [0.0, 0.3, 4.0])
def test_the_objective_is_the_definition(share: float) -> None:
    """Own and common weights with one penalty, by brute force over all structures."""
    both = SharedObjective(likelihoods(State(), FEW), share)
    rng = np.random.default_rng(7)
    u = rng.normal(size=both.size)
    w = both.weights(u)
    # The shortest own and common weights that add up to w: minimise Σ ‖w_t − √share c‖² + ‖c‖² by c.
    common = np.sqrt(share) * w.sum(axis=0) / (1 + share * len(w))
    own = w - np.sqrt(share) * common
    assert float((own**2).sum() + common @ common) == pytest.approx(float(u @ u))
    labels = ["Y", "X"]  # the most frequent first
    expected = sum(loss(row, FEW, label) for row, label in zip(w, labels, strict=True))
    assert both.evaluate(u)[0] == pytest.approx(expected)
    assert both.parameters(w) == pytest.approx(u)


@pytest.mark.parametrize("model", [Edge(), State()])
def test_the_gradient_is_that_of_differences(model: Edge | State) -> None:
    both = SharedObjective(likelihoods(model, FEW), 0.7)
    rng = np.random.default_rng(8)
    u = rng.normal(size=both.size)
    _, gradient = both.evaluate(u)
    for i in rng.choice(both.size, 40, replace=False):
        step = np.zeros(both.size)
        step[i] = 1e-2  # weights are kept in single precision
        slope = (both.evaluate(u + step)[0] - both.evaluate(u - step)[0]) / 2e-2
        assert gradient[i] == pytest.approx(slope, abs=1e-4)


def test_without_sharing_parts_are_what_they_are_to_the_bit() -> None:
    parts = likelihoods(Edge(), FEW)
    both = SharedObjective(parts, 0.0)
    u = np.random.default_rng(9).normal(size=both.size)
    value, gradient = both.evaluate(u)
    each = [part.evaluate(row) for part, row in zip(parts, u.reshape(2, -1), strict=True)]
    assert value == sum(one for one, _ in each)
    assert np.array_equal(gradient, np.concatenate([slope for _, slope in each]))


def test_objectives_of_other_sizes_share_nothing() -> None:
    with pytest.raises(ValueError, match="must be of one size"):
        SharedObjective([*likelihoods(Edge(), FEW), *likelihoods(State(), FEW)], 1.0)


def fit(model: Model, corpus: list[Any] | None = None, **settings: Any) -> Recognizer:
    trainer = LBFGS(**{"max_iter": 30, **settings.pop("trainer", {})})
    given = {"features": ["bias", "word[-1..0]", "suffix(word, 2..3)[-1..0]"], "threads": 1, **settings}
    return Recognizer(model, keep="longest", trainer=trainer, **given).fit(corpus or SAMPLE)


def weights_of(ner: Recognizer) -> list[np.ndarray]:
    assert isinstance(ner.trained_, Structured)
    return [one.features for one in ner.trained_.weights]


def spread(ner: Recognizer) -> float:
    """How far the weights of labels are from their mean."""
    each = np.stack(weights_of(ner))
    return float(((each - each.mean(axis=0)) ** 2).sum())


@pytest.mark.parametrize("model", [Edge, State, Chains, Hypergraph])
def test_the_more_is_shared_the_nearer_are_the_weights(model: Any) -> None:
    converged = {"trainer": {"max_iter": 300, "l2": 1.0}}
    spreads = [spread(fit(model(share=share), **converged)) for share in (0.0, 1.0, 20.0)]
    assert spreads == sorted(spreads, reverse=True)


def test_threads_make_no_difference(tmp_path: Any) -> None:
    for threads in (1, 2):
        ner = fit(State(share=0.3), threads=threads, trainer={"max_iter": 8})
        ner.threads = None
        ner.save(tmp_path / f"{threads}.loom")
    one, two = (Recognizer.load(tmp_path / f"{threads}.loom") for threads in (1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(weights_of(one), weights_of(two), strict=True))
    assert one.model_ == State(share=0.3)


def test_a_model_of_one_label_has_nothing_to_share() -> None:
    one = [
        Document([s.with_mentions([m for m in s.mentions if m.label == SAMPLE[0].sentences[0].mentions[0].label])])
        for document in SAMPLE
        for s in document.sentences
    ]
    apart, together = fit(Edge(), one), fit(Edge(share=2.0), one)
    assert all(np.array_equal(a, b) for a, b in zip(weights_of(apart), weights_of(together), strict=True))


def test_it_learns_from_partial_annotation_and_on_development_data() -> None:
    partial = [s for document in SAMPLE for s in document.sentences]
    partial[0] = Sentence(partial[0].tokens, [], known=Known(labels=()))
    ner = fit(State(share=0.3), partial)
    assert ner.training_["gap"] is None  # it is not convex
    watched = Recognizer(State(share=0.3), keep="longest", trainer=LBFGS(max_iter=5, patience=2), threads=1)
    watched.fit(SAMPLE, dev=SAMPLE)
    assert watched.history_[-1].dev_f1 is not None
    best = max(record.dev_f1 or 0.0 for record in watched.history_)
    assert watched.score(SAMPLE).f1 == pytest.approx(best)


def test_an_interrupted_training_keeps_what_all_labels_have_learned() -> None:
    def stop(record: Any) -> None:
        if record.number == 3:
            raise KeyboardInterrupt

    ner = Recognizer(State(share=0.3), keep="longest", trainer=LBFGS(max_iter=30), threads=1)
    with pytest.raises(KeyboardInterrupt):
        ner.fit(SAMPLE, listener=stop)
    assert not ner.trained_.untrained
    assert len(ner.history_) == 3


def test_what_cannot_share_says_so() -> None:
    with pytest.raises(ParameterError, match=r"'perceptron' learns every label by itself, got share=0\.3"):
        Recognizer(State(share=0.3), keep="longest", trainer=Perceptron()).fit(SAMPLE)
    with pytest.raises(ParameterError, match="shared under an L2 penalty"):
        fit(State(share=0.3), trainer={"l1": 0.1})
    with pytest.raises(ParameterError, match="'share' parameter must be a number"):
        State(share=-1)
    blocks = Recognizer(State(share=0.3), keep="longest", trainer=LBFGS(max_iter=3), threads=1)
    with pytest.raises(ParameterError, match="over blocks of sentences every label learns by itself"):
        blocks.fit(SAMPLE, learner=out_of_core(1 << 26))


def test_the_model_for_few_sentences_that_overlap_shares() -> None:
    nested = Document([Sentence(["a", "b"], [Mention("X", ((0, 1),)), Mention("Y", ((0, 2),))])] * 3)
    assert Recognizer().model_for([nested]) == State(share=0.3)
    assert Recognizer().model_for([nested], alone=False) == State()
    assert Recognizer(trainer=LBFGS(l1=1.0)).model_for([nested]) == State()
    assert Recognizer().model_for([nested] * 2000) == State()


def test_where_all_is_left_open_the_l2_penalty_grows_with_the_data() -> None:
    nested = Document([Sentence(["a", "b"], [Mention("X", ((0, 1),)), Mention("Y", ((0, 2),))])] * 3)
    for times, l2 in ((1, 0.1), (1000, 1.0), (8000, 8.0)):  # six mentions a time
        documents = [nested] * times
        assert Recognizer().trainer_for(State(), documents) == SDCA(l2=l2)
        assert Recognizer().trainer_for(State(), documents, alone=False) == LBFGS(l2=l2)
    assert Recognizer(trainer=Auto(max_iter=9)).trainer_for(State(), [nested] * 1000) == SDCA(max_iter=9, l2=1.0)
    partly = Document([replace(s, known=Known(labels=("X",))) for s in nested.sentences])
    assert Recognizer().trainer_for(State(), [nested, partly]) == LBFGS(l2=0.1)
    assert Recognizer("state").trainer_for(State(), [nested] * 1000) == LBFGS()
    assert Recognizer(trainer=LBFGS()).trainer_for(State(), [nested] * 1000) == LBFGS()
