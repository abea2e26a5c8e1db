"""Paired comparisons as they stand in result files."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.paired import HEADS, cells, p_value
from experiments.representations_tables import agreement
from spanloom.evaluation.significance import bootstrap, randomisation


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "< 0.0001"), (0.00005, "< 0.0001"), (0.0001, "0.0001"), (1, "1.0000")]
)
def test_p_is_never_written_as_0(share, text):
    assert p_value(share) == text


def test_cells_are_those_of_both_tests():
    """Difference, interval, two p-values and a verdict, for better, worse and tie."""
    draw = np.random.default_rng(1)
    a = np.array([[2, 2, right] for right in draw.integers(0, 3, 200)])
    b = np.array([[2, 2, right] for right in draw.integers(0, 3, 200)])
    found = cells(a, b)
    drawn = bootstrap(a, b)
    assert len(found) == len(HEADS)
    assert found[0] == f"{100 * drawn.difference['f1'].value:+.2f}"
    assert found[2] == p_value(drawn.p["f1"])
    assert found[3] == p_value(randomisation(a, b)["f1"])
    best = np.array([[2, 2, 2]] * 200)
    assert [cells(best, a)[-1], cells(a, best)[-1], cells(a, a)[-1]] == ["better", "worse", "tie"]


def test_agreement_counts_every_prediction_once():
    """By hand: one right in common, one wrong of the first, one right of the second that the third has too."""
    gold, a, b = [{(0, 1), (4, 5)}], [{(0, 1), (2, 3)}], [{(0, 1), (4, 5)}]
    found = agreement(gold, a, b, [{(4, 5), (2, 3)}])
    assert {key: value for key, value in found.items() if value[0]} == {
        ("both", "right"): (1, 0),
        ("the first alone", "wrong"): (1, 1),
        ("the second alone", "right"): (1, 1),
    }
