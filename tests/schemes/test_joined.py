"""Joined labels: the paper's example, and every contiguous set there and back, also through runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nestings import contiguous

from spanloom.corpus import Mention
from spanloom.schemes import first_misfit, join_labels, layers_of, split_labels
from spanloom.schemes.joined import is_outside, read_runs, runs


def test_example_of_the_paper():
    """Table 2, last column: mice … tumor necrosis factor-alpha ( TNF-alpha ) messenger RNA levels."""
    mentions = [
        Mention("multi_cell", ((0, 1),)),
        Mention("other_name", ((1, 10),)),
        Mention("RNA", ((1, 9),)),
        Mention("protein", ((1, 4),)),
        Mention("protein", ((5, 6),)),
    ]
    assert join_labels(mentions, 10, 3) == [
        "B-multi_cell+O+O",
        "B-protein+B-RNA+B-other_name",
        "I-protein+I-RNA+I-other_name",
        "I-protein+I-RNA+I-other_name",
        "O+I-RNA+I-other_name",
        "B-protein+I-RNA+I-other_name",
        "O+I-RNA+I-other_name",
        "O+I-RNA+I-other_name",
        "O+I-RNA+I-other_name",
        "O+O+I-other_name",
    ]


@given(contiguous())
def test_every_contiguous_set_comes_back(drawn):
    """Also with labels that hold the joint, and with more layers than are needed."""
    n, mentions = drawn
    depth = len(layers_of(mentions))
    for more in (0, 1):
        assert sorted(split_labels(join_labels(mentions, n, depth + more))) == mentions


@given(contiguous())
def test_runs_are_flat_mentions_that_come_back(drawn):
    n, mentions = drawn
    depth = len(layers_of(mentions)) + 1
    labels = join_labels(mentions, n, depth)
    found = runs(labels)
    assert first_misfit(found) is None
    assert not any(is_outside(m.label) for m in found)
    assert read_runs(found) == split_labels(labels)


@given(st.lists(st.sampled_from(["O+O", "B-a+O", "I-a+O", "I-b+I-a", "O+I-a", "B-a+B-a", "I-a+B-a"]), max_size=12))
def test_runs_of_any_labels_are_read_like_the_labels(labels):
    """Taggers also find labels in an order that no mentions have."""
    assert read_runs(reversed(runs(labels))) == split_labels(labels)


def test_too_many_layers_are_an_error():
    with pytest.raises(ValueError, match="2 layers, and joined labels have 1"):
        join_labels([Mention("a", ((0, 1),)), Mention("b", ((0, 2),))], 2, 1)


def test_what_breaks_the_rules_is_read_by_its_borders():
    """I after O begins a mention; I of another label begins another."""
    assert [(m.label, m.parts[0]) for m in split_labels(["I-a+O", "I-b+O", "O+I-c"])] == [
        ("a", (0, 1)),
        ("b", (1, 2)),
        ("c", (2, 3)),
    ]
