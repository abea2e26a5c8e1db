"""Words with tags to sentences and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.base.errors import EncodingError, ParameterError
from spanloom.corpus import Mention, Sentence, from_tags, to_layers, to_tags
from spanloom.corpus.tags import SCHEMES


@st.composite
def contiguous(draw: st.DrawFn) -> Sentence:
    n = draw(st.integers(1, 6))
    starts = st.integers(0, n - 1)
    places = draw(st.lists(starts.flatmap(lambda s: st.tuples(st.just(s), st.integers(s + 1, n))), max_size=5))
    mentions = {Mention(draw(st.sampled_from("ab")), (place,)) for place in places}
    return Sentence([f"w{i}" for i in range(n)], sorted(mentions))


@given(contiguous(), st.sampled_from(sorted(set(SCHEMES) - {"IO"})))
def test_layers_come_back(sentence: Sentence, scheme: str) -> None:
    """Whatever nests or crosses; only IO cannot part neighbours of one label."""
    layers = to_layers(sentence, scheme=scheme)
    back = from_tags(sentence.tokens, *layers, scheme=scheme)
    assert sorted(back.mentions) == sentence.mentions
    assert (back.tokens, all(len(layer) == len(sentence) for layer in layers)) == (sentence.tokens, True)


def test_one_layer() -> None:
    """Written by hand, with columns."""
    words, tags = ["Anna", "Bell", "left", "Oslo"], ["I-PER", "I-PER", "O", "I-LOC"]
    sentence = from_tags(words, tags, scheme="IOB1", columns={"pos": ["N", "N", "V", "N"]})
    assert sentence.mentions == [Mention("PER", ((0, 2),)), Mention("LOC", ((3, 4),))]
    assert sentence.columns == {"pos": ["N", "N", "V", "N"]}
    assert to_tags(sentence) == ["B-PER", "I-PER", "O", "B-LOC"]
    assert to_tags(from_tags([], [])) == []


def test_what_does_not_fit_says_why() -> None:
    nested = Sentence(["a", "b"], [Mention("x", ((0, 1),)), Mention("y", ((0, 2),))])
    with pytest.raises(EncodingError, match=r"both x \(\(0, 1\),\) and y \(\(0, 2\),\), which overlap; to_layers"):
        to_tags(nested)
    with pytest.raises(EncodingError, match="discontinuous mention x"):
        to_tags(Sentence(["a", "b", "c"], [Mention("x", ((0, 1), (2, 3)))]))
    with pytest.raises(ParameterError, match="2 tokens but 1 tags"):
        from_tags(["a", "b"], ["O"])
    with pytest.raises(ParameterError, match=r"token 1 'b': tag 'Q' is not O or"):
        from_tags(["a", "b"], ["O", "Q"])
    with pytest.raises(ParameterError, match=r"token 1 'b'.*not valid in IOB2"):
        from_tags(["a", "b"], ["O", "I-x"], scheme="IOB2")
    with pytest.raises(ParameterError, match="'scheme' parameter must be one of auto, IO"):
        from_tags([], [], scheme="BIOX")
