"""Abbreviations that a text defines itself: ``heat shock factor (HSF)``, after Schwartz & Hearst (2003).

What stands in parentheses is the short form if it is short, else the long one with the short form before the
parenthesis. The characters of the short form must occur in the long form in the same order, its first character at the
beginning of a word. The long form is the shortest stretch of words before the parenthesis for which that holds.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Part

MAX_WORDS, MAX_LENGTH = 2, 10
"""A short form has at most so many words and characters, and at least two characters."""

_WORD = re.compile(r"\S+")
_PIECE = re.compile(r"[^\s\-]+")


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """Token ranges of a long form and of its short form."""

    long: Part
    short: Part


def find_abbreviations(sentence: Sentence) -> list[Abbreviation]:
    """Return the abbreviations that a sentence defines, in reading order.

    Examples
    --------
    >>> words = "the heat shock factor ( HSF ) binds".split()
    >>> find_abbreviations(Sentence(words))
    [Abbreviation(long=(1, 4), short=(5, 6))]
    """
    text = sentence.text
    found = []
    for opens, closes in _parentheses(text):
        inner = _trim(text, opens + 1, _first_break(text, opens + 1, closes))
        before = _trim(text, 0, opens)
        if inner[0] == inner[1] or before[0] == before[1]:
            continue
        if _may_be_short(text[slice(*inner)]):
            short, area = inner, before
        else:
            last = max((match.start() for match in _WORD.finditer(text, *before)), default=before[0])
            short, area = (last, before[1]), inner
            if not _may_be_short(text[slice(*short)]):
                continue
        start = _long_start(text[slice(*short)], text[slice(*area)])
        if start is not None and _plausible(text[slice(*short)], text[area[0] + start : area[1]]):
            found.append(Abbreviation(_tokens(sentence, (area[0] + start, area[1])), _tokens(sentence, short)))
    return found


def _parentheses(text: str) -> Iterator[Part]:
    """Yield where an outermost parenthesis opens and closes."""
    depth = start = 0
    for i, char in enumerate(text):
        if char == "(":
            depth += 1
            start = i if depth == 1 else start
        elif char == ")" and depth:
            depth -= 1
            if depth == 0:
                yield start, i


def _first_break(text: str, start: int, end: int) -> int:
    """``(HSF; see below)`` and ``(HSF, or factor)``: only what stands before counts."""
    match = re.compile(r"[;,]\s").search(text, start, end)
    return match.start() if match else end


def _trim(text: str, start: int, end: int) -> Part:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _may_be_short(text: str) -> bool:
    words = text.split()
    return (
        2 <= sum(map(len, words)) <= MAX_LENGTH
        and sum(word[0].isalnum() for word in words) <= MAX_WORDS  # in tokenised text, a hyphen may be a word
        and text[0].isalnum()
        and any(char.isalpha() for char in text)
    )


def _long_start(short: str, long: str) -> int | None:
    """Where the long form starts in the text before the parenthesis: match characters from the right."""
    at = len(long)
    for k in range(len(short) - 1, -1, -1):
        char = short[k].lower()
        if not char.isalnum():
            continue
        at -= 1
        # The first character must begin a word; the others may stand anywhere.
        while at >= 0 and (long[at].lower() != char or (k == 0 and at > 0 and long[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return None
    return max(long.rfind(" ", 0, at) + 1, 0)


def _plausible(short: str, long: str) -> bool:
    size = sum(char.isalnum() for char in short)
    words = len(_PIECE.findall(long))
    return (
        len(long) > len(short)
        and words <= min(2 * size, size + 5)
        and short not in long.split()
        and not long.endswith(short)
    )


def _tokens(sentence: Sentence, chars: Part) -> Part:
    """The tokens that a character range touches."""
    starts = [start for start, _ in sentence.spans]
    first = max(bisect.bisect_right(starts, chars[0]) - 1, 0)
    return first, max(bisect.bisect_left(starts, chars[1]), first + 1)
