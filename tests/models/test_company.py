"""A second opinion on broken candidates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from spanloom import Mention
from spanloom.models.company import LOWEST, NUMBERS, PENALTY, Company, _regress, describe

BROKEN = Mention("cell", ((0, 1), (4, 5)))


def numbers(*others: tuple[float, Mention]) -> dict[str, float]:
    """What is seen of the broken mention beside others."""
    places, table = describe([(0.5, BROKEN), *others])
    return dict(zip(NUMBERS, table[places.index(0)].tolist(), strict=True))


def test_what_is_seen_of_a_broken_mention_alone() -> None:
    seen = numbers((2.0, Mention("cell", ((6, 7),))), (2.0, Mention("gene", ((2, 5),))))
    low = dict.fromkeys(("sibling", "weaker", "rival", "alone"), LOWEST)
    assert seen == {"score": 0.5, **low, "siblings": 0.0, "uncovered": math.log1p(3)}


def test_what_is_seen_of_its_company() -> None:
    """ "A , and B C": the sibling B C covers one of three skipped tokens, A and C alone are of any label."""
    sibling, rival = Mention("cell", ((3, 5),)), Mention("cell", ((0, 5),))
    part, other_label = Mention("gene", ((0, 1),)), Mention("gene", ((0, 5),))
    seen = numbers((1.0, sibling), (-0.5, rival), (-2.0, part), (3.0, other_label))
    assert (seen["sibling"], seen["weaker"], seen["rival"], seen["alone"]) == (1.0, 0.5, -0.5, -2.0)
    assert seen["siblings"] == pytest.approx(math.log1p(1))
    assert seen["uncovered"] == pytest.approx(math.log1p(2))
    assert numbers((-1.5, sibling))["siblings"] == 0, "a sibling below -1 is not counted"


def test_contiguous_candidates_keep_their_scores() -> None:
    company = Company((0.0,) * len(NUMBERS), 5.0, 1.0, {"cell": 0.25})
    whole = Mention("cell", ((3, 5),))
    assert company.rescore([(9.0, whole), (-2.0, BROKEN)]) == [(9.0, whole), (4.25, BROKEN)]
    assert company.rescore([]) == []


def test_the_regression_is_at_its_optimum() -> None:
    """The gradient of Σ log(1 + exp(−y z·w)) + λ/2 ‖w‖² is 0, by finite differences on standardised numbers."""
    random = np.random.default_rng(1)
    x = random.normal(size=(60, 3)) * [1, 5, 0.1] + [0, 3, 1]
    y = random.random(60) < 1 / (1 + np.exp(-x[:, 0]))
    weights, bias = _regress(x, y)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    sign = np.where(y, 1.0, -1.0)

    def loss(w: np.ndarray) -> float:
        return float(np.logaddexp(0, -sign * (z @ w[:-1] + w[-1])).sum() + PENALTY / 2 * w[:-1] @ w[:-1])

    at = np.append(weights * x.std(axis=0), bias + weights @ x.mean(axis=0))
    assert approx_fprime(at, loss) == pytest.approx(np.zeros(4), abs=1e-3)


def test_company_is_learned() -> None:
    """Broken candidates with a good sibling are right, those without are wrong, whatever their own score."""
    sibling = Mention("cell", ((3, 5),))
    good = [[(2.0, sibling), (score, BROKEN)] for score in (-1.0, -0.5, 0.5)]
    bad = [[(score, BROKEN)] for score in (-1.0, -0.5, 0.5)]
    gold = [[sibling, BROKEN]] * 3 + [[]] * 3
    company = Company.learn(good + bad, gold, {"cell": 0.0})
    assert company is not None
    taken = [[m for score, m in company.rescore(some) if score > 0] for some in good + bad]
    assert [sorted(some) for some in taken] == [sorted(some) for some in gold]
    assert Company.from_json(company.to_json()) == company
    assert Company.learn(bad, [[]] * 3, {"cell": 0.0}) is None
