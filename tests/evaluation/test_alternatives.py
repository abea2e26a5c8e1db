"""The BioCreative rule on a hand-worked example."""

from __future__ import annotations

import random

import pytest

from spanloom.corpus import Mention, Sentence
from spanloom.evaluation import Score
from spanloom.evaluation.alternatives import with_alternatives
from spanloom.formats import read


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


def official(gold, alternatives, predicted):
    """The official script's two passes over (first, last) places: true positives, false positives, false negatives."""
    tp = fn = fp = 0
    for g in gold:
        near = [a for a in alternatives if a[0] <= g[1] and g[0] <= a[1]]
        if any(p == g or p in near for p in predicted):
            tp += 1
        else:
            fn += 1
    for p in predicted:
        fp += p not in gold and p not in alternatives
    return tp, fp, fn


@pytest.mark.corpus
def test_the_official_count_on_the_test_corpus(shared_data):
    """Predictions drawn from gold, alternatives and invented spans; totals as the script's passes give them."""
    rng = random.Random(5)
    sentences = [s for d in read(f"biocreative:{shared_data}/bc2gm/test") for s in d.sentences]
    predicted, totals = [], [0, 0, 0]
    for s in sentences:
        offered = [*s.mentions, *s.meta.get("alternatives", ())]
        chosen = {m for m in offered if rng.random() < 0.5}
        chosen |= {gene(i, min(len(s), i + 2)) for i in range(len(s)) if rng.random() < 0.02}
        predicted.append(sorted(chosen))
        places = [[(m.start, m.end - 1) for m in side] for side in (s.mentions, offered[len(s.mentions) :], chosen)]
        totals = [a + b for a, b in zip(totals, official(*places), strict=True)]
    score = with_alternatives(sentences, predicted)
    tp, fp, fn = totals
    assert (score.found, score.spurious, score.missed) == (tp, fp, fn)
    assert score.gold == tp + fn == 6331
    assert score.f1 == pytest.approx(2 / (1 / (tp / (tp + fp)) + 1 / (tp / (tp + fn))))
