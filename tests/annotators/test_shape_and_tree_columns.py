"""Columns that follow from the words or the tree alone: Stanford's shapes, sizes of valid spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Document, Sentence
from spanloom.annotators import Pipeline, ValidSizes
from spanloom.annotators.word_shapes import jenny1
from spanloom.base.errors import CorpusError


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("Shlomo", "Xx"),
        ("USA", "X:3"),
        ("Al", "Xx:2"),
        ("x", "x:1"),
        ("1998", "d"),
        ("12", "d:2"),
        ("$3.50", "$d.d"),
        ("--", "-:2"),
        ("TNF-alpha", "X-g"),
        ("alphabeta2", "gd"),
        ("Alpha", "Xx"),
        ("Łódź", "Xx"),
    ],
)
def test_shapes_by_hand(word: str, shape: str) -> None:
    """Classes, runs as one, names of Greek letters in lower case, the length of words of up to three characters."""
    assert jenny1(word) == shape


def chained(heads: list[int], start: int, end: int) -> bool:
    """Whether a chain of arcs leads from the first to the last token, by definition 1 of Jie, Muis & Lu (2017)."""
    if start == end:
        return True
    joined = {(min(i, h - 1), max(i, h - 1)) for i, h in enumerate(heads) if h}
    return any((start, middle) in joined and chained(heads, middle, end) for middle in range(start + 1, end + 1))


@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
def test_sizes_are_those_of_the_valid_spans_that_end_at_a_token(heads: list[int]) -> None:
    heads = [0 if head == i + 1 else head for i, head in enumerate(heads)]
    sentence = Sentence(["w"] * len(heads), columns={"head": [str(head) for head in heads]})
    (columns,) = ValidSizes().columns([sentence])
    for end, sizes in enumerate(columns["valid-sizes"]):
        expected = [end - start + 1 for start in range(end, -1, -1) if chained(heads, start, end)]
        assert [int(size) for size in sizes.split("|")] == expected


def test_both_are_made_where_they_are_wanted_and_trees_are_asked_for() -> None:
    doc = Document([Sentence(["Al", "won"], columns={"head": ["2", "0"]})])
    (done,) = Pipeline.of([]).annotate([doc], wanted=["jenny1", "valid-sizes"])
    assert done.sentences[0].columns["jenny1"] == ["Xx:2", "x:3"]
    assert done.sentences[0].columns["valid-sizes"] == ["1", "1|2"]
    with pytest.raises(CorpusError, match="head"):
        Pipeline.of([]).annotate([Document([Sentence(["Al"])])], wanted=["valid-sizes"])
