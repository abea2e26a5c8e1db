"""Exact scores on sets of mentions."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.base.errors import CorpusError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation import Score, by_label, evaluate, micro

A = Mention("protein", ((0, 2),))
B = Mention("DNA", ((0, 4),))
C = Mention("protein", ((0, 1), (2, 3)))

ranges = st.tuples(st.integers(0, 5), st.integers(1, 3)).map(lambda t: (t[0], t[0] + t[1]))
mentions = st.builds(Mention, st.sampled_from("XY"), ranges.map(lambda r: (r,)))
mention_lists = st.lists(mentions, max_size=6)


def test_fractions_of_hand_counted_mentions():
    """3 of 5 predicted are right (0.6), 3 of 4 gold are found (0.75), F1 = 2·0.6·0.75/1.35 = 2/3."""
    score = Score(gold=4, predicted=5, found=3, correct=3)
    assert score.precision == 0.6
    assert score.recall == 0.75
    assert score.f1 == pytest.approx(2 / 3, abs=1e-15)
    assert (score.missed, score.spurious) == (1, 2)


@pytest.mark.parametrize("score", [Score(0, 0, 0, 0), Score(3, 0, 0, 0), Score(0, 3, 0, 0)])
def test_a_fraction_of_nothing_is_zero(score):
    """No division by zero, whatever is missing."""
    assert score.f1 == 0.0


def test_same_tokens_with_another_label_or_other_parts_is_not_a_match():
    """Label and every part count."""
    assert micro([[A]], [[Mention("DNA", ((0, 2),))]]).correct == 0
    assert micro([[C]], [[Mention("protein", ((0, 3),))]]).correct == 0
    assert micro([[C]], [[Mention("protein", ((2, 3), (0, 1)))]]).correct == 1


def test_a_match_needs_the_same_sentence():
    """The right mention in the next sentence is wrong."""
    assert micro([[A], []], [[], [A]]) == Score(1, 1, 0, 0)


def test_probabilities_do_not_matter_for_equality():
    """A prediction carries its probability; the gold has none."""
    assert micro([[A]], [[Mention(A.label, A.parts, prob=0.4)]]).f1 == 1.0


def test_labels_are_scored_apart():
    """Hand count: DNA 1 of 1 found and 1 of 2 right; protein 1 of 2 found and 1 of 1 right."""
    scores = by_label([[A, B, C]], [[B, C, Mention("DNA", ((5, 6),))]])
    assert scores == {"DNA": Score(1, 2, 1, 1), "protein": Score(2, 1, 1, 1)}


@given(st.lists(st.tuples(mention_lists, mention_lists), max_size=4), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(pairs, rng: random.Random):
    """Mentions are sets: shuffled and doubled lists give the same score."""
    gold, predicted = [g for g, _ in pairs], [p for _, p in pairs]
    shuffled = [rng.sample(p + p, 2 * len(p)) for p in predicted]
    assert micro(gold, shuffled) == micro(gold, predicted)
    assert by_label([g + g for g in gold], shuffled) == by_label(gold, predicted)


@given(st.lists(st.tuples(mention_lists, mention_lists), max_size=4))
def test_micro_equals_counting_pairs(pairs):
    """The definition, spelled out: count the distinct gold mentions that some predicted mention equals."""
    found = sum(any(m == n for n in p) for g, p in pairs for m in set(g))
    n_gold, n_predicted = sum(len(set(g)) for g, _ in pairs), sum(len(set(p)) for _, p in pairs)
    score = micro([g for g, _ in pairs], [p for _, p in pairs])
    assert score == Score(n_gold, n_predicted, found, found)
    labels = by_label([g for g, _ in pairs], [p for _, p in pairs])
    assert sum(labels.values(), Score(0, 0, 0, 0)) == score


def test_documents_and_sentences_give_the_same_report():
    """The unit of reading does not change the score."""
    words = ["a", "b", "c", "d", "e", "f"]
    gold, predicted = Sentence(words, [A, B]), Sentence(words, [B])
    flat = evaluate([gold, gold], [predicted, gold])
    grouped = evaluate([Document([gold, gold])], [Document([predicted, gold])])
    assert flat.to_json()["micro"] == grouped.to_json()["micro"]
    assert flat.micro == Score(4, 3, 3, 3)
    assert flat.counts["tokens"] == 12


def test_macro_is_the_mean_of_the_labels():
    """protein 0.5/1 → F1 2/3; DNA perfect → mean F1 5/6."""
    words = ["a", "b", "c", "d"]
    report = evaluate([Sentence(words, [A, B, C])], [[A, B]])
    assert report.macro["f1"] == pytest.approx(5 / 6)
    assert report.macro["recall"] == 0.75


def test_other_tokens_are_refused_with_place_and_values():
    """Scores of different texts mean nothing."""
    gold = [Document([Sentence(["a", "b"]), Sentence(["c", "d"])], id="d1")]
    with pytest.raises(CorpusError, match=r"sentence 1 of document 'd1' differs: token 1 is 'd' .* 'x'"):
        evaluate(gold, [Sentence(["a", "b"]), Sentence(["c", "x"])])
    with pytest.raises(CorpusError, match="the gold has 2 sentences and the prediction 1"):
        evaluate(gold, [[]])
    with pytest.raises(CorpusError, match="2 tokens in the gold and 1 in the prediction"):
        evaluate([Sentence(["a", "b"])], [Sentence(["a"])])
