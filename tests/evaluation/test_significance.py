"""Significance tests against slow references that draw unit by unit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from spanloom.base.errors import ParameterError
from spanloom.corpus import Mention
from spanloom.evaluation.significance import _batches, bootstrap, interval, randomisation, unit_counts


def f1(rows) -> float:
    """F1 of a list of (gold, predicted, correct) rows, from the definition."""
    gold, predicted, correct = (sum(r[k] for r in rows) for k in range(3))
    return 2 * correct / (gold + predicted) if gold + predicted else 0.0


def slow_bootstrap(a, b, resamples, rng):
    """Koehn's procedure word for word: draw n units, see whether the winner still wins."""
    n = len(a)
    sign = 1 if f1(a) >= f1(b) else -1
    lost, differences = 0, []
    for _ in range(resamples):
        drawn = [rng.randrange(n) for _ in range(n)]
        d = f1([a[i] for i in drawn]) - f1([b[i] for i in drawn])
        lost += sign * d <= 0
        differences.append(d)
    differences.sort()
    return lost / resamples, differences[int(0.025 * resamples)], differences[int(0.975 * resamples)]


def slow_randomisation(a, b, resamples, rng):
    """Swap every unit with probability 1/2, one by one."""
    real, count = abs(f1(a) - f1(b)), 0
    for _ in range(resamples):
        swaps = [rng.random() < 0.5 for _ in a]
        x = [v if s else u for s, u, v in zip(swaps, a, b, strict=True)]
        y = [u if s else v for s, u, v in zip(swaps, a, b, strict=True)]
        count += abs(f1(x) - f1(y)) >= real - 1e-12
    return (count + 1) / (resamples + 1)


def two_systems(seed: int, n: int, better: float):
    """Counts of two random systems on n sentences; A finds a little more."""
    rng = random.Random(seed)
    a, b = [], []
    for _ in range(n):
        gold = rng.randrange(4)
        for rows, skill in ((a, 0.7 + better), (b, 0.7)):
            correct = sum(rng.random() < skill for _ in range(gold))
            rows.append((gold, correct + (rng.random() < 0.3), correct))
    return a, b


@pytest.mark.parametrize(("seed", "better"), [(1, 0.0), (2, 0.05), (3, 0.1)])
def test_both_tests_agree_with_the_slow_reference(seed, better):
    """p and interval within the error of 2,000 and 20,000 draws (standard error of p at most 0.012)."""
    a, b = two_systems(seed, 60, better)
    p, low, high = slow_bootstrap(a, b, 2000, random.Random(9))
    fast = bootstrap(np.array(a), np.array(b), resamples=20_000, seed=4)
    assert fast.p["f1"] == pytest.approx(p, abs=0.045)
    assert fast.difference["f1"].low == pytest.approx(low, abs=0.01)
    assert fast.difference["f1"].high == pytest.approx(high, abs=0.01)
    assert fast.difference["f1"].value == pytest.approx(f1(a) - f1(b))
    slow = slow_randomisation(a, b, 2000, random.Random(9))
    assert randomisation(np.array(a), np.array(b), resamples=20_000)["f1"] == pytest.approx(slow, abs=0.045)


def test_bootstrap_equals_the_exact_distribution_on_two_units():
    """Two units, four equally likely draws: A wins on (1, 1) and (1, 2), and ties on (2, 2): p = 1/4."""
    a, b = np.array([[1, 1, 1], [1, 1, 1]]), np.array([[1, 1, 0], [1, 1, 1]])
    assert bootstrap(a, b, resamples=40_000).p["f1"] == pytest.approx(0.25, abs=0.01)


def test_randomisation_equals_the_exact_distribution_on_two_units():
    """Both units differ the same way; 2 of 4 swaps keep |difference| as large: p = 1/2."""
    a, b = np.array([[1, 1, 1], [1, 1, 1]]), np.array([[1, 1, 0], [1, 1, 0]])
    assert randomisation(a, b, resamples=40_000)["f1"] == pytest.approx(0.5, abs=0.01)


def test_equal_systems_are_never_different():
    """Same counts: the difference is 0 in every draw, p = 1."""
    a = np.array(two_systems(5, 40, 0.0)[0])
    assert bootstrap(a, a).p == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert randomisation(a, a, resamples=99) == {"precision": 1.0, "recall": 1.0, "f1": 1.0}


def test_seeds_repeat_and_differ():
    """The same seed gives the same bytes; another seed another draw."""
    a, b = map(np.array, two_systems(6, 50, 0.03))
    assert bootstrap(a, b, resamples=500, seed=1) == bootstrap(a, b, resamples=500, seed=1)
    assert bootstrap(a, b, resamples=500, seed=1).p != bootstrap(a, b, resamples=500, seed=2).p


def test_swapping_the_systems_turns_the_difference_around():
    """A − B = −(B − A), same p."""
    a, b = map(np.array, two_systems(7, 50, 0.05))
    one, other = bootstrap(a, b, resamples=1000), bootstrap(b, a, resamples=1000)
    assert one.difference["f1"].value == -other.difference["f1"].value
    assert one.p["f1"] == pytest.approx(other.p["f1"], abs=0.06)


def test_interval_holds_the_value_and_narrows_with_data():
    """Ten times the data, a narrower interval around the same value."""
    a = np.array(two_systems(8, 80, 0.0)[0])
    small, large = interval(a)["recall"], interval(np.tile(a, (10, 1)))["recall"]
    assert small.low < small.value < small.high
    assert large.high - large.low < 0.5 * (small.high - small.low)


def test_units_can_be_documents():
    """Sentences of one document are drawn together: one unit has no spread at all."""
    m = Mention("X", ((0, 1),))
    counts = unit_counts([[m], [m]], [[m], []], unit_of=[0, 0])
    assert counts.tolist() == [[2, 1, 1]]
    assert interval(counts)["recall"].low == interval(counts)["recall"].high == 0.5


def test_bad_settings_are_refused():
    """Errors name the value."""
    a = np.array([[1, 1, 1]])
    with pytest.raises(ParameterError, match="resamples must be at least 1, not 0"):
        bootstrap(a, a, resamples=0)
    with pytest.raises(ParameterError, match="level must be between 0 and 1, not 2"):
        bootstrap(a, a, level=2)
    with pytest.raises(ParameterError, match="1 and 2 units"):
        randomisation(a, np.tile(a, (2, 1)))
    with pytest.raises(ParameterError, match="unit 0 has 1 gold mentions for one system and 2 for the other"):
        bootstrap(a, np.array([[2, 1, 1]]))


@pytest.mark.parametrize(
    ("resamples", "classes", "sizes"), [(10, 300_000, [3, 3, 3, 1]), (6, 333_333, [3, 3]), (2, 0, [2])]
)
def test_batches_make_up_the_resamples(resamples, classes, sizes):
    """A million draws at a time: three resamples of 300,000 classes."""
    assert _batches(resamples, classes) == sizes


def test_every_sentence_needs_its_predictions():
    """A list more or less is an error, not a shorter count."""
    mention = Mention("X", ((0, 1),))
    with pytest.raises(ValueError, match="argument 2 is shorter than argument 1"):
        unit_counts([[mention], []], [[mention]])


def test_units_of_both_systems_are_needed():
    some, none = np.array([[1, 1, 1]]), np.zeros((0, 3), np.int64)
    for test in (bootstrap, randomisation):
        with pytest.raises(ParameterError, match="nothing to draw from"):
            test(none, none, resamples=5)
        for one, other in ((some, none), (none, some)):
            with pytest.raises(ParameterError, match="counts for the same units"):
                test(one, other, resamples=5)
