"""Native transformations against plain Python."""

from __future__ import annotations

import unicodedata

import pytest
from feature_oracle import view_values
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import _native
from spanloom.features import FeatureSet
from spanloom.features.grammar import parse_view

SAME_UNICODE = unicodedata.unidata_version == _native.unicode_version()
PLAIN = FeatureSet(["bias"])

VIEWS = [
    "word",
    "lower(word)",
    "shape(word)",
    "collapsed(word)",
    "digits(word)",
    "squeezed(word)",
    "length(word)",
    "values(word)",
    "prefix(word, 1..4)",
    "suffix(word, 2..3)",
    "ngrams(word, 1..3)",
    "flags(word)",
    "flags(word, both)",
    "shape(suffix(lower(word), 1..3))",
    "flags(prefix(word, 1..2), both, all_caps, has_digit)",
]


def comparable(char: str) -> bool:
    """Characters that Unicode has not touched since 3.2, if the tables are of another version than this Python."""
    return SAME_UNICODE or unicodedata.ucd_3_2_0.category(char) == unicodedata.category(char) != "Cn"


text = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]).filter(comparable),
        st.sampled_from(
            "aZz09.-/'()[]{},|+_ACGTUIVXLCDM\N{GREEK SMALL LETTER ALPHA}\u0130\u01c5\u0301\U0001d400\U00010400"
        ),
    ),
    max_size=12,
)


@pytest.mark.parametrize("view", VIEWS)
@given(text=text)
@settings(max_examples=150, deadline=None)
def test_native_view_equals_python(view: str, text: str) -> None:
    """Every view gives what its definition in Python gives, on any Unicode text."""
    assert PLAIN.values(view, text) == view_values(parse_view(view), text)


@pytest.mark.parametrize("view", ["lower(word)", "shape(word)", "digits(word)"])
def test_every_code_point(view: str) -> None:
    """No code point is classed or lowered differently from Python's unicodedata."""
    parsed = parse_view(view)
    for start in range(0, 0x110000, 0x1000):
        chars = (chr(code) for code in range(start, start + 0x1000) if not 0xD800 <= code < 0xE000)
        block = "".join(filter(comparable, chars))
        assert PLAIN.values(view, block) == view_values(parsed, block), f"within 4096 of U+{start:04X}"


@pytest.mark.parametrize("start", [0, 0x1F00, 0x2000, 0xFE00, 0x1D000])
def test_finer_classes_of_code_points(start: int) -> None:
    """Dashes, other punctuation, symbols and Greek letters are told apart as by unicodedata."""
    view = "flags(word, greek_letter, has_hyphen, has_symbol, punctuation)"
    parsed = parse_view(view)
    for char in filter(comparable, map(chr, range(start, start + 0x400))):
        assert PLAIN.values(view, char) == view_values(parsed, char), f"U+{ord(char):04X}"


@pytest.mark.parametrize(
    ("word", "flags"),
    [
        ("IL-2", "has_digit has_hyphen initial_capital letters_and_digits ends_with_digit"),
        ("XIV", "all_caps alphanumeric initial_capital roman_numeral"),
        ("IIII", "all_caps alphanumeric initial_capital"),
        ("J.", "has_dot initial_capital lonely_initial"),
        ("London", "alphanumeric initial_capital title_case"),
        ("NF-kappa", "has_hyphen initial_capital inner_capital greek_name"),
        ("alpha", "alphanumeric all_lower greek_name"),
        ("\N{GREEK SMALL LETTER BETA}", "alphanumeric all_lower single_char greek_letter"),
        ("1,234.5", "has_digit has_dot real_number starts_with_digit ends_with_digit has_comma"),
        ("2007", "all_digits alphanumeric has_digit starts_with_digit ends_with_digit"),
        ("http://x.org", "has_dot url has_slash"),
        ("www.x.org", "has_dot url"),
        ("GATTACA", "all_caps alphanumeric initial_capital dna_sequence"),
        ("...", "has_dot punctuation"),
        ("--", "has_hyphen punctuation starts_with_hyphen ends_with_hyphen"),
        ("$", "punctuation single_char has_symbol"),
        ("don't", "has_apostrophe"),
        ("", ""),
    ],
)
def test_flags_of_known_words(word: str, flags: str) -> None:
    """Orthographic flags, judged by hand."""
    assert set(PLAIN.values("flags(word)", word)) == set(flags.split())


def test_shapes_by_hand() -> None:
    """Capitals, small letters, digits and the rest; marks vanish; letters without case are c."""
    assert PLAIN.values("shape(word)", "IL-2Rα") == ["XX-9Xx"]
    assert PLAIN.values("collapsed(word)", "IL-2Rα") == ["X-9Xx"]
    assert PLAIN.values("collapsed(word)", "Jan12345!!") == ["Xx9!"]
    assert PLAIN.values("shape(word)", "e\u0301東京٣") == ["xcc9"]
    assert PLAIN.values("squeezed(word)", "1,024kb77") == ["0,0kb0"]
    assert PLAIN.values("digits(word)", "1,024kb77") == ["0,000kb00"]


def test_affixes_reach_as_far_as_the_word() -> None:
    """Affixes longer than the word are left out; n-grams that repeat count once; characters are code points."""
    assert PLAIN.values("prefix(word, 2..4)", "gen") == ["ge", "gen"]
    assert PLAIN.values("suffix(word, 1..3)", "𝔸𝔹") == ["𝔹", "𝔸𝔹"]
    assert PLAIN.values("ngrams(word, 1..2)", "aaa") == ["a", "aa"]
    assert PLAIN.values("ngrams(word, 1..2)", "") == []


def test_clusters_are_cut_and_stand_once() -> None:
    """A path shorter than two of the lengths gives one value, an unknown word none."""
    table = FeatureSet(["cluster(word, brown, 2, 4, 6)"], resources={"brown": {"gene": ["01101"], "of": ["10"]}})
    assert table.values("cluster(word, brown, 2, 4, 6)", "gene") == ["01", "0110", "01101"]
    assert table.values("cluster(word, brown, 4, 2, 6)", "of") == ["10"]
    assert table.values("cluster(word, brown, 2)", "other") == []
    assert table.values("lookup(lower(word), brown)", "Gene") == ["01101"]
