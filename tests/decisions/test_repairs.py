"""Repairs of found mentions, on sentences written for each rule."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import ParameterError
from spanloom.base.wording import of_options
from spanloom.cli.train import train
from spanloom.corpus import Document
from spanloom.decisions.repairs import REPAIRS, agreeing_abbreviations, whole_parentheses
from spanloom.learning import LBFGS

Part = tuple[int, int]


def spans(mentions: list[Mention]) -> list[Part]:
    return [m.parts[0] for m in mentions]


@pytest.mark.parametrize(
    ("text", "found", "repaired"),
    [
        ("a ( b ) c", (0, 4), (0, 4)),  # whole
        ("a ( b ) c", (0, 3), (0, 4)),  # the closing one is next
        ("a ( b ) c", (2, 4), (1, 4)),  # the opening one is before
        ("a ( b c ) d", (0, 3), (0, 1)),  # cut where the parenthesis opens
        ("( b c d )", (0, 2), (1, 2)),  # a lonely first one goes
        ("( a b ) c d", (2, 6), (4, 6)),  # cut where it closes
        ("( a b ) c", (2, 4), (2, 3)),  # a lonely last one goes
        ("( a", (0, 1), None),  # nothing is left
        ("( a [ b", (0, 4), None),  # two without a partner
        ("a [ b ) c", (0, 5), None),
    ],
)
def test_parentheses(text: str, found: Part, repaired: Part | None) -> None:
    (done,) = whole_parentheses([Sentence(text.split())], [[Mention("g", (found,))]])
    assert spans(done) == ([] if repaired is None else [repaired])


def test_repaired_mentions_that_become_equal_are_one() -> None:
    mentions = [Mention("g", ((0, 3),)), Mention("g", ((0, 4),))]
    assert spans(whole_parentheses([Sentence(["a", "(", "b", ")"])], [mentions])[0]) == [(0, 4)]


def test_discontinuous_mentions_stay() -> None:
    mention = Mention("g", ((0, 2), (3, 4)))
    assert whole_parentheses([Sentence(["a", "(", "b", "c"])], [[mention]]) == [[mention]]


@pytest.mark.parametrize(
    ("found", "agreed"),
    [
        ([], []),
        ([(1, 4)], [(1, 4), (5, 6)]),  # the short form follows the long one
        ([(5, 6)], [(1, 4), (5, 6)]),  # and the reverse
        ([(0, 4)], [(0, 4), (5, 6)]),  # a longer mention that ends there counts
        ([(2, 3), (5, 6)], [(2, 3), (5, 6)]),  # nothing that would overlap
    ],
)
def test_abbreviations(found: list[Part], agreed: list[Part]) -> None:
    sentence = Sentence(["human", "heat", "shock", "factor", "(", "HSF", ")", "binds"])
    (done,) = agreeing_abbreviations([sentence], [[Mention("g", (part,)) for part in found]])
    assert spans(done) == agreed


def test_a_short_form_is_a_mention_everywhere_in_the_document() -> None:
    sentences = [Sentence(["heat", "shock", "factor", "(", "HSF", ")"]), Sentence(["the", "HSF", "gene", "and", "HSF"])]
    done = agreeing_abbreviations(sentences, [[Mention("g", ((0, 3),))], []])
    assert [spans(mentions) for mentions in done] == [[(0, 3), (4, 5)], [(1, 2), (4, 5)]]


def test_a_recogniser_repairs_document_by_document() -> None:
    train = [Sentence(["the", "heat", "shock", "factor", "is"], [Mention("g", ((1, 4),))])] * 3
    train += [Sentence(["the", w, "is"]) for w in ("HSF", "(", ")")]
    ner = Recognizer(features=["word"], trainer=LBFGS(l2=0.01), repairs=["abbreviations"]).fit(train)
    first = Sentence(["heat", "shock", "factor", "(", "HSF", ")"])
    other = Sentence(["HSF", "binds"])
    together = ner.predict(Document([first, other]))
    assert [spans(s.mentions) for s in together.sentences] == [[(0, 3), (4, 5)], [(0, 1)]]
    apart = ner.predict([first, other])
    assert [spans(s.mentions) for s in apart] == [[(0, 3), (4, 5)], []]
    with pytest.raises(ParameterError, match="'repairs' parameter must be one of parentheses, abbreviations"):
        Recognizer(repairs=["spelling"]).fit(train)


@pytest.mark.parametrize(("given", "one"), [("hyphens", "hyphens"), ("spelling", "parentheses"), (None, "parentheses")])
def test_a_name_is_no_list_of_repairs(given: Any, one: str) -> None:
    with pytest.raises(ParameterError, match=rf"got {given!r}; write repairs=\['{one}'\], or leave it out"):
        Recognizer(repairs=given).fit([Sentence(["a"], [Mention("g", ((0, 1),))])])
    with of_options(), pytest.raises(ParameterError, match=f"write --repair {one}, or"):
        Recognizer(repairs=given).check(False)


def test_the_help_of_training_names_all_repairs() -> None:
    """An option is described without importing what it chooses from."""
    option = inspect.signature(train, eval_str=True).parameters["repair"].annotation.__metadata__[0]
    assert option.metavar == f"[{'|'.join(REPAIRS)}]"


@pytest.mark.parametrize(
    ("text", "found", "hyphens", "punctuation"),
    [
        ("IL-2 - dependent", (0, 2), (0, 1), None),
        ("- p53 -", (0, 3), (1, 2), None),
        ("IL - 2", (0, 3), (0, 3), (0, 3)),
        ("- –", (0, 2), None, None),
        ("p53 ,", (0, 2), (0, 2), None),
        ("p ( 53 )", (0, 4), (0, 4), (0, 4)),
        ("the 5 '", (1, 3), (1, 3), (1, 3)),
        ("p53 .,", (0, 2), (0, 2), None),
    ],
)
def test_hyphens_and_punctuation_at_the_ends(
    text: str, found: Part, hyphens: Part | None, punctuation: Part | None
) -> None:
    """Hyphens are cut, other punctuation drops a mention; closing brackets and primes may end a name."""
    sentence, mention = Sentence(text.split()), Mention("g", (found,), 0.5)
    for name, expected in (("hyphens", hyphens), ("punctuation", punctuation)):
        ((*left,),) = REPAIRS[name]([sentence], [[mention]])
        assert left == ([] if expected is None else [Mention("g", (expected,), 0.5)])
        broken = Mention("g", ((0, 1), (len(sentence) - 1, len(sentence))))
        if broken.discontinuous and len(sentence) > 2:
            assert REPAIRS[name]([sentence], [[broken]]) == [[broken]]


def test_a_bracket_before_the_sentence_is_none():
    """What closes at the end of the sentence does not open before its first word."""
    tokens = ["a", ")", "b", "("]
    mention = Mention("X", ((0, 3),))
    (found,) = whole_parentheses([Sentence(tokens)], [[mention]])
    assert [m.parts for m in found] == [((2, 3),)]
