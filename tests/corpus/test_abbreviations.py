"""Abbreviations: the rules of Schwartz & Hearst on sentences written for them."""

from __future__ import annotations

import pytest

from spanloom.corpus import Sentence
from spanloom.corpus.abbreviations import find_abbreviations
from spanloom.corpus.tokenizer import tokenize


def pairs(text: str) -> list[tuple[str, str]]:
    spans = tokenize(text)
    sentence = Sentence([text[s:e] for s, e in spans], text=text, spans=spans)

    def surface(tokens: tuple[int, int]) -> str:
        return text[spans[tokens[0]][0] : spans[tokens[1] - 1][1]]

    return [(surface(a.long), surface(a.short)) for a in find_abbreviations(sentence)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We study heat shock factor (HSF) in yeast.", [("heat shock factor", "HSF")]),
        ("A Gcn5-related N-acetyltransferase (GNAT) was found.", [("Gcn5-related N-acetyltransferase", "GNAT")]),
        ("The nuclear factor kappa B (NF-kB) moves.", [("nuclear factor kappa B", "NF-kB")]),
        ("HSF (heat shock factor) binds.", [("heat shock factor", "HSF")]),
        (
            "the estrogen receptor (ER; also a gene) and prolactin (PRL)",
            [("estrogen receptor", "ER"), ("prolactin", "PRL")],
        ),
        # The shortest stretch that matches: not "tumor ... tumor necrosis factor".
        ("a tumor with tumor necrosis factor (TNF)", [("tumor necrosis factor", "TNF")]),
    ],
)
def test_definitions_are_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The protein (see below) binds.",  # nothing that the letters fit
        "It rose twofold (2) in mice.",  # one character
        "It rose (1995) in mice.",  # no letter
        "Cells (HSF) grow.",  # letters do not occur
        "the gene HSF (HSF) is here",  # the long form is the short one
        "a b (",
        "(HSF) begins",
        "()",
        "",
        "We add a good many further words before kappa (gk) here",  # g … k would be more than four words
    ],
)
def test_what_is_no_definition(text: str) -> None:
    assert pairs(text) == []


def test_tokens_given_without_a_text() -> None:
    words = ["the", "heat", "shock", "factor", "(", "HSF", ")", "and", "insulin", "(", "INS", ")"]
    assert [(a.long, a.short) for a in find_abbreviations(Sentence(words))] == [((1, 4), (5, 6)), ((8, 9), (10, 11))]
