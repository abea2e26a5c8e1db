"""Tokens keep their places, follow the rules, and cost linear time."""

from __future__ import annotations

import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.base.errors import ParameterError
from spanloom.corpus.tokenizer import make_document, tokenize

# The expected tokens are separated by blanks, or by | where a token is listed beside its neighbour.
RULES = {
    "hyphens": ("IL-2 and NF-kappa B", "IL|-|2|and|NF|-|kappa|B"),
    "slashes and plus": ("CD4+/CD8+ cells", "CD4|+|/|CD8|+|cells"),
    "isotopes in brackets": ("[3H]thymidine", "[|3H|]|thymidine"),
    "units": ("5 ng/ml, 37°C", "5|ng|/|ml|,|37|°|C"),
    "decimals": ("3.5 or 0.05.", "3.5|or|0.05|."),
    "bare decimals": ("p<.05", "p|<|.05"),
    "versions": ("v 1.2.3", "v|1.2.3"),
    "exponents": ("1e-5 or 2.5E+10 but 4E-BP1", "1e-5|or|2.5E+10|but|4E|-|BP1"),
    "thousands": ("1,000 and 12,345,678.90", "1,000|and|12,345,678.90"),
    "lists of numbers": ("1,2,3 and 1,25-dihydroxy", "1|,|2|,|3|and|1|,|25|-|dihydroxy"),
    "money": ("$5.00, 10%", "$|5.00|,|10|%"),
    "acronyms": ("e.g. the U.S. at 9 a.m.", "e.g.|the|U.S.|at|9|a.m."),
    "abbreviations": ("Dr. Wu et al. (Fig. 2) vs. Co.", "Dr.|Wu|et|al.|(|Fig.|2|)|vs.|Co."),
    "numero": ("No. 5, and no.", "No.|5|,|and|no|."),
    "species": ("E. coli grew.", "E.|coli|grew|."),
    "final single letter": ("vitamin C.", "vitamin|C|."),
    "negation": ("don't DON'T can’t", "do|n't|DO|N'T|ca|n’t"),
    "clitics": ("John's they'll I’m", "John|'s|they|'ll|I|’m"),
    "inner apostrophes": ("O'Brien d’Italia", "O'Brien|d’Italia"),
    "primes": ("5'-end", "5|'|-|end"),
    "ellipses": ("wait... what…", "wait|...|what|…"),
    "runs": ("no!?! --- a--b", "no|!?!|---|a|--|b"),
    "quotes": ("\"yes\" ``no'' «oui» 'a'", "\"|yes|\"|``|no|''|«|oui|»|'|a|'"),
    "dashes": ("1990–2000 a—b", "1990|–|2000|a|—|b"),
    "url": ("see http://x.org/a_(b)?q=1,2#z).", "see|http://x.org/a_(b)?q=1,2#z|)|."),
    "bare url": ("(www.example.org/x-y/)", "(|www.example.org/x-y/|)"),
    "mail": ("to: a.b-c+d@mail.example.org.", "to|:|a.b-c+d@mail.example.org|."),
    "mail within a url": ("http://x.org/@me and me@x.org", "http://x.org/@me|and|me@x.org"),
    "lone at signs": ("a@b @c d@", "a|@|b|@|c|d|@"),
    "Greek": ("TGF-β1 and αβ", "TGF|-|β1|and|αβ"),
    "Cyrillic": ("Привет, мир!", "Привет|,|мир|!"),
    "superscripts": ("cm² ½", "cm²|½"),
    "Chinese": ("我是中国人。", "我|是|中|国|人|。"),
    "Japanese": ("テスト", "テ|ス|ト"),
    "Korean": ("한국어 말", "한국어|말"),
    "Thai": ("ที่นี่", "ที่|นี่"),
    "combining marks": ("cafe\u0301s a\u0308", "cafe\u0301s|a\u0308"),
    "Devanagari": ("नमस्ते", "नमस्ते"),
    "emoji": ("ok👍🏽👨‍👩‍👧!", "ok|👍🏽|👨‍👩‍👧|!"),
    "flags": ("🇩🇪🇫🇷", "🇩🇪|🇫🇷"),
    "keycap": ("1️⃣", "1️⃣"),
    "zero-width space and byte order mark": ("\ufeffa\u200bb", "a|b"),
    "underscores": ("snake_case", "snake_case"),
}


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in tokenize(text)]


def is_blank(char: str) -> bool:
    """The documented definition of what belongs to no token."""
    return char.isspace() or unicodedata.category(char) == "Cc" or char in "\u200b\ufeff"


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: str) -> None:
    """Each rule holds on an example written for it."""
    text, expected = RULES[rule]
    assert words(text) == expected.split("|")


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000\x00"])
def test_blank_text_has_no_tokens(text: str) -> None:
    assert tokenize(text) == []


