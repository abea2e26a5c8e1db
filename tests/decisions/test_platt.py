"""Platt scaling: closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spanloom.decisions.platt import platt


def test_two_scores_have_a_closed_form():
    """With two different scores the curve goes through the mean targets of both."""
    right = [1, 1, 0, 0, 0, 1, 0]
    scores = [2.0, 2.0, 2.0, -1.0, -1.0, -1.0, -1.0]
    slope, offset = platt(scores, right)
    high, low = (3 + 1) / (3 + 2), 1 / (4 + 2)  # Platt's targets of right and wrong
    at_two, at_minus_one = (2 * high + low) / 3, (high + 3 * low) / 4
    assert 2 * slope + offset == pytest.approx(math.log(at_two / (1 - at_two)), abs=1e-6)
    assert -slope + offset == pytest.approx(math.log(at_minus_one / (1 - at_minus_one)), abs=1e-6)


def test_the_curve_that_made_the_data_is_found():
    random = np.random.default_rng(5)
    scores = random.normal(size=20_000)
    right = random.random(20_000) < 1 / (1 + np.exp(-(1.7 * scores - 0.4)))
    assert platt(scores, right) == pytest.approx((1.7, -0.4), abs=0.08)


def test_scores_that_part_right_from_wrong_stay_finite():
    slope, offset = platt([1.0, 2.0, -1.0, -2.0], [1, 1, 0, 0])
    assert 0 < slope < 100
    assert math.isfinite(offset)
