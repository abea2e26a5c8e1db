"""Stochastic dual coordinate ascent: a lower bound that rises, closed forms, and the minimum of L-BFGS."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from spanloom import Mention, Recognizer, Sentence
from spanloom._native import (
    ChainStructure,
    ChoiceStructure,
    CompressedRows,
    DualAscent,
    EdgeStructure,
    Likelihood,
    SparseRows,
    Supervision,
)
from spanloom.base.errors import ParameterError
from spanloom.learning import LBFGS, SDCA, LearningProblem
from spanloom.models import Chain


def rows(lengths, features, width, values=None):
    """Sentences of these lengths, with the features of each site."""
    return SparseRows(
        np.cumsum([0, *lengths]).astype(np.int64),
        np.cumsum([0, *map(len, features)]).astype(np.int64),
        np.concatenate(features).astype(np.uint32),
        width,
        values,
    )


def chain(labels, lengths, *, seed=3, width=12, values=False, weights=None):
    """A noisy chain: rows, structure and supervision."""
    random = np.random.default_rng(seed)
    features = [np.sort(random.choice(width, 4, replace=False)) for _ in range(sum(lengths))]
    given = random.uniform(-1, 2, 4 * sum(lengths)).astype(np.float32) if values else None
    one = np.ones(labels, np.uint8)
    structure = ChainStructure(labels, np.ones(labels**2, np.uint8), one, one)
    cells, ptr = [], [0]
    for n in lengths:
        y = random.integers(labels, size=n)
        cells += [np.arange(n) * labels + y, n * labels + y[:-1] * labels + y[1:]]
        ptr.append(ptr[-1] + max(2 * n - 1, 0))
    cells = np.concatenate(cells).astype(np.int32)
    supervision = Supervision(np.array(ptr), cells, weights=weights)
    return rows(lengths, features, width, given), structure, supervision


def minimum(problem, l2):
    """What L-BFGS says, to its last bits."""
    *_, (record, _) = LBFGS(l2=l2, tol=0.0, max_iter=2000).steps(problem, threads=1)
    return record.objective


def penalised(objective, x, l2):
    return objective.evaluate(x)[0] + l2 * float(x @ x)


def test_one_sentence_of_two_choices_by_hand():
    """min log(1 + exp(-2 v)) + 2 l2 v²  has  v = 1 / (2 l2 (1 + exp(2 v)))."""
    data, l2 = rows([1], [[0]], 1), 0.7
    ascent = DualAscent(CompressedRows(data, bundles=False), [ChoiceStructure(2)], [supervise_first(1)], l2, 1)
    for _ in range(20):
        dual = ascent.round()
    v = ascent.x()[0]
    assert v == pytest.approx(1 / (2 * l2 * (1 + np.exp(2 * v))), rel=1e-5)
    assert dual == pytest.approx(np.log1p(np.exp(-2 * v)) + 2 * l2 * v * v, rel=1e-6)


def supervise_first(sentences):
    """The first of the choices at the one site of each sentence."""
    return Supervision(np.arange(sentences + 1, dtype=np.int64), np.zeros(sentences, np.int32))


@pytest.mark.parametrize(("values", "weighted"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("l2", [0.05, 2.0])
def test_the_dual_rises_to_the_minimum_of_the_objective(values, weighted, l2):
    lengths = [1, 4, 7, 2, 5, 0, 3, 6]
    weights = np.array([1.0, 0.5, 2.0, 0.0, 1.0, 1.0, 3.0, 1.0]) if weighted else None
    data, structure, supervision = chain(3, lengths, values=values, weights=weights)
    compressed = CompressedRows(data, bundles=False)
    objective = Likelihood(compressed, structure, supervision, threads=1)
    ascent = DualAscent(compressed, [structure], [supervision], l2, 1)
    lowest = minimum(LearningProblem(data, structure, supervision), l2)
    duals = []
    for _ in range(40 if l2 > 1 else 250):
        duals.append(ascent.round())
        assert duals[-1] <= lowest * (1 + 1e-6) <= penalised(objective, ascent.x(), l2) * (1 + 2e-6)
    assert all(b >= a - 1e-5 * abs(a) for a, b in itertools.pairwise(duals))
    assert duals[-1] == pytest.approx(lowest, rel=1e-4)
    assert penalised(objective, ascent.x(), l2) == pytest.approx(lowest, rel=1e-3)


@pytest.mark.parametrize("lengths", [[1, 4, 7, 2, 5, 0, 3, 6], [300, 5]])
def test_weights_are_pulled(lengths):
    """The minimum of P(w) + s |w - y|² is that of SciPy; the dual stays below the minimum of P."""
    data, structure, supervision = chain(3, lengths)
    compressed = CompressedRows(data, bundles=False)
    objective = Likelihood(compressed, structure, supervision, threads=1)
    l2, strength = 0.2, 1.5
    ascent = DualAscent(compressed, [structure], [supervision], l2, 1)
    lowest = minimum(LearningProblem(data, structure, supervision), l2)
    random = np.random.default_rng(5)
    for _ in range(2):  # the second time from where it is
        towards = random.normal(size=objective.size)
        ascent.pull(strength, towards)
        for _ in range(40):
            assert ascent.round() <= lowest * (1 + 1e-6)

        def pulled(x, towards=towards):
            value, gradient = objective.evaluate(x)
            value += l2 * float(x @ x) + strength * float((x - towards) @ (x - towards))
            return value, gradient + 2 * l2 * x + 2 * strength * (x - towards)

        found = minimize(pulled, towards, jac=True, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": 1e-8})
        assert ascent.x() == pytest.approx(found.x, abs=2e-3)
        assert pulled(ascent.x())[0] == pytest.approx(found.fun, rel=1e-6)


@pytest.mark.parametrize("values", [False, True])
def test_a_small_penalty_leads_to_the_same_minimum(values, monkeypatch):
    """With a pull, and with the end that L-BFGS makes."""
    monkeypatch.setattr("spanloom.learning.sdca.PER_PULL", 20)
    data, structure, supervision = chain(3, [4, 3, 6, 1] * 5, values=values)
    problem = LearningProblem(data, structure, supervision)
    records = [record for record, _ in SDCA(l2=0.01, tol=1e-6, max_iter=2000).steps(problem, seed=1, threads=1)]
    lowest = minimum(problem, 0.01)
    assert records[-1].objective == pytest.approx(lowest, rel=2e-6)
    assert all(record.bound <= lowest * (1 + 1e-6) for record in records)


def test_what_cannot_be_pulled():
    data, structure, supervision = chain(2, [3, 2])
    compressed = CompressedRows(data, bundles=False)
    one = DualAscent(compressed, [structure], [supervision], 0.1, 1)
    two = DualAscent(compressed, [structure] * 2, [supervision] * 2, 0.1, 1)
    size = len(one.x())
    for ascent, strength, numbers, message in (
        (one, -1.0, size, "at least 0; received -1"),
        (two, 1.0, size, "one problem is pulled"),
        (one, 1.0, size - 1, f"expected {size} parameters but received {size - 1}"),
    ):
        with pytest.raises(ValueError, match=message):
            ascent.pull(strength, np.zeros(numbers))


def test_long_sentences_are_the_same_problem():
    """Above 256 sites nothing is kept of what they share."""
    data, structure, supervision = chain(2, [300, 5, 280])
    ascent = DualAscent(CompressedRows(data, bundles=False), [structure], [supervision], 1.0, 1)
    for _ in range(30):
        dual = ascent.round()
    assert dual == pytest.approx(minimum(LearningProblem(data, structure, supervision), 1.0), rel=1e-4)


def test_soft_targets():
    data = rows([1, 1, 1], [[0, 1], [1], [0]], 2)
    ptr, cells = np.array([0, 2, 4, 6]), np.array([0, 1, 0, 1, 0, 1], np.int32)
    supervision = Supervision(ptr, cells, values=np.array([0.25, 0.75, 0.5, 0.5, 0.9, 0.1]))
    ascent = DualAscent(CompressedRows(data, bundles=False), [ChoiceStructure(2)], [supervision], 0.3, 1)
    for _ in range(20):
        dual = ascent.round()
    assert dual == pytest.approx(minimum(LearningProblem(data, ChoiceStructure(2), supervision), 0.3), rel=1e-5)


def test_the_seed_decides():
    data, structure, supervision = chain(3, [4] * 12)

    def made(seed):
        ascent = DualAscent(CompressedRows(data, bundles=False), [structure], [supervision], 0.1, seed)
        return [ascent.round() for _ in range(2)]

    assert made(1) == made(1)
    assert made(1) != made(2)


def sharing(lengths, *, labels=3, problems=3):
    """Problems over the same rows, with targets of their own."""
    made = [chain(labels, lengths, seed=seed) for seed in range(problems)]
    data = made[0][0]
    return [LearningProblem(data, structure, supervision) for _, structure, supervision in made]


@pytest.mark.parametrize("lengths", [[1, 4, 7, 2, 0, 6], [300, 5]])
@pytest.mark.parametrize("share", [0.0, 0.3, 2.0])
def test_problems_that_share_weights_come_to_their_common_minimum(lengths, share):
    """Short sentences, and long ones, of which nothing is kept that their sites share."""
    problems, l2 = sharing(lengths), 0.5
    *_, (record, learned) = LBFGS(l2=l2, tol=0.0, max_iter=2000).shared_steps(problems, share, threads=1)
    rows = CompressedRows(problems[0].rows, bundles=False)
    parts = [(p.structure, p.supervision) for p in problems]
    ascent = DualAscent(rows, *map(list, zip(*parts, strict=True)), l2, 1, share=share)
    duals = [ascent.round() for _ in range(150)]
    assert all(dual <= record.objective * (1 + 1e-6) for dual in duals)
    assert duals[-1] == pytest.approx(record.objective, rel=1e-4)
    for t, (weights, (structure, supervision)) in enumerate(zip(learned(), parts, strict=True)):
        objective = Likelihood(rows, structure, supervision, threads=1)
        assert objective.weights(ascent.x(t)) == pytest.approx(weights.features.ravel(), abs=0.03)


def test_the_trainer_learns_shared_weights_as_lbfgs_does():
    problems = sharing([5] * 20)
    *_, (wanted, best) = LBFGS(l2=0.3, tol=1e-9, max_iter=2000).shared_steps(problems, 0.5, threads=1)
    records = [r for r, _ in SDCA(l2=0.3, tol=1e-6).shared_steps(problems, 0.5, seed=1, threads=1)]
    assert records[-1].objective == pytest.approx(wanted.objective, rel=2e-6)
    assert all(r.bound is not None and r.bound <= wanted.objective * (1 + 1e-7) for r in records)
    again = [replace(p, start=one) for p, one in zip(problems, best(), strict=True)]
    first, _ = next(SDCA(l2=0.3).shared_steps(again, 0.5, seed=1, threads=1))
    assert first.objective == pytest.approx(wanted.objective, rel=1e-5), "it starts from what is given"


@pytest.mark.parametrize("l2", [0.1, 1.0])
def test_the_trainer_comes_to_the_optimum_of_lbfgs(l2):
    data, structure, supervision = chain(3, [5] * 30, width=30)
    problem = LearningProblem(data, structure, supervision)
    records = [record for record, _ in SDCA(l2=l2, tol=1e-6, max_iter=3000).steps(problem, seed=1, threads=1)]
    lowest = minimum(problem, l2)
    assert [r.number for r in records] == list(range(1, len(records) + 1))
    assert records[-1].objective == pytest.approx(lowest, rel=2e-6)
    assert all(r.bound is not None and r.bound <= lowest * (1 + 1e-7) for r in records)


SENTENCES = [Sentence(["the", g, "gene"], [Mention("DNA", ((1, 3),))]) for g in ("lacZ", "sonic", "p53")] * 4


@pytest.mark.parametrize("model", ["chain", "edge", "state", "semimarkov", "hypergraph"])
def test_every_likelihood_can_be_learned_so(model):
    """To a tolerance, and the same for any number of threads."""
    features = ["first(word)[-1]", "last(word)", "size"] if model == "semimarkov" else ["word[-1..1]"]
    made = [Recognizer(model, features=features, trainer="sdca", threads=n).fit(SENTENCES) for n in (1, 3)]
    states = [ner.state()[0] for ner in made]
    assert all((states[0][name] == states[1][name]).all() for name in states[0])
    assert made[0].training_["gap"] <= 1e-4
    found = made[0].predict(Sentence(["the", "xyz", "gene"])).mentions
    assert [(m.label, m.parts) for m in found] == [("DNA", ((1, 3),))]


def test_what_it_does_not_take():
    data = rows([1], [[0]], 1)
    plain = CompressedRows(data, bundles=False)
    with pytest.raises(ValueError, match="l2 must be above 0"):
        DualAscent(plain, [ChoiceStructure(2)], [supervise_first(1)], 0.0, 1)
    masked = Supervision(np.zeros(2, np.int64), np.zeros(0, np.int32), masks=(np.array([0, 8]), np.ones(8, np.uint8)))
    with pytest.raises(ValueError, match="share must be at least 0"):
        DualAscent(plain, [ChoiceStructure(2)], [supervise_first(1)], 1.0, 1, share=-0.5)
    with pytest.raises(ValueError, match="1 structures and 2 supervisions"):
        DualAscent(plain, [ChoiceStructure(2)], [supervise_first(1)] * 2, 1.0, 1)
    with pytest.raises(ValueError, match="same columns"):
        DualAscent(plain, [ChoiceStructure(2), ChoiceStructure(3)], [supervise_first(1)] * 2, 1.0, 1)
    with pytest.raises(ValueError, match="no problem"):
        DualAscent(plain, [], [], 1.0, 1)
    with pytest.raises(ValueError, match="received number 1"):
        DualAscent(plain, [ChoiceStructure(2)], [supervise_first(1)], 1.0, 1).x(1)
    with pytest.raises(ValueError, match="not masks"):
        DualAscent(plain, [EdgeStructure()], [masked], 1.0, 1)
    with pytest.raises(ParameterError, match="full annotation"):
        list(SDCA().steps(LearningProblem(data, EdgeStructure(), masked), seed=1))
    with pytest.raises(ParameterError, match="must be above 0"):
        SDCA(l2=0.0)
    with pytest.raises(ParameterError, match=r'representations.* trainer="lbfgs"'):
        Recognizer(Chain(scheme="BIES+"), trainer="sdca").fit(SENTENCES)
