"""Mentions and sentences made by hand: what makes no sense is told at once, with what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from spanloom import Mention, Sentence


@pytest.mark.parametrize("parts", [(0, 1), (5,), 3, ((0, 1, 2),), ((0,), (2,)), "ab", [["a", "b"]], ((0, 1), 3)])
def test_parts_that_are_no_pairs_are_told_the_form(parts: Any) -> None:
    with pytest.raises(ValueError, match=r"must be pairs of token numbers, such as \(\(0, 2\),\)"):
        Mention("x", parts)


@pytest.mark.parametrize("parts", [[[0, 2]], [(0, 1), (1, 2)], ((1, 2), (0, 1))])
def test_pairs_in_any_sequence_are_taken(parts: Any) -> None:
    assert Mention("x", parts).parts == ((0, 2),)


def test_a_mention_ends_within_its_sentence() -> None:
    assert Sentence(["a", "b"], [Mention("x", ((0, 2),))]).mentions
    for parts in (((0, 3),), ((0, 1), (2, 3))):
        with pytest.raises(ValueError, match="ends after the last of 2 tokens"):
            Sentence(["a", "b"], [Mention("x", parts)])


def test_a_string_is_no_list_of_tokens() -> None:
    with pytest.raises(
        ValueError, match=r"tokens must be a list of words, not the string 'abc'; a text is cut .*make_doc"
    ):
        Sentence("abc", [])  # type: ignore[arg-type]


def test_mentions_may_come_one_after_the_other() -> None:
    """From a generator, too: the check must not use them up."""
    mentions = [Mention("x", ((0, 1),)), Mention("y", ((1, 2),))]
    assert Sentence(["a", "b"], (m for m in mentions)).mentions == mentions  # type: ignore[arg-type]


def test_strings_are_no_places() -> None:
    with pytest.raises(ValueError, match="pairs of token numbers"):
        Mention("x", ["13"])  # type: ignore[arg-type]
