"""Tokenizers with a name: what each switch does, sentences, and that the native path cuts alike."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom._native import TokenizedTexts
from spanloom._native import TokenRules as NativeRules
from spanloom.base.errors import ParameterError
from spanloom.corpus import TokenRules, make_document
from spanloom.corpus.token_rules import BASES, SWITCHES

TEXTS = st.text(alphabet="ab Z9.,:;-'’/&%+()!\n_é", max_size=60)
RULES = st.builds(
    TokenRules,
    st.sampled_from(BASES),
    st.lists(st.sampled_from(list(SWITCHES)), unique=True).map(tuple),
    st.lists(st.sampled_from(["a", "Zb"]), unique=True).map(tuple),
)


def cut(name: str, text: str, *abbreviations: str) -> str:
    rules = TokenRules.named(name)
    rules = TokenRules(rules.base, rules.switches, abbreviations)
    return " ".join(text[start:end] for start, end in rules(text))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("default", "T-cell ng/ml don't", "T - cell ng / ml do n't"),
        ("default,hyphens", "a T-cell-like - pre- -x", "a T-cell-like - pre - - x"),
        ("default,hanging", "pre- and post-war", "pre- and post - war"),
        ("default,slashes", "3 ng/ml a / b", "3 ng/ml a / b"),
        ("default,apostrophes", "don't John's 80'erne 'quoted'", "don't John's 80'erne ' quoted '"),
        ("default,apostrophes", "don’t John’s", "don’t John’s"),
        ("default,elision", "l'homme qu'il", "l' homme qu' il"),
        ("default,periods", "f.eks. bl.a. node.js. end.", "f.eks. bl.a. node.js. end ."),
        ("default,ordinals", "3. maj 1995. Den 4. Maj", "3. maj 1995 . Den 4 . Maj"),
        ("default,initials", "J. Smith saw B.", "J. Smith saw B ."),
        ("default,commas", "9,5 a,b 9, 5", "9,5 a , b 9 , 5"),
        ("default,colons", "12:30 a:b", "12:30 a : b"),
        ("default,ampersands", "AT&T a & b", "AT&T a & b"),
        ("default,percent", "5% a%", "5% a %"),
        ("default,plus", "CD4+ a + b", "CD4+ a + b"),
        ("default,contractions", "Cannot gonna wanna not", "Can not gon na wan na not"),
        ("space", "T-cell, (left).", "T-cell, (left)."),
        ("punctuation", "T-cell, 3.5 (left).", "T - cell , 3 . 5 ( left ) ."),
    ],
)
def test_switches(name, text, expected):
    """Written by hand from what ``SWITCHES`` says."""
    assert cut(name, text) == expected


def test_abbreviations_keep_their_period():
    assert cut("default", "9 mill. kr. Kr. og kroner.", "mill", "kr") == "9 mill. kr. Kr . og kroner ."
    assert cut("default", "kr... kr.", "kr") == "kr ... kr."


@given(RULES, TEXTS)
def test_every_character_is_in_one_token(rules, text):
    spans = rules(text)
    assert all(a < b for a, b in spans)
    assert all(e <= s for (_, e), (s, _) in pairwise(spans))
    covered = "".join(text[s:e] for s, e in spans)
    assert covered == re.sub(r"\s", "", text)
    if rules.base == "space" and "elision" not in rules.switches:
        assert [text[s:e] for s, e in spans] == text.split()


@given(RULES, st.lists(TEXTS, max_size=4))
def test_native_texts_are_cut_like_documents(rules, texts):
    """Tokens and sentences of the short way are those of ``make_document``."""
    cut = TokenizedTexts(texts, 1, rules.native)
    documents = [make_document(text, "", rules, rules.split) for text in texts]
    assert list(zip(cut.start, cut.end, strict=True)) == [span for doc in documents for span in doc.spans]
    lengths = [len(s) for doc in documents for s in doc.sentences]
    assert (cut.token_ptr[1:] - cut.token_ptr[:-1]).tolist() == lengths


def test_sentences_end_between_tokens_of_white_space():
    """They are found with tokens of our rules, which see the period of ``left.``; a break in a token yields."""
    rules = TokenRules("space")
    doc = make_document("He left. She came (late). They saw.", "", rules, rules.split)
    assert [s.tokens for s in doc.sentences] == [["He", "left."], ["She", "came", "(late)."], ["They", "saw."]]


def test_names():
    assert TokenRules.named("default, hyphens").name == "default,hyphens"
    assert NativeRules.switch_names == list(SWITCHES)
    with pytest.raises(ParameterError, match="no tokenizer 'spaces'; there are default, space, punctuation"):
        TokenRules.named("spaces")
    with pytest.raises(ParameterError, match="no switch 'hyphen'; there are hyphens"):
        TokenRules.named("default,hyphen")
    rules = TokenRules("default", ("hyphens",), ("kr",))
    assert TokenRules.from_json(rules.to_json()) == rules
