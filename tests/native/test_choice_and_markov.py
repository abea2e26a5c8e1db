"""Independent choices against the general engine, and the borders of the search in locally normalised trellises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom._native import ChoiceStructure, MarkovSearch

SCORES = st.floats(-30, 30) | st.just(-np.inf)


@given(st.integers(1, 9), st.integers(0, 4), st.data())
def test_choices_are_those_of_the_engine(columns, sites, data):
    """Partition function, probabilities and best choice; columns that are impossible included."""
    row = st.lists(SCORES, min_size=columns, max_size=columns).filter(lambda own: max(own) > -np.inf)
    table = [data.draw(row) for _ in range(sites)]
    scores = np.array(table, float).reshape(-1)
    structure = ChoiceStructure(columns)
    graph = structure.graph(sites)
    log_z, expected = structure.expectations(scores, np.zeros(0))
    engine_z, engine_expected = graph.expectations(scores)
    assert log_z == pytest.approx(engine_z, abs=1e-9)
    assert expected == pytest.approx(engine_expected, abs=1e-12)
    score, cells = structure.best(scores, np.zeros(0))
    assert score == pytest.approx(graph.best(scores)[0])
    assert score == pytest.approx(scores[cells].sum())


def test_what_no_choice_is():
    with pytest.raises(ValueError, match="at least one column"):
        ChoiceStructure(0)
    with pytest.raises(ValueError, match="takes no global scores"):
        ChoiceStructure(2).expectations(np.zeros(2), np.zeros(1))


def search(step=((0.0, 0.0),) * 3, goes=((0, 1),) * 3, last=(0, 1), may_end=(1, 1)):
    return MarkovSearch(
        2,
        np.array(step, float).ravel(),
        np.array(goes, np.int32).ravel(),
        np.array(last, np.int32),
        np.array(may_end, np.uint8),
    )


def best(made, local, beam=0):
    rows = np.array(local, float)
    scores, labels = made.best(rows.ravel(), np.array([0, len(rows)], np.int64), beam)
    return scores[0], labels.tolist()


def test_probability_lost_to_illegal_labels_stays_lost():
    """By hand: p(1 | start) = 1/4 as log 3 speaks for 0, which must not start; then p(0 | 1) = 1/2."""
    made = search(goes=((0, 1), (0, 1), (-1, 1)))
    score, labels = best(made, [[np.log(3), 0], [0, 0]])
    assert labels == [1, 0]
    assert score == pytest.approx(np.log(1 / 4) + np.log(1 / 2))


def test_normalisers_beyond_the_range_of_products():
    """Label 0 scores 2000 at the token, label 1 scores 2000 as a step: their sum is 2 exp(2000), p = 1/2 each."""
    made = search(step=((0, 2000.0), (0, 2000.0), (0, 2000.0)))
    score, _ = best(made, [[2000.0, 0.0]])
    assert score == pytest.approx(np.log(1 / 2))


@given(st.integers(1, 5), st.integers(5, 9), st.integers(1, 4), st.booleans(), st.data())
def test_the_best_sequence_is_that_of_all(labels, states, sites, sharp, data):
    """Whatever is left out on the way, with illegal labels and such that a token forbids: against enumeration."""
    seed = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
    step = seed.normal(size=(states + 1, labels)) * (8 if sharp else 1)
    local = seed.normal(size=(sites, labels)) * (8 if sharp else 1)
    local[seed.random(local.shape) < 0.15] = -np.inf
    last = np.arange(states) % labels
    goes = np.array([[seed.choice(np.flatnonzero(last == y)) for y in range(labels)] for _ in range(states + 1)])
    goes[seed.random(goes.shape) < 0.2] = -1
    may_end = seed.random(states) < 0.8
    made = MarkovSearch(labels, step.ravel(), goes.astype(np.int32).ravel(), last.astype(np.int32), may_end.view("u1"))
    top = -np.inf
    for sequence in itertools.product(range(labels), repeat=sites):
        state, total = states, 0.0
        for t, y in enumerate(sequence):
            if local[t, y] == -np.inf:
                break
            total += local[t, y] + step[state, y] - np.logaddexp.reduce(local[t] + step[state])
            state = goes[state, y]
            if state < 0:
                break
        else:
            if may_end[state]:
                top = max(top, total)
    score, found = best(made, local)
    assert score == pytest.approx(top)
    assert (min(found) < 0) == (top == -np.inf)


def test_nothing_possible_is_said():
    made = search(may_end=(0, 0))
    assert best(made, [[0, 0]]) == (-np.inf, [-1])
    assert best(search(), [[-np.inf, -np.inf]]) == (-np.inf, [-1])
    assert best(search(), np.zeros((0, 2))) == (0.0, [])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"goes": ((0, 2),) * 3}, "no state 2 among 2"),
        ({"last": (0, 5)}, "no label 5 among 2"),
        ({"may_end": (1,)}, "do not fit"),
        ({"step": ((np.nan, 0),) * 3}, "not finite"),
    ],
)
def test_the_border_is_checked(bad, message):
    with pytest.raises(ValueError, match=message):
        search(**bad)


def test_bounds_must_fit():
    with pytest.raises(ValueError, match="do not fit the bounds"):
        search().best(np.zeros(4), np.array([0, 3], np.int64))
