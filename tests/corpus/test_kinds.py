"""The kinds of mentions, against their definitions on token sets, pair by pair."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.corpus.kinds import MENTION_KINDS, kinds
from spanloom.corpus.mention import Mention


def token_sets(length: int = 7) -> st.SearchStrategy[list[list[Mention]]]:
    tokens = st.sets(st.integers(0, length - 1), min_size=1, max_size=4)
    mention = st.builds(lambda label, ts: Mention(label, tuple((t, t + 1) for t in ts)), st.sampled_from("ab"), tokens)
    return st.lists(st.lists(mention, max_size=6), max_size=4)


def by_definition(sentence: list[Mention], m: Mention) -> dict[str, bool]:
    """The table of the module's docstring, word for word."""
    own = set(m.tokens)
    others = [(o.label, set(o.tokens)) for o in sentence if o != m]
    overlapping = any(own & o for _, o in others)
    embedded = any(own < o for _, o in others)
    containing = any(o < own for _, o in others)
    return {
        "flat": len(m.parts) == 1 and not overlapping,
        "overlapping": overlapping,
        "same_type_overlapping": any(own & o for label, o in others if label == m.label),
        "nested": embedded or containing,
        "embedded": embedded,
        "containing": containing,
        "same_type_nested": any(label == m.label and (own < o or o < own) for label, o in others),
        "crossing": any(own & o and not own <= o and not o <= own for _, o in others),
        "same_span": any(own == o for _, o in others),
        "discontinuous": len(m.parts) > 1,
    }


def depth(sentence: list[Mention], m: Mention) -> int:
    return 1 + max((depth(sentence, o) for o in sentence if set(m.tokens) < set(o.tokens)), default=0)


@settings(max_examples=150, deadline=None)
@given(token_sets())
def test_every_kind_equals_its_definition(sentences: list[list[Mention]]) -> None:
    found = kinds(sentences)
    pairs = [(sentence, m) for sentence in sentences for m in sentence]
    for kind in MENTION_KINDS:
        assert found[kind].tolist() == [by_definition(sentence, m)[kind] for sentence, m in pairs], kind
    assert found.depth.tolist() == [depth(sentence, m) for sentence, m in pairs]
    assert found.sentence.tolist() == [k for k, sentence in enumerate(sentences) for _ in sentence]


def test_hand_worked_sentence() -> None:
    """'[[IL-2 receptor] alpha chain] and [beta …] [chain]' with a crossing pair and a label on the same tokens."""
    sentence = [
        Mention("protein", ((0, 2),)),  # inside the next, same label
        Mention("protein", ((0, 4),)),
        Mention("DNA", ((0, 4),)),  # same tokens, other label
        Mention("protein", ((0, 1), (5, 6))),  # discontinuous; crosses all three above
        Mention("RNA", ((7, 9),)),
    ]
    found = kinds([sentence])
    assert found.flat.tolist() == [False, False, False, False, True]
    assert found.embedded.tolist() == [True, False, False, False, False]
    assert found.same_type_nested.tolist() == [True, True, False, False, False]
    assert found.same_span.tolist() == [False, True, True, False, False]
    assert found.crossing.tolist() == [True, True, True, True, False]
    assert found.depth.tolist() == [2, 1, 1, 1, 1]


def test_no_mentions() -> None:
    assert len(kinds([])) == 0
    assert len(kinds([[], []])) == 0


def test_many_sentences_do_not_see_each_other() -> None:
    found = kinds([[Mention("a", ((0, 3),))], [Mention("a", ((1, 2),))]] * 1000)
    assert np.all(found.flat)