@given(st.one_of(st.text(), st.text(alphabet="aA1.,'-@:/ \n()e\u0301\u200d👍🇩n t", max_size=40)))
def test_tokens_cover_the_text_exactly(text: str) -> None:
    """Tokens are ascending, disjoint, not empty, free of blanks, and every other character is in one."""
    covered: list[int] = []
    for start, end in tokenize(text):
        assert start < end
        covered.extend(range(start, end))
    assert covered == [i for i, char in enumerate(text) if not is_blank(char)]


@given(st.text(alphabet=st.characters(categories=["Ll", "Mn"]), min_size=1, max_size=8))
def test_combining_marks_never_begin_a_token_after_a_letter(tail: str) -> None:
    starts = {start for start, _ in tokenize("a" + tail)}
    text = "a" + tail
    assert not [i for i in starts if i > 0 and unicodedata.category(text[i]) == "Mn"]


ADVERSARIAL = [
    "a", "a.", "1", "1,111", "1,", "1.", "1e-", "a'", "n't", "dn'", "@", "a@", "a@a.", ".@", "www.", "http://a", "://",
    "(", "[", "'", ".", "-", "e.g. ", "al. ", "Dr. ", "é", "e\u0301", "\u0301", "👨\u200d", "🇩", "字", "\n", " ",
]  # fmt: skip


@pytest.mark.parametrize("unit", ADVERSARIAL)
def test_time_is_linear(unit: str) -> None:
    """Linear rules take about 0.1 s for this; a quadratic one would take ten seconds at a nanosecond a step."""
    text = unit * (150_000 // len(unit))
    start = time.process_time()
    tokenize(text)
    assert time.process_time() - start < 3


def test_a_megabyte_of_adversarial_text() -> None:
    """All patterns in one text, through tokens and sentences; seconds, where a quadratic rule would take hours."""
    text = "".join(unit * (1_000_000 // len(ADVERSARIAL) // len(unit)) for unit in ADVERSARIAL)
    start = time.process_time()
    make_document(text)
    assert time.process_time() - start < 30


def test_document_keeps_text_and_places() -> None:
    """Characters of tokens and sentences are those of the text they came from."""
    text = "  IL-2 binds.\n\n  It acts "
    document = make_document(text, id="x")
    assert (document.id, document.text) == ("x", text)
    assert [s.text for s in document] == ["IL-2 binds.", "It acts"]
    assert [text[a:b] for a, b in document.spans] == document.tokens == ["IL", "-", "2", "binds", ".", "It", "acts"]


def test_document_of_blank_text_is_empty() -> None:
    document = make_document(" \n ")
    assert document.sentences == []
    assert document.text == " \n "


def test_own_tokenizer_and_splitter() -> None:
    document = make_document(
        "ab cd", tokenizer=lambda t: [(0, 1), (1, 2), (3, 5)], splitter=lambda t, s: [(0, 2), (2, 3)]
    )
    assert [s.tokens for s in document] == [["a", "b"], ["cd"]]


@pytest.mark.parametrize("spans", [[(0, 0)], [(1, 0)], [(-1, 1)], [(0, 6)], [(0, 2), (1, 3)], [(3, 5), (0, 2)]])
def test_bad_tokenizer_is_named(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ParameterError, match=r"tokenizer returned .* for token \d"):
        make_document("ab cd", tokenizer=lambda _: spans)


@pytest.mark.parametrize("ranges", [[(0, 0)], [(1, 2)], [(0, 3)], [(0, 1)], [(0, 1), (0, 2)], []])
def test_bad_splitter_is_named(ranges: list[tuple[int, int]]) -> None:
    with pytest.raises(ParameterError, match="splitter returned"):
        make_document("ab cd", splitter=lambda *_: ranges)


@pytest.mark.corpus
def test_token_boundaries_of_english_web_text(shared_data: Path) -> None:
    """Against the gold tokens of UD English-EWT (train), whose text is given as it was written."""
    right = wrong = missed = 0
    for block in (shared_data / "uner-ewt" / "en_ewt-ud-train.conllu").read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if line and line[0] != "#"]
        rows = [row for row in rows if row[0].isdigit()]
        text = next((line[9:] for line in block.splitlines() if line.startswith("# text = ")), "")
        gold: set[tuple[int, int]] = set()
        at = 0
        for row in rows:
            at = text.find(row[1], at)
            if at < 0:
                break
            gold.add((at, at + len(row[1])))
            at += len(row[1])
        if at < 0:
            continue
        found = set(tokenize(text))
        right, wrong, missed = right + len(gold & found), wrong + len(found - gold), missed + len(gold - found)
    assert right > 190_000
    assert 2 * right / (2 * right + wrong + missed) > 0.975
