"""Two systems side by side, counted by hand."""

from __future__ import annotations

import json

import pytest

from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation import compare


def x(i: int) -> Mention:
    """A one-token mention."""
    return Mention("X", ((i, i + 1),))


WORDS = list("abcdefghij")
GOLD = [Sentence(WORDS, [x(0), x(1), x(2), x(3)])]
A = [[x(0), x(1), x(5), x(6)]]
B = [[x(0), x(2), x(6), x(7)]]
C = [[x(0), x(2), x(3), x(8)]]


def test_changes_count_gold_and_false_mentions():
    """Gold: 0 both, 1 only A, 2 only B, 3 neither. False: 5 given by A only, 7 by B only, 6 by both."""
    assert compare(GOLD, A, B, resamples=50).changes() == {
        "gold": {"both right": 1, "only A right": 1, "only B right": 1, "both wrong": 1},
        "false": {"both right": 0, "only A right": 1, "only B right": 1, "both wrong": 1},
    }


def test_a_third_system_where_the_two_agree_and_where_not():
    """C finds 0 (both had it), 2 (B had it), 3 (nobody had it), not 1; of false ones it gives only 8."""
    table = compare(GOLD, A, B, third=C, resamples=50).third_way()
    assert table["gold"] == {
        "both right": {"right": 1, "wrong": 0},
        "only A right": {"right": 0, "wrong": 1},
        "only B right": {"right": 1, "wrong": 0},
        "both wrong": {"right": 1, "wrong": 0},
    }
    assert table["false"] == {
        "both right": {"right": 0, "wrong": 1},
        "only A right": {"right": 1, "wrong": 0},
        "only B right": {"right": 1, "wrong": 0},
        "both wrong": {"right": 1, "wrong": 0},
    }
    assert compare(GOLD, A, B, resamples=50).third_way() == {}


def test_changes_explain_the_difference_in_counts():
    """What only A found minus what only B found is the difference of found mentions."""
    gold = [Sentence(WORDS, [x(i) for i in range(n)]) for n in (3, 5, 8)]
    a, b = [[x(0), x(1)], [x(4), x(6)], [x(9)]], [[x(0)], [x(4), x(3), x(2)], [x(1), x(9)]]
    comparison = compare(gold, a, b, resamples=50)
    changes = comparison.changes()["gold"]
    assert changes["only A right"] - changes["only B right"] == comparison.a.micro.found - comparison.b.micro.found
    assert sum(changes.values()) == 16


def test_gold_may_be_a_generator_and_units_may_be_documents():
    """The gold is read once; with one document, every draw is the same."""
    comparison = compare((Document([s]) for s in GOLD), A, B, by="document", resamples=50)
    assert comparison.bootstrap.units == 1
    assert comparison.bootstrap.difference["f1"].low == comparison.bootstrap.difference["f1"].high


def test_json_is_plain():
    """Everything survives json; by_label holds both systems."""
    data = json.loads(json.dumps(compare(GOLD, A, [[x(0)]], third=C, resamples=50).to_json()))
    assert data["a"]["f1"] == 0.5
    assert data["by_label"]["X"] == {"a": 0.5, "b": pytest.approx(0.4)}
    assert data["difference"]["recall"]["value"] == 0.25
    assert data["changes"]["gold"]["only A right"] == 1


def test_a_notebook_shows_the_f1_of_every_label_that_one_of_two_systems_has():
    """Of X, A finds one of two (F1 2/3) and B none; Y is B's alone and wrong."""
    gold = [Sentence(["a", "b", "c"], [x(0), x(1)])]
    html = compare(gold, [[x(0)]], [[Mention("Y", ((2, 3),))]], resamples=10)._repr_html_()
    assert "<tr><td>X</td><td>66.7</td><td>0.0</td><td>+66.67</td></tr>" in html
    assert "<tr><td>Y</td><td>0.0</td><td>0.0</td><td>+0.00</td></tr>" in html
    assert "<tr><td>F1</td><td>66.7</td><td>0.0</td><td>+66.67</td>" in html


def test_the_table_in_notebooks_has_the_interval_in_percent():
    gold = [Sentence(["a", "b"], [Mention("X", ((0, 1),))])] * 30
    one = [[Mention("X", ((0, 1),))] if k % 3 else [] for k in range(30)]
    other = [[Mention("X", ((k % 2, k % 2 + 1),))] for k in range(30)]
    compared = compare(gold, one, other, resamples=200)
    html = compared._repr_html_()
    for difference in compared.bootstrap.difference.values():
        assert f"<td>{100 * difference.low:+.2f} to {100 * difference.high:+.2f}</td>" in html
