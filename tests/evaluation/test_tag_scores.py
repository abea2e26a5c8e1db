"""Scores from tags equal scores from the mentions that the tags stand for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Mention
from spanloom.base.errors import CorpusError
from spanloom.corpus.tags import SCHEMES, from_tags, to_tags
from spanloom.evaluation import Score, by_label, by_label_from_tags

TAGS = st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b"])
PAIRS = st.lists(st.lists(st.tuples(TAGS, TAGS), max_size=6), max_size=4)


def mentions(tags, scheme="auto"):
    return [Mention(label, ((start, end),)) for label, start, end in from_tags(tags, scheme, lambda *_: None)]


@given(PAIRS)
def test_any_tags_score_as_their_mentions_do(pairs):
    """Valid or not, empty or not: label by label the same counts."""
    gold = [[g for g, _ in sentence] for sentence in pairs]
    predicted = [[p for _, p in sentence] for sentence in pairs]
    wanted = by_label([mentions(t) for t in gold], [mentions(t) for t in predicted])
    assert by_label_from_tags(gold, predicted) == wanted


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme(scheme):
    """Two of three gold mentions found, one invented; IO joins touching mentions of one label, so none touch here."""
    gold = [("a", 0, 2), ("b", 2, 3), ("a", 5, 8)]
    predicted = [("a", 0, 2), ("a", 3, 4), ("a", 5, 8)]
    scores = by_label_from_tags([to_tags(gold, 9, scheme)], [to_tags(predicted, 9, scheme)], scheme)
    assert scores == {"a": Score(2, 3, 2, 2), "b": Score(1, 0, 0, 0)}


def test_bad_input():
    """Lengths that differ and tags that are none say where and which."""
    with pytest.raises(CorpusError, match="sentence 1 has 1 gold tags and 2 predicted ones"):
        by_label_from_tags([["O"], ["O"]], [["O"], ["O", "O"]])
    with pytest.raises(CorpusError, match="tag 'X' is not O or"):
        by_label_from_tags([["X"]], [["O"]])
    assert by_label_from_tags([], []) == {}
