"""Tokens and sentences of the native core are those of the rules, written as regular expressions, to the character."""

from __future__ import annotations

import gzip
import unicodedata
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import sentences_reference
import tokenizer_reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spanloom import _native, read
from spanloom.corpus.sentences import split_sentences
from spanloom.corpus.tokenizer import tokenize

SAME_UNICODE = unicodedata.unidata_version == _native.unicode_version()
pytestmark = pytest.mark.skipif(not SAME_UNICODE, reason="this Python has another version of Unicode than the tables")

# What the rules speak of, and what stands in for each class of characters; İ, K (Kelvin) and ſ change case in unusual
# ways, Ⓐ is a capital but no letter, ² and Ⅷ are numbers but no decimal digits.
PIECES = [
    *"aAzZnNtTsSeE019 .,;:!?'’`\"()[]{}<>@/\\-–—_+=~#*%&$…«»“”\n\r\t\f\v\x00\x1c\x85\xa0",
    *"éÉßİıKſǅΣςⒶⓐ²½Ⅷ٣字あテ한นาα\u0301\u0308\u200b\u200d\u200c\ufeff\u2029\u2028\u3000،؟。！？．।（）［］「」＇＠",
    *"👍🏽👨🇩🇪𝐀𝟘𐐀\U000e0041\U0010ffff\ue000\u0378",
    *("n't", "N'T", "'s", "'LL", "'re", "e.g.", "U.S.", "Dr.", "dr.", "Fig.", "et al.", "Et al.", "no.", "Nos. 5"),
    *("Ph.D.", "O'Brien", "Sept.", "E. coli", "A.", "J. K.", "İ.", "vs.", "1,000", "1,0000", "1.5e-3", ".05", "1e-5x"),
    *("http://", "httpſ://x", "HTTPS://a.b/(c)", "ftp://f", "www.", "WWW.x", "a@b.c", "x.y+z@h-1.org.", "x" * 70),
    *("''", "``", "The", "by", "like", "li\u212ae", "alpha", "p53", "bcl-2", "(i)", "1.", "\n\n", "\r\n", "\n \r\n"),
    *("\r \r", "\n\u200b\n", "\r\n\r\n"),
]
WORDS = ["The", "cells", "(", ")", ".", "?", '"', "Fig.", "B", "of", "p53", "a", "-", "2"]
TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join),
)


def check(text: str) -> None:
    spans = tokenize(text)
    assert spans == tokenizer_reference.tokenize(text)
    assert split_sentences(text, spans) == sentences_reference.split_sentences(text, spans)


@given(TEXT)
@settings(max_examples=500)
@example("Ⓐ. Next")
def test_random_text_is_cut_as_by_the_rules(text: str) -> None:
    check(text)


def signature(char: str) -> tuple[object, ...]:
    """What the rules could know of a character."""
    tests = (str.isalpha, str.isalnum, str.isdigit, str.isspace, str.isupper, str.islower, str.istitle)
    return unicodedata.category(char), *(test(char) for test in tests)


@pytest.mark.slow
def test_every_code_point_is_cut_as_by_the_rules() -> None:
    """Each within a word; also halves of surrogate pairs, which a str may hold."""
    check(" ".join(f"a{chr(code)}1" for code in range(0x110000)))


def test_code_points_at_the_borders_of_classes_are_cut_as_by_the_rules() -> None:
    """Each beside letters, digits, periods and itself, and in addresses."""
    chars = [chr(code) for code in range(0x110000)]
    borders = [b for a, b in pairwise(chars) if signature(a) != signature(b)] + chars[:0x250]
    assert len(borders) > 3000
    check(" ".join(f"{c}. {c}{c}.{c}1 B{c}@x{c}.c www.{c} {c}A" for c in borders))


@given(st.text(alphabet="ab.! \n(\u0301", max_size=30), st.data())
def test_sentences_of_tokens_from_elsewhere(text: str, data: st.DataObject) -> None:
    """Tokens need not be our own: those of a corpus may overlap or leave out characters."""
    place = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).filter(lambda pair: pair[0] < pair[1])
    spans = sorted(data.draw(st.lists(place, max_size=6))) if text else []
    assert split_sentences(text, spans) == sentences_reference.split_sentences(text, spans)


PIECES = st.sampled_from([b"a", b"IL-2 gene", b"\xc3\xa4", b"\xe7\xb4\xb0", b"\xf0\x9f\x91\xa8", b"\xff", b"\xc0\xaf"])
PIECES |= st.sampled_from(
    [b"\x80", b"\xe7\xb4", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\xaf", b"abcdefgh", b" "]
)


def invalid_at(data: bytes) -> int | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


@given(st.lists(PIECES, max_size=12).map(b"".join))
def test_bytes_are_decoded_as_python_does(data: bytes) -> None:
    """Valid ones to the same characters, others refused at the place that Python names or within its sequence."""
    offsets = np.array([0, len(data)])
    text, wrong = data.decode(errors="replace"), invalid_at(data)
    if wrong is not None:
        with pytest.raises(ValueError, match="not valid UTF-8 at byte") as raised:
            _native.TokenizedTexts.of_utf8(np.frombuffer(data, np.uint8), offsets)
        assert wrong <= int(str(raised.value).rsplit(" ", 1)[1]) <= wrong + 3
        return
    cut, wanted = _native.TokenizedTexts.of_utf8(np.frombuffer(data, np.uint8), offsets), tokenize(text)
    assert list(zip(cut.start.tolist(), cut.end.tolist(), strict=True)) == [tuple(span) for span in wanted]


@pytest.mark.parametrize("spans", [[(0, 0)], [(2, 1)], [(0, 4)], [(-1, 2)], [(0, 2**40)]])
def test_tokens_outside_the_text_are_refused(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(IndexError, match="token 0"):
        split_sentences("abc", spans)


def genia(folder: Path) -> Iterator[str]:
    for article in ElementTree.parse(folder / "genia" / "GENIAcorpus3.02.xml").getroot().iter("article"):
        yield "\n".join("".join(sentence.itertext()) for sentence in article.iter("sentence"))


def gum(folder: Path) -> Iterator[str]:
    yield from (doc.text for path in sorted((folder / "gum" / "dep").glob("*.conllu")) for doc in read(path))


def bc2gm(folder: Path) -> Iterator[str]:
    for path in sorted((folder / "bc2gm").rglob("*.in")):
        yield path.read_text(encoding="utf-8")


def pubmed(folder: Path) -> Iterator[str]:
    with (folder / "pubmed" / "sentences.txt").open(encoding="utf-8") as lines:
        while chunk := list(islice(lines, 1000)):
            yield "".join(chunk)
            yield " ".join(line.strip() for line in chunk)


def lexicons(folder: Path) -> Iterator[str]:
    for path in sorted((folder / "lexicons").glob("*.tsv.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield "".join(islice(lines, 50_000))


@pytest.mark.corpus
@pytest.mark.parametrize("texts", [genia, gum, bc2gm, pubmed, lexicons])
def test_corpora_are_cut_as_by_the_rules(texts, shared_data: Path) -> None:  # type: ignore[no-untyped-def]
    count = 0
    for text in texts(shared_data):
        check(text)
        count += len(text)
    assert count > 100_000
