"""Stochastic likelihood: a step by hand, the penalty, and the minimum of L-BFGS."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom import Mention, Recognizer, Sentence
from spanloom._native import Adagrad, ChoiceStructure, SparseRows, Supervision
from spanloom.base.errors import ParameterError
from spanloom.learning import LBFGS, LearningProblem
from spanloom.learning import Adagrad as Trainer
from spanloom.models import Chain, Memm


def rows(*features, width=2):
    """One site a sentence."""
    n = len(features)
    ptr = np.cumsum([0, *map(len, features)]).astype(np.int64)
    return SparseRows(np.arange(n + 1, dtype=np.int64), ptr, np.concatenate(features).astype(np.uint32), width)


def gold(*labels):
    return np.arange(len(labels) + 1, dtype=np.int64), np.array(labels, np.int32)


def test_one_step_by_hand():
    """Two columns, equal at first: the gradient is ∓1/2; G = 1 + 1/4, and the weight goes 0.4 · 1/2 / √1.25."""
    learner = Adagrad(rows([0]), ChoiceStructure(2), *gold(1), 0.0, 0.4, 1.0, 1)
    assert learner.epoch() == pytest.approx(np.log(2))
    step = 0.4 * 0.5 / np.sqrt(1.25)
    assert learner.weights()[0].reshape(2, 2) == pytest.approx(np.array([[-step, step], [0, 0]]), rel=1e-6)


def test_the_penalty_is_shared_by_the_occurrences():
    """Second step of a feature that occurs twice: g = p − 1 + (2 l2 / 2) w for the gold column."""
    learner = Adagrad(rows([0], [0]), ChoiceStructure(2), *gold(1, 1), 3.0, 0.4, 1.0, 1)
    learner.epoch()
    w = 0.4 * 0.5 / np.sqrt(1.25)
    p = 1 / (1 + np.exp(-2 * w))
    g = p - 1 + 3.0 * w
    expected = w - 0.4 * g / np.sqrt(1.25 + g * g)
    assert learner.weights()[0].reshape(2, 2)[0] == pytest.approx([-expected, expected], rel=1e-5)


def test_many_passes_come_to_the_minimum_of_lbfgs():
    """The same objective: noisy labels on shared features, a small step."""
    random = np.random.default_rng(3)
    sites = [sorted(random.choice(6, 2, replace=False)) for _ in range(80)]
    labels = [int((a + b + random.integers(2)) % 3) for a, b in sites]
    data, cells = rows(*sites, width=6), gold(*labels)
    problem = LearningProblem(data, ChoiceStructure(3), Supervision(*cells))
    *_, (_, weights) = LBFGS(l2=2.0, tol=0.0).steps(problem, threads=1)
    learner = Adagrad(data, ChoiceStructure(3), *cells, 2.0, 0.1, 0.1, 1)
    for _ in range(1500):
        learner.epoch()
    assert learner.weights()[0].reshape(6, 3) == pytest.approx(weights().features, abs=0.02)


SENTENCES = [Sentence(["the", g, "gene"], [Mention("DNA", ((1, 3),))]) for g in ("lacZ", "sonic", "p53")] * 4


@pytest.mark.parametrize("model", ["chain", "memm", "edge", "semimarkov", "hypergraph"])
def test_every_likelihood_can_be_learned_so(model):
    """Ten passes unless told otherwise; the same for any number of threads."""
    features = ["first(word)[-1]", "last(word)", "size"] if model == "semimarkov" else ["word[-1..1]"]
    made = [Recognizer(model, features=features, trainer="adagrad", threads=n).fit(SENTENCES).state() for n in (1, 3)]
    assert all((made[0][0][name] == made[1][0][name]).all() for name in made[0][0])
    ner = Recognizer(model, features=features, trainer="adagrad").fit(SENTENCES)
    assert len(ner.history_) == 10
    assert ner.history_[-1].objective < ner.history_[0].objective
    found = ner.predict(Sentence(["the", "xyz", "gene"])).mentions
    assert [(m.label, m.parts) for m in found] == [("DNA", ((1, 3),))]


def test_what_it_does_not_take():
    for settings in ({"support": "observed"}, {"l1": 0.1}):
        with pytest.raises(ParameterError, match=r"the 'adagrad' settings have no parameter '.*'; they have .*l2"):
            Trainer().with_params(**settings)
    for model in (Chain(scheme="BIES+"), Memm(scheme="BIES+")):
        with pytest.raises(ParameterError, match=r'representations.* trainer="lbfgs"'):
            Recognizer(model, trainer="adagrad").fit(SENTENCES)
    with pytest.raises(ValueError, match="rate and damping above 0"):
        Adagrad(rows([0]), ChoiceStructure(2), *gold(1), 0.0, 0.4, 0.0, 1)
