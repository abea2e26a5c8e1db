"""The BioCreative rule on a hand-worked example."""

from __future__ import annotations

from spanloom.corpus import Mention, Sentence
from spanloom.evaluation import Score
from spanloom.evaluation.alternatives import with_alternatives


def gene(start: int, end: int) -> Mention:
    """A gene mention over tokens start..end."""
    return Mention("GENE", ((start, end),))


WORDS = ["binding", "of", "the", "human", "insulin", "receptor", "gene", "to", "a", "SH2", "domain", "was", "seen"]
# Gold: "human insulin receptor gene" (3, 7), or "insulin receptor" (4, 6), or "insulin receptor gene" (4, 7); and
# "SH2 domain" (9, 11), or "SH2" (9, 10).
GOLD = Sentence(WORDS, [gene(3, 7), gene(9, 11)], meta={"alternatives": [gene(4, 6), gene(4, 7), gene(9, 10)]})


def test_an_alternative_counts_as_the_gold():
    """Both found, one exactly and one by its alternative."""
    assert with_alternatives([GOLD], [[gene(4, 6), gene(9, 11)]]) == Score(2, 2, 2, 2)


def test_what_equals_nothing_is_false():
    """ "insulin" (4, 5) overlaps a gold mention but is no alternative: 1 of 2 found, 1 of 2 right."""
    assert with_alternatives([GOLD], [[gene(4, 5), gene(9, 10)]]) == Score(2, 2, 1, 1)


def test_two_alternatives_of_one_mention_count_once_and_are_not_false():
    """The official script counts found gold mentions and false predictions; the second alternative is neither."""
    assert with_alternatives([GOLD], [[gene(4, 6), gene(4, 7)]]) == Score(2, 1, 1, 1)


def test_one_alternative_may_cover_two_gold_mentions():
    """Every gold mention that an alternative overlaps is found through it."""
    both = Sentence(WORDS, [gene(3, 5), gene(5, 7)], meta={"alternatives": [gene(3, 7)]})
    assert with_alternatives([both], [[gene(3, 7)]]) == Score(2, 2, 2, 2)


def test_an_alternative_elsewhere_does_not_find_a_mention():
    """An alternative that was predicted but overlaps nothing is not false, and finds nothing."""
    sentence = Sentence(WORDS, [gene(3, 7)], meta={"alternatives": [gene(9, 10)]})
    assert with_alternatives([sentence], [[gene(9, 10)]]) == Score(1, 0, 0, 0)


def test_without_alternatives_it_is_the_exact_score():
    """A sentence that offers none is scored strictly."""
    assert with_alternatives([Sentence(WORDS, [gene(3, 7)])], [[gene(3, 7), gene(4, 7)]]) == Score(1, 2, 1, 1)
