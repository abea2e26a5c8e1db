"""Supervision: losses and gradients of structures, soft targets, masks and weights against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import Structure, chain_structures, finite_differences, log_z
from spanloom._native import (
    Adagrad,
    ChainStructure,
    ChoiceStructure,
    Lbfgs,
    Likelihood,
    Objective,
    Perceptron,
    SparseRows,
    StructuredLoss,
    Supervision,
)

LABELS = 3
KINDS = ("structure", "soft", "mask")


def chain() -> ChainStructure:
    return ChainStructure(LABELS, *(np.ones(size, np.uint8) for size in (LABELS**2, LABELS, LABELS)))


def everything(scores: np.ndarray, pairs: np.ndarray) -> list[Structure]:
    return chain_structures(scores, pairs, lambda a, b: True, lambda a: True, lambda a: True)


class Known:
    """What is known of random sentences, told to the library and to the oracle."""

    def __init__(self, seed: int, lengths=(3, 1, 0, 4), kinds=KINDS, weighted: bool = True) -> None:
        random = np.random.default_rng(seed)
        self.lengths = lengths
        self.kinds = [kinds[random.integers(len(kinds))] for _ in lengths]
        self.targets: list[dict[int, float]] = []
        self.masks: list[np.ndarray | None] = []
        for kind, n in zip(self.kinds, lengths, strict=True):
            drawn = random.integers(LABELS, size=(2 if kind == "soft" else 1, n)).tolist()
            chosen = [
                [t * LABELS + y for t, y in enumerate(z)] + [(n + a) * LABELS + b for a, b in itertools.pairwise(z)]
                for z in drawn
            ]
            share = random.dirichlet(np.ones(len(chosen)))
            target: dict[int, float] = {}
            for cells, part in zip(chosen, share, strict=True):
                for cell in cells:
                    target[cell] = target.get(cell, 0.0) + float(part)
            masked = kind == "mask" and n > 0
            self.targets.append({} if masked else target)
            mask = (random.random((n, LABELS)) < 0.6).astype(np.uint8)
            mask[:, random.integers(LABELS)] = 1
            self.masks.append(mask if masked else None)
        self.weights = random.choice([0.0, 0.5, 1.0, 3.0], len(lengths)) if weighted else np.ones(len(lengths))
        self.site_ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    def native(self) -> Supervision:
        ptr = np.concatenate([[0], np.cumsum([len(t) for t in self.targets])]).astype(np.int64)
        cells = np.array([c for t in self.targets for c in t], np.int32)
        values = np.array([v for t in self.targets for v in t.values()])
        flat = [np.zeros(0, np.uint8) if m is None else m.ravel() for m in self.masks]
        mask_ptr = np.concatenate([[0], np.cumsum([len(m) for m in flat])]).astype(np.int64)
        return Supervision(ptr, cells, values, (mask_ptr, np.concatenate(flat)), self.weights)

    def loss(self, scores: np.ndarray, pairs: np.ndarray) -> float:
        total = 0.0
        for g, (target, mask, weight) in enumerate(zip(self.targets, self.masks, self.weights, strict=True)):
            own = scores[self.site_ptr[g] : self.site_ptr[g + 1]]
            listed = everything(own, pairs)
            if mask is None:
                cells = np.concatenate([own.ravel(), pairs.ravel()])
                known = sum(value * cells[cell] for cell, value in target.items())
            else:
                free = {c for c, bit in enumerate(mask.ravel().tolist()) if not bit}
                known = log_z(one for one in listed if free.isdisjoint(one[1]))
            total += weight * (log_z(listed) - known)
        return total


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_the_loss_and_its_gradient_are_those_of_enumeration(seed):
    """Structures, soft targets and masks side by side, each with a weight: value, and derivatives by every score."""
    known = Known(seed)
    random = np.random.default_rng(seed + 1)
    scores, pairs = random.normal(size=(known.site_ptr[-1], LABELS)), random.normal(size=(LABELS, LABELS))
    loss, by_score, by_pair = StructuredLoss(chain(), known.native(), 1).evaluate(
        known.site_ptr, scores.ravel(), pairs.ravel()
    )
    assert loss == pytest.approx(known.loss(scores, pairs), abs=1e-9)
    numeric = finite_differences(lambda s: known.loss(s.reshape(scores.shape), pairs), scores.ravel(), 1e-5)
    np.testing.assert_allclose(by_score, numeric, atol=1e-7)
    numeric = finite_differences(lambda p: known.loss(scores, p.reshape(pairs.shape)), pairs.ravel(), 1e-5)
    np.testing.assert_allclose(by_pair, numeric, atol=1e-7)


def features(lengths, seed=0, width=6) -> SparseRows:
    random = np.random.default_rng(seed)
    rows = [random.permutation(width)[: random.integers(1, width)] for _ in range(sum(lengths))]
    group_ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    row_ptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
    return SparseRows(group_ptr, row_ptr, np.concatenate(rows).astype(np.uint32), width)


@pytest.mark.parametrize("seed", range(4))
def test_likelihood_is_the_loss_of_the_scores_of_features(seed):
    known = Known(seed)
    rows = features(known.lengths, seed)
    objective = Likelihood(rows, chain(), known.native(), merge=False, threads=1)
    theta = np.random.default_rng(seed).integers(-8, 8, objective.size) / 4  # which floats hold exactly
    dense = np.zeros((rows.rows, rows.width))
    dense[np.repeat(np.arange(rows.rows), np.diff(rows.row_ptr)), rows.ids] = 1
    weights, pairs = theta[: -(LABELS**2)].reshape(-1, LABELS), theta[-(LABELS**2) :].reshape(LABELS, LABELS)
    value, gradient = objective.evaluate(theta)
    assert value == pytest.approx(known.loss(dense @ weights, pairs), rel=1e-9)
    numeric = finite_differences(lambda v: objective.evaluate(v)[0], theta, 1e-2)
    np.testing.assert_allclose(gradient, numeric, atol=5e-3)


def test_a_weight_is_a_repetition():
    """Weight 3 is the sentence three times; weight 0 is no sentence."""
    known = Known(1, lengths=(4, 2, 3), kinds=("structure", "mask"), weighted=False)
    known.weights = np.array([3.0, 0.0, 1.0])
    again = Known(1, lengths=(4, 2, 3), kinds=("structure", "mask"), weighted=False)
    order = [0, 0, 0, 2]
    again.lengths = [known.lengths[i] for i in order]
    again.targets, again.masks = [known.targets[i] for i in order], [known.masks[i] for i in order]
    again.weights, again.site_ptr = np.ones(4), np.concatenate([[0], np.cumsum(again.lengths)]).astype(np.int64)
    scores, pairs = np.random.default_rng(0).normal(size=(9, LABELS)), np.random.default_rng(1).normal(size=9)
    table = np.concatenate([scores[:4]] * 3 + [scores[6:]])
    one = StructuredLoss(chain(), known.native(), 1).evaluate(known.site_ptr, scores.ravel(), pairs)
    other = StructuredLoss(chain(), again.native(), 1).evaluate(again.site_ptr, table.ravel(), pairs)
    assert one[0] == pytest.approx(other[0])
    np.testing.assert_allclose(one[2], other[2], atol=1e-12)
    np.testing.assert_allclose(one[1][:12], 3 * other[1][:12], atol=1e-12)
    assert not one[1][12:18].any()


def test_soft_targets_are_a_mixture_of_structures():
    """q = 0.3 of one and 0.7 of another: the loss is that mixture of theirs."""
    first, second = np.array([0, 4, 6 + 1], np.int32), np.array([2, 3, 6 + 6], np.int32)
    cells, values = np.concatenate([first, second]), np.repeat([0.3, 0.7], 3)
    scores, pairs = np.random.default_rng(3).normal(size=6), np.random.default_rng(4).normal(size=9)
    whole = np.array([0, 3], np.int64)

    def loss(supervision: Supervision) -> list[np.ndarray | float]:
        return list(StructuredLoss(chain(), supervision, 1).evaluate(np.array([0, 2], np.int64), scores, pairs))

    mixed = loss(Supervision(2 * whole, cells, values))
    a, b = loss(Supervision(whole, first)), loss(Supervision(whole, second))
    for got, left, right in zip(mixed, a, b, strict=True):
        np.testing.assert_allclose(got, 0.3 * np.asarray(left) + 0.7 * np.asarray(right), atol=1e-12)


def test_a_mask_of_one_structure_is_that_structure():
    known = Known(5, lengths=(4, 3), kinds=("structure",), weighted=False)
    masked = Known(5, lengths=(4, 3), kinds=("structure",), weighted=False)
    for g, n in enumerate(masked.lengths):
        masked.masks[g] = np.zeros((n, LABELS), np.uint8)
        masked.masks[g].ravel()[[c for c in masked.targets[g] if c < n * LABELS]] = 1
        masked.targets[g] = {}
    random = np.random.default_rng(0)
    scores, pairs = random.normal(size=7 * LABELS), random.normal(size=9)
    results = [StructuredLoss(chain(), k.native(), 1).evaluate(k.site_ptr, scores, pairs) for k in (known, masked)]
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_every_thread_count_gives_the_same_bits():
    known = Known(6, lengths=(40,) * 200, kinds=("structure",))
    random = np.random.default_rng(1)
    for g in range(0, 200, 3):
        known.targets[g], known.masks[g] = {}, np.ones((40, LABELS), np.uint8)
        known.masks[g][::2, 1] = 0
    rows = features(known.lengths)
    theta = None
    results = []
    for threads in (1, 2, 3):
        objective = Likelihood(rows, chain(), known.native(), threads=threads)
        theta = random.normal(size=objective.size) if theta is None else theta
        value, gradient = objective.evaluate(theta)
        results.append((value, gradient.tobytes()))
    assert results[0] == results[1] == results[2]


def test_plain_supervision_is_gold_to_the_bit():
    """Cells as before, weight 1 or none, values 1 or none: one path, one result."""
    random = np.random.default_rng(7)
    labelled = random.integers(LABELS, size=(30, 20))
    sites = np.arange(20) * LABELS + labelled
    cells = np.hstack([sites, (20 + labelled[:, :-1]) * LABELS + labelled[:, 1:]]).astype(np.int32)
    rows, ptr = features((20,) * 30), np.arange(31) * cells.shape[1]
    plain = Likelihood(rows, chain(), ptr, cells.ravel(), threads=1)
    theta = random.normal(size=plain.size)
    value, gradient = plain.evaluate(theta)
    for values, weights in ((None, None), (np.ones(cells.size), np.ones(30))):
        supervision = Supervision(ptr, cells.ravel(), values, None, weights)
        other = Likelihood(rows, chain(), supervision, threads=1).evaluate(theta)
        assert other[0] == value
        assert other[1].tobytes() == gradient.tobytes()


def test_adagrad_takes_masks_and_weights():
    """One site a sentence, by hand: the mask allows columns 1 and 2 of three, the weight is 2; the last is skipped."""
    rows = SparseRows(np.arange(3), np.arange(3), np.array([0, 0], np.uint32), 1)
    known = Supervision(
        np.array([0, 0, 1]),
        np.array([0], np.int32),
        masks=(np.array([0, 3, 3]), np.array([0, 1, 1], np.uint8)),
        weights=np.array([2.0, 0.0]),
    )
    learner = Adagrad(rows, ChoiceStructure(3), known, 0.0, 0.4, 1.0, 1)
    assert learner.epoch() == pytest.approx(2 * (math.log(3) - math.log(2)))
    gradient = 2 * np.array([1 / 3, 1 / 3 - 1 / 2, 1 / 3 - 1 / 2])
    np.testing.assert_allclose(learner.weights()[0], -0.4 * gradient / np.sqrt(1 + gradient**2), rtol=1e-6)


def test_what_does_not_fit_is_said():
    rows, ptr, cells = features((1, 1)), np.array([0, 1, 2]), np.array([0, 1], np.int32)
    masks = (np.array([0, 3, 3]), np.ones(3, np.uint8))
    for bad, message in [
        ({"values": np.ones(3)}, "3 target values for 2 cells"),
        ({"values": np.array([1.0, math.nan])}, "a target value is not finite"),
        ({"weights": np.ones(1)}, "1 weights for 2 sentences"),
        ({"weights": np.array([1.0, -1.0])}, "the weight of sentence 1 is -1.0+; weights are finite and at least 0"),
        ({"masks": masks}, "sentence 0 has both a mask and cells"),
        ({"masks": (np.array([0, 2, 2]), np.ones(2, np.uint8))}, "a mask of 2 choices for sentence 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            Likelihood(rows, chain(), Supervision(ptr, cells, **bad))
    partial = Supervision(np.array([0, 0, 1]), cells[1:], masks=masks)
    with pytest.raises(ValueError, match="takes one structure a sentence, no masks"):
        Perceptron(rows, chain(), partial, 1)
    with pytest.raises(ValueError, match="observed pairs take one structure a sentence"):
        Likelihood(rows, chain(), partial, observed=True)
    nothing = Supervision(np.array([0, 0, 1]), cells[1:], masks=(masks[0], np.zeros(3, np.uint8)))
    with pytest.raises(ValueError, match="loss of sentence 0 is not finite"):
        Likelihood(rows, chain(), nothing, merge=False).evaluate(np.zeros(6 * 3 + 9))
    with pytest.raises(ValueError, match="2 sites of 3 columns need 6 scores and 9 global ones; received 5 and 9"):
        StructuredLoss(chain(), partial, 1).evaluate(np.array([0, 1, 2]), np.zeros(5), np.zeros(9))


class Quadratic(Objective):
    """f(x) = ½ Σ a (x − c)², whose minimum is c."""

    def __init__(self, scale: np.ndarray, centre: np.ndarray) -> None:
        super().__init__(len(centre))
        self.scale, self.centre = scale, centre

    def evaluate(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        off = x - self.centre
        return float(0.5 * (self.scale * off * off).sum()), self.scale * off


def test_lbfgs_minimises_an_objective_written_in_python():
    centre, scale = np.array([1.0, -2.0, 3.0, 0.5]), np.array([1.0, 10.0, 0.1, 3.0])
    optimiser = Lbfgs(Quadratic(scale, centre), np.zeros(4), threads=1)
    for _ in range(50):
        if not optimiser.iterate().moved:
            break
    np.testing.assert_allclose(optimiser.x(), centre, atol=1e-4)
    l2 = 0.7  # the minimum of ½ a (x − c)² + l2 x² is a c / (a + 2 l2)
    optimiser = Lbfgs(Quadratic(scale, centre), np.zeros(4), l2=l2, threads=1)
    for _ in itertools.repeat(None, 50):
        if not optimiser.iterate().moved:
            break
    np.testing.assert_allclose(optimiser.x(), scale * centre / (scale + 2 * l2), atol=1e-4)


def test_mistakes_of_objectives_in_python_come_back():
    class Failing(Objective):
        def evaluate(self, x):
            raise KeyError("mine")

    class Short(Objective):
        def evaluate(self, x):
            return 0.0, np.zeros(1)

    with pytest.raises(KeyError, match="mine"):
        Lbfgs(Failing(2), np.zeros(2))
    with pytest.raises(ValueError, match="an objective of 2 parameters returned a gradient of 1"):
        Lbfgs(Short(2), np.zeros(2))
    with pytest.raises(RuntimeError, match="evaluate"):
        Lbfgs(type("Nothing", (Objective,), {})(2), np.zeros(2))
