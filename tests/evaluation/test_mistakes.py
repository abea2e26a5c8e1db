"""Kinds of mistakes on hand-made cases."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.corpus import Mention
from spanloom.evaluation.mistakes import Mistake, confusion, mistakes


def m(label: str, *parts: tuple[int, int]) -> Mention:
    """A mention, briefly."""
    return Mention(label, parts)


mention = st.builds(
    lambda label, start, n: m(label, (start, start + n)), st.sampled_from("XYZ"), st.integers(0, 8), st.integers(1, 4)
)
mention_lists = st.lists(mention, max_size=6)


@pytest.mark.parametrize(
    ("gold", "predicted", "kind"),
    [
        (m("DNA", (2, 5)), m("RNA", (2, 5)), "label"),
        (m("DNA", (2, 5)), m("DNA", (3, 5)), "boundary"),
        (m("DNA", (2, 5)), m("RNA", (3, 6)), "label+boundary"),
    ],
)
def test_overlapping_pairs_are_one_mistake(gold, predicted, kind):
    """A wrong label or boundary is one mistake, not one missed and one spurious."""
    assert mistakes([[gold]], [[predicted]]) == [Mistake(kind, 0, gold, predicted)]


def test_mentions_apart_are_two_mistakes():
    """Nothing in common: one missed, one spurious."""
    gold, predicted = m("DNA", (0, 1)), m("DNA", (4, 5))
    assert mistakes([[gold]], [[predicted]]) == [
        Mistake("missed", 0, gold, None),
        Mistake("spurious", 0, None, predicted),
    ]


def test_a_right_mention_is_nobodys_partner():
    """The inner mention is missed although the outer one, which is right, covers it."""
    outer, inner = m("DNA", (0, 4)), m("protein", (0, 2))
    assert mistakes([[outer, inner]], [[outer]]) == [Mistake("missed", 0, inner, None)]


def test_the_nearest_partner_is_taken_and_the_right_label_settles_ties():
    """RNA 0–4 goes with the larger overlap; of two equal places the one with the same label."""
    gold = m("RNA", (0, 4))
    near, far = m("RNA", (0, 3)), m("RNA", (3, 6))
    assert mistakes([[gold]], [[far, near]]) == [
        Mistake("boundary", 0, gold, near),
        Mistake("spurious", 0, None, far),
    ]
    same, other = m("RNA", (0, 3)), m("DNA", (1, 4))
    assert mistakes([[gold]], [[other, same]])[0].predicted == same


@pytest.mark.parametrize(
    ("gold", "predicted", "shifts"),
    [
        (((3, 7),), ((2, 7),), ("starts early",)),
        (((3, 7),), ((4, 7),), ("starts late",)),
        (((3, 7),), ((3, 6),), ("ends early",)),
        (((3, 7),), ((3, 9),), ("ends late",)),
        (((2, 3), (5, 6)), ((2, 6),), ("fewer parts",)),
        (((2, 6),), ((2, 3), (5, 6)), ("more parts",)),
        (((2, 3), (5, 6)), ((2, 4), (5, 6)), ("other gap",)),
        (((2, 3),), ((2, 3),), ()),
    ],
)
def test_boundaries_say_how_they_are_wrong(gold, predicted, shifts):
    """Seen from the gold."""
    assert Mistake("boundary", 0, Mention("X", gold), Mention("X", predicted)).shifts() == shifts


def test_missed_has_no_shift():
    """Nothing to compare with."""
    assert Mistake("missed", 0, m("X", (0, 1)), None).shifts() == ()


def test_confusion_counts_right_ones_too():
    """One right DNA, one RNA taken for DNA, one missed RNA, one spurious protein."""
    gold = [[m("DNA", (0, 1)), m("RNA", (2, 3)), m("RNA", (5, 6))]]
    predicted = [[m("DNA", (0, 1)), m("DNA", (2, 3)), m("protein", (8, 9))]]
    assert confusion([m("DNA", (0, 1))], mistakes(gold, predicted)) == Counter(
        {("DNA", "DNA"): 1, ("RNA", "DNA"): 1, ("RNA", None): 1, (None, "protein"): 1}
    )


@given(mention_lists, mention_lists, st.randoms(use_true_random=False))
def test_every_mention_is_accounted_for_once_in_any_order(gold, predicted, rng):
    """Right ones plus mistakes hold each gold and each predicted mention exactly once, whatever the order."""
    found = mistakes([gold], [predicted])
    right = set(gold) & set(predicted)
    assert sorted(x.gold for x in found if x.gold) == sorted(set(gold) - right)
    assert sorted(x.predicted for x in found if x.predicted) == sorted(set(predicted) - right)
    assert mistakes([rng.sample(gold, len(gold))], [rng.sample(predicted, len(predicted))]) == found


@pytest.mark.parametrize(("label", "other"), [("DNA", "RNA"), ("RNA", "DNA")])
def test_shared_tokens_count_more_than_the_label(label, other):
    """Three tokens in common under another label, two under the same: the first is the partner."""
    gold, near, same = m(label, (0, 5)), m(other, (0, 3)), m(label, (3, 5))
    found = mistakes([[gold]], [[near, same]])
    assert found == [Mistake("label+boundary", 0, gold, near), Mistake("spurious", 0, None, same)]
