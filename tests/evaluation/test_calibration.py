"""Thresholds and reliability by hand and by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.base.errors import ParameterError
from spanloom.corpus import Mention, Sentence
from spanloom.evaluation import Score, evaluate, micro
from spanloom.evaluation.calibration import Curve, has_probabilities, threshold_curve
from spanloom.evaluation.outcomes import Outcomes
from spanloom.evaluation.reliability import error_interval, reliability, reliability_by_label


def x(i: int, prob: float | None = None) -> Mention:
    """A one-token mention with a probability."""
    return Mention("X", ((i, i + 1),), prob=prob)


@given(st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]), max_size=8), st.sets(st.integers(0, 9), max_size=6))
def test_every_point_of_the_curve_is_the_score_at_that_threshold(probs, gold):
    """Cutting the predictions at t and scoring them anew gives the same score."""
    golds, predicted = [[x(i) for i in gold]], [[x(i, p) for i, p in enumerate(probs)]]
    curve = threshold_curve(Outcomes(golds, predicted))
    assert curve.values == sorted(set(probs))
    for t, score in zip(curve.values, curve.scores, strict=True):
        assert score == micro(golds, [[m for m in predicted[0] if m.prob >= t]])


def test_best_is_the_middle_of_the_highest():
    """F1 is 0.5, 2/3, 2/3, 2/3 and 0; the middle of the three best is at 0.3."""
    good, poor = Score(2, 1, 1, 1), Score(2, 2, 1, 1)
    curve = Curve("penalty", [0.1, 0.2, 0.3, 0.4, 0.5], [poor, good, good, good, Score(2, 1, 0, 0)])
    assert curve.best == 0.3
    assert curve.at(0.14) == poor
    assert curve.to_json()["points"][1]["penalty"] == 0.2


def test_reliability_by_hand():
    """Bin 0.2–0.4: 0.3 and 0.3, one right (gap 0.2); bin 0.8–1: 0.9 and 1.0, both right (gap 0.05).

    Error = ½·0.2 + ½·0.05 = 0.125; Brier = (0.49 + 0.09 + 0.01 + 0)/4.
    """
    predicted = [[x(0, 0.3), x(1, 0.3), x(2, 0.9), x(3, 1.0)]]
    found = reliability(Outcomes([[x(0), x(2), x(3)]], predicted), bins=5)
    assert found.error == pytest.approx(0.125)
    assert found.brier == pytest.approx(0.59 / 4)
    assert [b[2] for b in found.bins] == [2, 2]
    assert found.bins[1] == (0.8, 1.0, 2, pytest.approx(0.95), 1.0)


def test_nothing_predicted_is_not_an_error():
    """No predictions: no bins, an empty curve."""
    outcomes = Outcomes([[x(0)]], [[]])
    assert reliability(outcomes).bins == []
    assert threshold_curve(outcomes).values == []


def test_a_missing_probability_is_refused_with_the_way_out():
    """The message names the mention."""
    outcomes = Outcomes([[]], [[x(0, 0.5), x(1)]])
    with pytest.raises(ParameterError, match=r"predicted mention 1 \(X \(\(1, 2\),\)\) has probability None"):
        reliability(outcomes)
    with pytest.raises(ParameterError, match="bins must be at least 1, not 0"):
        reliability(outcomes, bins=0)
    assert not has_probabilities([[x(0, 0.5)], [x(1)]])
    assert not has_probabilities([[]])
    assert has_probabilities([[x(0, 0.5)], []])


def test_adaptive_bins_by_hand():
    """Two bins of two: 0.1 and 0.2 (none right, gap 0.15), 0.8 and 1.0 (one right, gap 0.4); ½·0.15 + ½·0.4."""
    outcomes = Outcomes([[x(3)]], [[x(0, 0.1), x(1, 0.2), x(2, 0.8), x(3, 1.0)]])
    found = reliability(outcomes, bins=2, widths="adaptive")
    assert found.bins == [(0.1, 0.2, 2, pytest.approx(0.15), 0.0), (0.8, 1.0, 2, pytest.approx(0.9), 0.5)]
    assert found.error == pytest.approx(0.275)


def test_equal_probabilities_share_an_adaptive_bin():
    """Three of 0.9, however many bins: one bin, and 2 of 3 right are 0.9 − 2/3 off."""
    outcomes = Outcomes([[x(0), x(1)]], [[x(0, 0.9), x(1, 0.9), x(2, 0.9)]])
    found = reliability(outcomes, bins=3, widths="adaptive")
    assert [b[2] for b in found.bins] == [3]
    assert found.error == pytest.approx(0.9 - 2 / 3)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_a_single_bin_compares_the_means(pairs):
    """With one bin the error is |mean probability − share right|, whatever the widths."""
    outcomes = Outcomes([[x(i) for i, (_, r) in enumerate(pairs) if r]], [[x(i, p) for i, (p, _) in enumerate(pairs)]])
    expected = abs(sum(p for p, _ in pairs) - sum(r for _, r in pairs)) / len(pairs)
    for widths in ("equal", "adaptive"):
        assert reliability(outcomes, bins=1, widths=widths).error == pytest.approx(expected, abs=1e-12)


def test_the_interval_of_sentences_that_are_alike_is_a_point():
    """Every sentence has 0.75 and is wrong: each resample is off by 0.75."""
    outcomes = Outcomes([[]] * 5, [[x(0, 0.75)]] * 5)
    found = error_interval(outcomes, resamples=20)
    assert (found.value, found.low, found.high) == (0.75, 0.75, 0.75)


def test_reliability_by_label_leaves_out_rare_ones():
    """X: 0.5, one of two right, no error; Y has one mention, too few."""
    y = Mention("Y", ((5, 6),), prob=0.9)
    found = reliability_by_label(Outcomes([[x(0)]], [[x(0, 0.5), x(1, 0.5), y]]), least=2)
    assert list(found) == ["X"]
    assert found["X"].error == 0


def drawn(prob: np.ndarray, truth: np.ndarray, random: np.random.Generator) -> Outcomes:
    """Mentions with probabilities of which each is right with another."""
    right = random.random(len(prob)) < truth
    return Outcomes([[x(int(i)) for i in np.flatnonzero(right)]], [[x(i, p) for i, p in enumerate(prob.tolist())]])


def test_chance_is_the_error_of_perfect_probabilities():
    """The mean over many draws of what is right; the probabilities stay the same."""
    random = np.random.default_rng(1)
    prob = random.random(300) ** 0.5
    found = [reliability(drawn(prob, prob, random), widths="adaptive") for _ in range(300)]
    errors = [one.error for one in found]
    assert found[0].chance == found[1].chance
    assert np.mean(errors) == pytest.approx(found[0].chance, abs=4 * np.std(errors) / 300**0.5 + 0.002)


@pytest.mark.parametrize("off", [0.0, 0.1])
def test_what_is_debiased_is_how_far_off_probabilities_are(off):
    """Its square is right in the mean, however few mentions there are; the plain error is not."""
    random = np.random.default_rng(2)
    prob = np.linspace(0.3, 0.8, 100)
    squares, errors = [], []
    for _ in range(400):
        outcomes = drawn(prob, prob - off, random)
        errors.append(reliability(outcomes, widths="adaptive").error)
        bins = reliability(outcomes, widths="adaptive").bins
        squares.append(sum(n * ((y - p) ** 2 - y * (1 - y) / (n - 1)) for _, _, n, p, y in bins) / 100)
        assert reliability(outcomes, widths="adaptive").debiased == pytest.approx(max(squares[-1], 0) ** 0.5)
    assert np.mean(squares) == pytest.approx(off**2, abs=4 * np.std(squares) / 20)
    assert np.mean(errors) > off + 0.02


def test_a_bin_of_one_mention_says_nothing_beside_chance():
    found = reliability(Outcomes([[]], [[x(0, 0.5)]]), widths="adaptive")
    assert (found.error, found.debiased) == (0.5, 0.0)


def test_a_label_needs_thirty_predicted_mentions():
    """X has thirty, Y twenty-nine."""
    ys = [Mention("Y", ((i, i + 1),), prob=0.9) for i in range(29)]
    assert list(reliability_by_label(Outcomes([[]], [[*(x(i, 0.5) for i in range(30)), *ys]]))) == ["X"]


def test_a_label_has_ten_bins():
    """Of forty mentions with forty probabilities, four in each."""
    found = reliability_by_label(Outcomes([[]], [[x(i, i / 40) for i in range(40)]]))["X"]
    assert [b[2] for b in found.bins] == [4] * 10


def test_without_predictions_there_is_no_calibration_error():
    nothing = evaluate([Sentence(["a"], [Mention("X", ((0, 1),))])], [[]]).outcomes
    found = error_interval(nothing)
    assert (found.value, found.low, found.high) == (0, 0, 0)
