"""Tag sequences of every scheme: written out by hand, and random."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.corpus.tags import SCHEMES, Chunk, from_tags, to_tags

# [a a] [a] o [b] : two touching mentions of one label, a gap, a single one of another label.
CHUNKS = [("a", 0, 2), ("a", 2, 3), ("b", 4, 5)]
WRITTEN = {
    "IOB1": "I-a I-a B-a O I-b",
    "IOB2": "B-a I-a B-a O B-b",
    "IOE1": "I-a E-a I-a O I-b",
    "IOE2": "I-a E-a E-a O E-b",
    "IOBES": "B-a E-a S-a O S-b",
    "BILOU": "B-a L-a U-a O U-b",
}


def fail(token: int, message: str) -> None:
    pytest.fail(f"{token}: {message}")


@pytest.mark.parametrize("scheme", WRITTEN)
def test_each_scheme_as_defined(scheme: str) -> None:
    tags = WRITTEN[scheme].split()
    assert to_tags(CHUNKS, 5, scheme) == tags
    assert from_tags(tags, scheme, fail) == CHUNKS
    assert from_tags(tags, "auto", fail) == CHUNKS


@st.composite
def chunked(draw: st.DrawFn) -> tuple[int, list[Chunk]]:
    cuts = draw(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["", "a", "b"])), max_size=6))
    chunks, at = [], 0
    for length, label in cuts:
        if label:
            chunks.append((label, at, at + length))
        at += length
    return at, chunks


@given(chunked(), st.sampled_from([s for s in SCHEMES if s != "IO"]))
def test_reading_undoes_writing(sentence: tuple[int, list[Chunk]], scheme: str) -> None:
    length, chunks = sentence
    assert from_tags(to_tags(chunks, length, scheme), scheme, fail) == chunks


@pytest.mark.parametrize(
    ("scheme", "tags", "token", "chunks"),
    [
        ("IOB2", "O I-a I-a", 1, [("a", 1, 3)]),
        ("IOB2", "B-a I-b", 1, [("a", 0, 1), ("b", 1, 2)]),
        ("IOB1", "B-a O", 0, [("a", 0, 1)]),
        ("IOE2", "I-a O", 0, [("a", 0, 1)]),
        ("IOE1", "E-a O", 0, [("a", 0, 1)]),
        ("IOBES", "B-a O", 0, [("a", 0, 1)]),
        ("IOBES", "S-a I-a E-a", 1, [("a", 0, 1), ("a", 1, 3)]),
        ("BILOU", "B-a E-a", 1, [("a", 0, 1)]),
        ("auto", "X-a B-a", 0, [("a", 1, 2)]),
        ("auto", "B- B-a", 0, [("a", 1, 2)]),
    ],
)
def test_broken_rules_are_reported_at_their_token(scheme: str, tags: str, token: int, chunks: list[Chunk]) -> None:
    places: list[int] = []
    assert from_tags(tags.split(), scheme, lambda i, message: places.append(i)) == chunks
    assert places[0] == token


def test_io_joins_touching_mentions_of_one_label() -> None:
    assert from_tags(to_tags(CHUNKS, 5, "IO"), "IO", fail) == [("a", 0, 3), ("b", 4, 5)]
