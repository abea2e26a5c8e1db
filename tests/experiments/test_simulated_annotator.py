"""The actions that the simulated annotator counts, by hand."""

from __future__ import annotations

import pytest

from experiments.workbench import actions
from spanloom.corpus import Mention

A, B = Mention("A", ((0, 2),)), Mention("B", ((3, 4),))
LONGER, OTHER, BROKEN = Mention("A", ((0, 4),)), Mention("B", ((0, 2),)), Mention("A", ((0, 1), (3, 4)))


@pytest.mark.parametrize(
    ("gold", "shown", "expected"),
    [
        (set(), set(), 0),
        ({A, B}, set(), 4),  # two drags, two keys
        ({BROKEN}, set(), 3),  # two drags, one key
        ({A, B}, {A, B}, 1),  # accept all
        ({A, B}, {A}, 3),
        ({A}, {A, B}, 3),  # accept all, choose, reject
        ({A}, {OTHER}, 3),  # accept all, choose, label
        ({A}, {LONGER}, 4),  # accept all, choose, shrink twice; rejecting and a new one would be 5
        ({BROKEN}, {LONGER}, 6),  # accept all, reject (2), two drags and a key
    ],
)
def test_actions(gold: set[Mention], shown: set[Mention], expected: int) -> None:
    assert actions(gold, shown) == expected
