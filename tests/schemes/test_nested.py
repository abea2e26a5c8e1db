"""Mention sets as trees."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from nestings import LABELS, contiguous

from spanloom.corpus import Mention
from spanloom.corpus.mention import ORDERS
from spanloom.schemes.nested import Contexts, first_crossing, seen_pairs, with_parents, without_crossing

ORDER = {label: y for y, label in enumerate(LABELS)}


def above(mention, mentions):
    """The smallest mention with all tokens of this one; of those with the same tokens the last label before its own."""
    found = [
        other
        for other in mentions
        if other.contains(mention) and (other.parts != mention.parts or ORDER[other.label] < ORDER[mention.label])
    ]
    return min(found, key=lambda other: (len(other), -ORDER[other.label]), default=None)


@given(contiguous())
def test_the_first_crossing_mention_is_found_if_there_is_one(case):
    _, mentions = case
    found = first_crossing(mentions)
    crossing = [m for m in mentions if any(m.crosses(other) for other in mentions)]
    assert (found is None) == (not crossing)
    if found is not None:
        assert mentions[found[0]] in crossing
        assert found[1].startswith("crosses mention")


def test_parts_are_told_before_crossings():
    assert first_crossing([Mention("a", ((0, 1), (2, 3)))]) == (0, "has 2 parts")


@given(contiguous(), st.sampled_from(sorted(ORDERS)))
def test_what_is_kept_nests_and_what_goes_crosses_it(case, keep):
    _, mentions = case
    kept, lost = without_crossing(mentions, keep)
    assert sorted(kept + lost) == sorted(mentions)
    assert first_crossing(kept) is None
    assert all(any(m.crosses(other) for other in kept) for m in lost)


@given(contiguous())
def test_each_mention_stands_under_the_smallest_around_it(case):
    mentions, _ = without_crossing(case[1], "longest")
    placed = with_parents(mentions, ORDER)
    assert sorted(m for m, _ in placed) == mentions
    for at, (mention, parent) in enumerate(placed):
        assert parent < at
        assert (placed[parent][0] if parent >= 0 else None) == above(mention, mentions)


@given(contiguous())
def test_contexts_are_the_labels_above(case):
    """With the pairs of the set itself, a context is named by the label above and the one above that."""
    mentions, _ = without_crossing(case[1], "longest")
    contexts = Contexts(LABELS, seen_pairs([mentions], ORDER))
    placed = with_parents(mentions, ORDER)
    for (mention, _), context in zip(placed, contexts.of(placed, ORDER), strict=True):
        parent = above(mention, mentions)
        grand = above(parent, mentions) if parent else None
        expected = "the top" if parent is None else f"{parent.label} in {grand.label}" if grand else parent.label
        assert contexts.names[context] == expected


def test_pairs_that_training_does_not_have_are_read_as_at_the_top():
    contexts = Contexts(["a", "b"])
    assert contexts.names == ["the top", "a", "b"]
    assert contexts.next.tolist() == [[1, 2]] * 3
