"""The rules for sentences, plainly, to hold the native splitter to.

A sentence ends at a blank line, at the end of a line that does not run on, and after ``. ! ? …`` with their closing
quotes and brackets where the next token may begin a sentence. Whether a period ends one is asked of the token before
it: an abbreviation (``Fig.``), an initial (``J. Smith``, but not ``kappa B. The``) or the number of a list item
(``1. Introduction``) does not. Nothing ends within a short pair of brackets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spanloom.corpus.mention import Part


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOPS = frozenset("。！？．｡։؟۔।॥")
_CLOSERS = frozenset([*")]}\"'”’»›」』）］｝》〉", "''"])
_OPENERS = frozenset([*"([{\"'“‘«‹「『（［｛《〈¿¡", "``", "''"])
_RUNS_ON = frozenset(",-–—/&+=<([")
_BRACKETS = {")": "(", "]": "[", "}": "{", "）": "（", "］": "［"}
_LONGEST_BRACKET = 60
"""In tokens; a longer pair may hold whole sentences, or be an accident."""

# Periods that belong to the word and are followed by the rest of the sentence, whatever its case.
_NEVER_FINAL = _words("""
    dr. mr. mrs. ms. mme. mmes. messrs. prof. hon. rev. fr. st. sts. gen. col. capt. lt. sgt. maj. cmdr. adm. sen. rep.
    reps. gov. pres. supt. fig. figs. eq. eqs. eqn. eqns. ref. refs. tab. ch. sec. sect. vol. vols. pp. no. nos. suppl.
    art. vs. cf. viz. approx. resp. esp. incl. excl. ca. i.e. e.g. var. mt. univ. dept.
""")
# Words that begin sentences and seldom follow an abbreviation or a single letter within one.
_STARTERS = _words("""
    The A An In On At By For From To With Without As If When While Where After Before Since Because Although Though
    However Thus Therefore Hence Moreover Furthermore Further Finally Here There This That These Those It Its He She
    His Her We Our They Their You Your I My Both Each All Some Most Many Several Such One Two Three No Not Only Also
    Another Other What Who Which Why How Is Are Was Were Do Does Did But And Or So Then Now Next First Second Using
    Upon Under During Among Between Unlike Like
""")
# A sentence that has come to one of these runs on: "by J. Smith", or a line that ends with "of".
_LINKS = _words("""
    a an the of by and or in on at to for from with as is was are were that which against into between both like versus
    vs. & , ( [
""")
_GREEK = _words("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu sigma tau phi chi psi omega")

_OPEN = frozenset(_BRACKETS.values())
_NOT_AT_LINE_END = _RUNS_ON | _LINKS | _NEVER_FINAL
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r|\f|\u2029")


def split_sentences(text: str, spans: Sequence[Part]) -> list[Part]:
    """Return the sentences as half-open token ranges."""
    words = [text[start:end] for start, end in spans]
    inside = _bracketed(words)
    sentences: list[Part] = []
    first = i = 0
    while i < len(words):
        last = i
        ends = False
        if _may_stop(words[i]) and not _belongs_to_word(words, spans, first, i):
            while last + 1 < len(words) and words[last + 1] in _CLOSERS and spans[last + 1][0] == spans[last][1]:
                last += 1
            ends = not inside[last] and _ends_sentence(words, spans, i, last)
        i = last + 1
        if i == len(words) or ends or _line_ends(text, words, spans, i):
            sentences.append((first, i))
            first = i
    return sentences


def _bracketed(words: Sequence[str]) -> list[bool]:
    """For each token, whether a bracket is open after it that closes again before long."""
    inside = [False] * len(words)
    openings: list[int] = []
    for i, word in enumerate(words):
        if word in _OPEN:
            openings.append(i)
        elif word in _BRACKETS and openings and words[openings[-1]] == _BRACKETS[word]:
            start = openings.pop()
            if i - start <= _LONGEST_BRACKET:
                inside[start:i] = [True] * (i - start)
    return inside


def _may_stop(word: str) -> bool:
    return word[-1] in ".!?…" or word[0] in _STOPS


def _belongs_to_word(words: Sequence[str], spans: Sequence[Part], first: int, i: int) -> bool:
    """Whether token ``i`` is the period of an initial or of a list item's number."""
    if words[i] != "." or i == first or i + 1 == len(words) or spans[i - 1][1] != spans[i][0]:
        return False
    before = words[i - 1]
    if i - 1 == first and len(before) <= 3 and (before.isdigit() or (len(before) == 1 and before.isalpha())):
        return True
    if i < 2 or not (len(before) == 1 and before.isupper()) or words[i + 1] in _STARTERS:
        return False
    earlier = words[i - 2]
    return earlier[0].isupper() or earlier == "." or earlier.lower() in _LINKS


def _ends_sentence(words: Sequence[str], spans: Sequence[Part], stop: int, last: int) -> bool:
    """Whether the stop and the closing quotes and brackets up to ``last`` end a sentence."""
    if last + 1 == len(words) or words[stop][0] in _STOPS:
        return True
    if spans[last + 1][0] == spans[last][1]:
        return False
    follower = last + 1
    while follower + 1 < len(words) and words[follower] in _OPENERS:
        follower += 1
    if last + 1 < follower < len(words) - 2 and words[follower + 1] == ")":  # (iv) The fourth
        follower += 2
    word = words[stop]
    if word[-1] == "." and word[0] != ".":  # an abbreviation or acronym
        if word.lower() in _NEVER_FINAL:
            return False
        return words[follower] in _STARTERS or (last > stop and _may_begin(words, spans, follower))
    return _may_begin(words, spans, follower)


def _may_begin(words: Sequence[str], spans: Sequence[Part], i: int) -> bool:
    """Whether token ``i`` may begin a sentence: lower case only if it looks like a symbol (``p53``, ``bcl-2``)."""
    word = words[i]
    if not word[0].islower():
        return word[0] not in ",;:)]}%/"
    if not word.islower() or any(char.isdigit() for char in word) or word in _GREEK:
        return True
    hyphen = i + 2 < len(words) and words[i + 1] == "-" and spans[i][1] + 1 == spans[i + 1][1] == spans[i + 2][0]
    return hyphen and (len(word) == 1 or not words[i + 2].islower())


def _line_ends(text: str, words: Sequence[str], spans: Sequence[Part], i: int) -> bool:
    """Whether a paragraph, title or list item ends before token ``i``."""
    gap = text[spans[i - 1][1] : spans[i][0]]
    if len(gap) < 2 and gap not in ("\n", "\r", "\f", "\u2029"):
        return False
    if _BLANK_LINE.search(gap):
        return True
    if "\n" not in gap and "\r" not in gap:
        return False
    return not (words[i][0].islower() or words[i - 1].lower() in _NOT_AT_LINE_END)
