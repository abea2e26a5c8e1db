"""Representations against brute force: the legal sequences are the tags of all segmentations, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from segmentations import segmentations

from spanloom.base.errors import EncodingError, ParameterError
from spanloom.corpus.mention import Mention
from spanloom.corpus.tags import SCHEMES, from_tags, to_tags
from spanloom.schemes import Segments

# "the [mouse and human HPRT genes] ( [HPRT] [X] ) fail now": lengths 5, 1, 1; outside runs of 1, 1 and 3 tokens.
CHUNKS = [("g", 1, 6), ("g", 7, 8), ("g", 8, 9)]
WRITTEN = {
    "IO": "O I-g I-g I-g I-g I-g O I-g I-g O O O",
    "IOB1": "O I-g I-g I-g I-g I-g O I-g B-g O O O",
    "IOB2": "O B-g I-g I-g I-g I-g O B-g B-g O O O",
    "IOE1": "O I-g I-g I-g I-g I-g O E-g I-g O O O",
    "IOE2": "O I-g I-g I-g I-g E-g O E-g E-g O O O",
    "IOBES": "O B-g I-g I-g I-g E-g O S-g S-g O O O",
    "BILOU": "O B-g I-g I-g I-g L-g O U-g U-g O O O",
    "BI": "B-O B-g I-g I-g I-g I-g B-O B-g B-g B-O I-O I-O",
    "IE": "E-O I-g I-g I-g I-g E-g E-O E-g E-g I-O I-O E-O",
    "BIS": "S-O B-g I-g I-g I-g I-g S-O S-g S-g B-O I-O I-O",
    "BIES": "S-O B-g I-g I-g I-g E-g S-O S-g S-g B-O I-O E-O",
    "BB2IES": "S-O B-g B2-g I-g I-g E-g S-O S-g S-g B-O B2-O E-O",
    "BB2B3IES": "S-O B-g B2-g B3-g I-g E-g S-O S-g S-g B-O B2-O E-O",
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_scheme_as_defined(scheme: str) -> None:
    assert to_tags(CHUNKS, 12, scheme) == WRITTEN[scheme].split()


def everything(scheme: str, n: int) -> tuple[Segments, set[tuple[str, ...]]]:
    """The representation over the labels a and b, and the tags of all segmentations of ``n`` tokens."""
    table = SCHEMES[scheme]
    segments = Segments(scheme, [f"{p}-{label}" for label in "ab" for p in table.prefixes])
    return segments, {tuple(to_tags(chunks, n, scheme)) for chunks in segmentations(n, ("a", "b"))}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_legal_sequences_are_the_tags_of_all_segmentations(scheme: str, n: int) -> None:
    """As many sequences pass start, neighbours and end as there are segmentations, and each of those passes."""
    segments, written = everything(scheme, n)
    size = len(segments.labels)
    ways = np.array([segments.may_start(a) for a in range(size)], np.int64)
    step = np.array([[segments.allowed(a, b) for b in range(size)] for a in range(size)], np.int64)
    for _ in range(n - 1):
        ways = ways @ step
    assert sum(w for a, w in enumerate(ways.tolist()) if segments.may_end(a)) == len(written)
    for tags in written:
        assert segments.illegal([segments.labels.index(tag) for tag in tags]) == []


@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s != "IO"])
def test_decoding_undoes_encoding(scheme: str) -> None:
    segments, _ = everything(scheme, 5)
    for chunks in segmentations(5, ("a", "b")):
        mentions = [Mention(label, ((start, end),)) for label, start, end in chunks]
        codes = segments.encode(mentions, 5)
        assert [segments.labels[c] for c in codes] == to_tags(chunks, 5, scheme)
        assert segments.decode(codes) == mentions
        assert segments.decode(codes, strict=True) == mentions


@pytest.mark.parametrize("scheme", SCHEMES)
def test_any_sequence_is_read_as_the_file_reader_reads_it(scheme: str) -> None:
    """Illegal sequences too, drawn at random; and the strict reading is the legal part of the lenient one."""
    segments, _ = everything(scheme, 1)
    random = np.random.default_rng(7)
    for _ in range(200):
        codes = random.integers(0, len(segments.labels), 6)
        lenient = from_tags([segments.labels[c] for c in codes], scheme, lambda i, m: None)
        found = segments.decode(codes)
        assert [(m.label, m.start, m.end) for m in found] == lenient
        bad = segments.illegal(codes)
        assert segments.decode(codes, strict=True) == [
            m for m in found if not any(m.start <= place <= m.end for place in bad)
        ]


@pytest.mark.parametrize(
    ("scheme", "tags", "places", "strict"),
    [
        ("IOB2", "O I-a I-a O B-a", [1], [(4, 5)]),
        ("IOBES", "B-a I-a O S-a", [2], [(3, 4)]),
        ("IOBES", "S-a B-a", [2], [(0, 1)]),
        ("BIES", "B-O E-O B-O E-O", [2], []),
        ("BIES", "B-O S-a S-O", [1], []),
        ("BB2IES", "B-a I-a E-a", [1], []),
    ],
)
def test_broken_rules_are_counted_where_they_are(
    scheme: str, tags: str, places: list[int], strict: list[tuple[int, int]]
) -> None:
    segments, _ = everything(scheme, 1)
    codes = [segments.labels.index(tag) for tag in tags.split()]
    assert segments.illegal(codes) == places
    assert [(m.start, m.end) for m in segments.decode(codes, strict=True)] == strict


def test_nothing_is_nothing() -> None:
    segments = Segments("BIES", [])
    assert segments.labels == ("B-O", "S-O", "I-O", "E-O")
    assert segments.decode(np.zeros(0, np.int32)) == []
    assert segments.illegal([]) == []
    assert segments.encode([], 0).tolist() == []


def test_a_mention_labelled_as_the_outside_is_refused() -> None:
    with pytest.raises(EncodingError, match="labelled 'O', as BIES calls the outside"):
        to_tags([("O", 0, 1)], 1, "BIES")
    assert to_tags([("O", 0, 1)], 2, "IOB2") == ["B-O", "O"]


def test_bad_labels_are_named() -> None:
    with pytest.raises(ParameterError, match=r"'S-a' is not valid in IOB2; labels are O, B-TYPE, I-TYPE"):
        Segments("IOB2", ["B-a", "S-a"])
    with pytest.raises(ParameterError, match="given twice"):
        Segments("IOB2", ["B-a", "B-a"])
    with pytest.raises(ParameterError, match="scheme must be one of IO, IOB1"):
        Segments("IOBX", [])


@given(st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=5), st.sampled_from(["IOB2", "IO", "IOE1"]))
def test_many_sentences_read_as_one_by_one(sentences, scheme):
    """Decoding a batch gives what decoding each sentence gives, empty and illegal ones too."""
    prefixes = {"IOB2": "BI", "IO": "I", "IOE1": "IE"}[scheme]
    segments = Segments(scheme, ["O", *(f"{p}-{label}" for label in "ab" for p in prefixes)])
    labels = [[code % len(segments.labels) for code in sentence] for sentence in sentences]
    ptr = np.concatenate([[0], np.cumsum([len(x) for x in labels], dtype=np.int64)]).astype(np.int64)
    flat = [code for sentence in labels for code in sentence]
    assert segments.decode_all(flat, ptr) == [segments.decode(sentence) for sentence in labels]


@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s not in ("IO", "IOB1", "IOE1")])
@given(chosen=st.sampled_from([c for n in range(1, 6) for c in segmentations(n, ("g",))]))
def test_starts_mark_every_mention_once(scheme: str, chosen: list[tuple[str, int, int]]) -> None:
    """Where beginnings or ends are always written, one label stands for each mention."""
    n = max((end for _, _, end in chosen), default=1)
    mentions = [Mention(label, ((start, end),)) for label, start, end in chosen]
    some = Segments.learn(scheme, [(mentions, n)])
    marked = [t for t, code in enumerate(some.encode(mentions, n)) if some.starts()[code] is not None]
    assert sorted(m for m in mentions for t in marked if m.start <= t < m.end) == sorted(mentions)
    assert len(marked) == len(mentions)


@pytest.mark.parametrize("scheme", ["IO", "IOB1", "IOE1"])
def test_where_neither_end_is_always_written_every_label_counts(scheme: str) -> None:
    some = Segments.learn(scheme, [([Mention("g", ((a, b),)) for a, b in ((0, 2), (2, 4), (5, 6))], 7)])
    assert [label is None for label in some.starts()] == [type_ is None for type_ in some.label_types()]
