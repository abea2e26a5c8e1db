"""Scores that forgive something, against brute force and by hand."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.corpus import Mention, Sentence
from spanloom.evaluation import Score, micro
from spanloom.evaluation.relaxed import (
    boundaries,
    head_of,
    heads,
    labels,
    overlapping,
    partial,
    token_accuracy,
)

N = 7


@st.composite
def mention(draw):
    """A mention over seven tokens, often discontinuous."""
    tokens = draw(st.sets(st.integers(0, N - 1), min_size=1, max_size=4))
    return Mention(draw(st.sampled_from("XY")), tuple((i, i + 1) for i in sorted(tokens)))


mention_lists = st.lists(mention(), max_size=4, unique=True)


def brute_force(gold, predicted, credit):
    """The largest sum of credits over every one-to-one pairing, by trying all of them."""
    short, long = sorted((gold, predicted), key=len)
    return max(sum(map(credit, short, some)) for some in permutations(long, len(short)))


def jaccard(a, b):
    """The share of common tokens of two mentions of the same label, from the definition."""
    x, y = set(a.tokens), set(b.tokens)
    return len(x & y) / len(x | y) if a.label == b.label else 0.0


@settings(max_examples=150)
@given(mention_lists, mention_lists)
def test_partial_is_the_best_one_to_one_pairing(gold, predicted):
    """The sum of credits equals that of the best of all pairings."""
    score = partial([gold], [predicted])
    assert score.found == pytest.approx(brute_force(gold, predicted, jaccard))
    assert (score.gold, score.predicted) == (len(gold), len(predicted))


@settings(max_examples=150)
@given(mention_lists, mention_lists)
def test_overlapping_finds_as_many_pairs_as_there_can_be(gold, predicted):
    """Exact pairs are no better here than pairs that share one token."""
    score = overlapping([gold], [predicted])
    assert score.found == brute_force(gold, predicted, lambda a, b: float(jaccard(a, b) > 0))


@given(mention_lists, mention_lists, st.randoms(use_true_random=False))
def test_no_score_depends_on_the_order(gold, predicted, rng):
    """nervaluate's does (nervaluate#78); ours are properties of the two sets."""
    sentence, shuffled = Sentence(list("abcdefg"), gold), Sentence(list("abcdefg"), rng.sample(gold, len(gold)))
    other = rng.sample(predicted, len(predicted))
    for measure in (boundaries, labels, partial, overlapping):
        assert measure([gold], [predicted]) == measure([shuffled.mentions], [other])
    assert heads([sentence], [predicted]) == heads([shuffled], [other])
    assert token_accuracy([sentence], [predicted]) == token_accuracy([shuffled], [other])


@given(mention_lists, mention_lists)
def test_forgiving_never_lowers_the_score(gold, predicted):
    """Exact ≤ partial ≤ overlapping ≤ labels: each rule accepts what the one before accepts."""
    found = [m([gold], [predicted]).found for m in (micro, partial, overlapping, labels)]
    assert found == sorted(found)


def test_figures_worked_by_hand():
    """Gold: DNA 0–4 and RNA 5–6; predicted: DNA 1–4 (credit 3/4) and DNA 5–6 (right place, wrong label)."""
    gold = [[Mention("DNA", ((0, 4),)), Mention("RNA", ((5, 6),))]]
    predicted = [[Mention("DNA", ((1, 4),)), Mention("DNA", ((5, 6),))]]
    assert partial(gold, predicted) == Score(2, 2, 0.75, 0.75)
    assert boundaries(gold, predicted) == Score(2, 2, 1, 1)
    assert labels(gold, predicted) == Score(2, 2, 1, 1)
    assert overlapping(gold, predicted) == Score(2, 2, 1, 1)
    # Wrong tags: token 0 (B missing), token 1 (B for I), token 5 (label).
    assert token_accuracy([Sentence(list("abcdefg"), gold[0])], predicted) == pytest.approx(4 / 7)


def test_discontinuous_parts_share_tokens_not_envelopes():
    """ "Bill … Clinton" (2, 5) and "Hilary Clinton" (4, 5) share one token of three (McDonald's figure 2a)."""
    bill = Mention("PER", ((2, 3), (5, 6)))
    hilary = Mention("PER", ((4, 6),))
    assert partial([[bill]], [[hilary]]).recall == pytest.approx(1 / 3)
    assert overlapping([[bill]], [[Mention("PER", ((3, 5),))]]).found == 0


def test_boundaries_and_labels_may_merge_mentions():
    """One place with two labels is one place."""
    two = [Mention("DNA", ((0, 2),)), Mention("protein", ((0, 2),))]
    assert boundaries([two], [two[:1]]) == Score(1, 1, 1, 1)
    assert labels([two], [two[:1]]) == Score(2, 1, 1, 1)


def test_head_follows_the_tree_where_there_is_one():
    """In "the station in Pennsylvania", "station" heads the phrase; without a tree the last word does."""
    words, tree = ["the", "station", "in", "Pennsylvania"], ["2", "0", "4", "2"]
    whole = Mention("ORG", ((0, 4),))
    assert head_of(Sentence(words, columns={"head": tree}), whole) == 1
    assert head_of(Sentence(words), whole) == 3
    short = Mention("ORG", ((0, 2),))
    assert heads([Sentence(words, [whole], {"head": tree})], [[short]]).f1 == 1.0
    assert heads([Sentence(words, [whole])], [[short]]).f1 == 0.0
