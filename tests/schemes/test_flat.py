"""What flat schemes hold, and how mention sets are made flat."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Mention
from spanloom.base.errors import ParameterError
from spanloom.schemes import first_misfit, flatten

N = 6


@st.composite
def mention_sets(draw):
    """Up to five mentions of any kind over six tokens."""
    mentions = set()
    for _ in range(draw(st.integers(0, 5))):
        tokens = sorted(draw(st.sets(st.integers(0, N - 1), min_size=1)))
        mentions.add(Mention(draw(st.sampled_from("ab")), [(t, t + 1) for t in tokens]))
    return sorted(mentions)


def is_flat(mentions) -> bool:
    """By definition: contiguous, and no two share a token."""
    tokens = [set(m.tokens) for m in mentions]
    together = all(len(t) == max(t) - min(t) + 1 for t in tokens)
    return together and all(a.isdisjoint(b) for a, b in itertools.combinations(tokens, 2))


@given(mention_sets())
def test_a_misfit_is_found_exactly_where_a_set_is_not_flat(mentions):
    """``first_misfit`` answers None for flat sets only."""
    assert (first_misfit(mentions) is None) == is_flat(mentions)


@given(mention_sets(), st.sampled_from(["longest", "outermost", "innermost"]))
def test_flatten_keeps_a_maximal_flat_subset(mentions, keep):
    """What stays is flat, nothing is invented, and nothing that left could have stayed beside the rest."""
    kept, lost = flatten(mentions, keep)
    assert is_flat(kept)
    assert sorted(kept + lost) == mentions
    for mention in lost:
        assert mention.discontinuous or not is_flat([*kept, mention])


def test_choices_by_hand():
    """Of [human [TCF-1] protein] the longest and the outermost is the whole, the innermost TCF-1."""
    outer, inner = Mention("protein", ((1, 6),)), Mention("protein", ((2, 5),))
    assert flatten([inner, outer], "longest")[0] == [outer]
    assert flatten([inner, outer], "outermost")[0] == [outer]
    assert flatten([inner, outer], "innermost")[0] == [inner]


def test_unknown_choice():
    """The allowed words are in the message."""
    with pytest.raises(ParameterError, match="longest, outermost, innermost, got 'widest'"):
        flatten([], "widest")
