"""Columns that depend on the whole document (Alex, Haddow & Grover 2007): what is named in its title, what it defines.

=============  =========================================================================================================
character      which regular expressions for names of proteins and genes the token matches
headword       the head of the token's noun phrase, lower case
abbreviation   ``short`` for a short form that the document defines, wherever it stands; ``long`` in a definition
title          whether the word is in a noun phrase of the title, which is the first sentence
wordcounter    whether the word is one of the ten most frequent ones of the document that are no stop words
verb           for tokens of noun phrases: the nearest verb of the sentence, its lemma if there is a column of them
font           italic, subscript and so on, where the source says so
=============  =========================================================================================================

What does not apply is ``-``. Noun phrases are runs of determiners, adjectives, numbers, participles and nouns that end
in a noun; headword, title and verb need a column ``pos`` with tags of the Penn Treebank.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from spanloom.base.errors import CorpusError
from spanloom.corpus import Sentence
from spanloom.corpus.abbreviations import find_abbreviations
from spanloom.corpus.blocks import documents
from spanloom.corpus.mention import Part

NONE = "-"
FREQUENT = 10
"""So many words of a document count as its frequent ones."""

COLUMNS = ("character", "headword", "abbreviation", "title", "wordcounter", "verb", "font")

CHARACTER = {
    "letters-number": re.compile(r"[A-Za-z]{1,6}-?\d+[A-Za-z]?"),  # IL-2, p53, CD4
    "capitals": re.compile(r"[A-Z]{2,}s?"),  # TNF, HDACs
    "capitals-greek": re.compile(r"[A-Za-z0-9]+-?(?:alpha|beta|gamma|delta|epsilon|kappa|zeta|[α-ω])", re.IGNORECASE),
    "mixed": re.compile(r"[a-z]+[A-Z][A-Za-z]*|[A-Z][a-z]+[A-Z][A-Za-z]*"),  # mRNA, lacZ, NotI
    "roman": re.compile(r"[A-Za-z]{2,}-?(?:I{1,3}|IV|VI{0,3}|IX|X)[ab]?"),  # HLA-II
    "protein-ending": re.compile(r"[A-Za-z]{2,}(?:ase|in|ins|ases|gen|globulin|kine|kines)", re.IGNORECASE),
    "kilodalton": re.compile(r"p?\d+(?:-?kDa|-?kd|-?kD)"),
}
"""Regular expressions for what names of proteins and genes look like; a token matches as a whole."""

_STOP_WORDS = """
a about after all also an and are as at be been between both but by can could did do does during each for from had has
have how however if in into is it its may more most no nor not of on one only or other our showed shown such than that
the their these they this those three through thus to two used using was we were when where which while who with within
would
"""
_STOP = frozenset(_STOP_WORDS.split())


def with_document_columns(sentences: Sequence[Sentence], sizes: Sequence[int], names: Sequence[str]) -> list[Sentence]:
    """Return the sentences with those of the columns ``names`` that are made here and that they lack.

    Parameters
    ----------
    sentences
        Of all documents, one after the other.
    sizes
        How many sentences each document has.
    names
        Columns that are asked for; those that are not in ``COLUMNS`` are left alone.

    Examples
    --------
    >>> title = Sentence("The p53 gene".split(), columns={"pos": ["DT", "NN", "NN"]})
    >>> other = Sentence("Loss of p53".split(), columns={"pos": ["NN", "IN", "NN"]})
    >>> with_document_columns([title, other], [2], ["title", "headword"])[1].columns["title"]
    ['-', '-', 'yes']
    """
    asked = [name for name in COLUMNS if name in names]
    if not asked:
        return list(sentences)
    done: list[Sentence] = []
    for place in documents(len(sentences), sizes):
        document = sentences[place.start : place.stop]
        lacking = [name for name in asked if any(name not in s.columns for s in document)]
        made = {name: _MAKERS[name](document) for name in lacking}
        for i, sentence in enumerate(document):
            missing = {name: made[name][i] for name in lacking if name not in sentence.columns}
            done.append(sentence.with_columns(missing) if missing else sentence)
    return done


def noun_phrases(sentence: Sentence) -> list[Part]:
    """Return the noun phrases of a sentence, by its column ``pos``.

    Examples
    --------
    >>> noun_phrases(Sentence("it binds the active gene".split(), columns={"pos": ["PRP", "VBZ", "DT", "JJ", "NN"]}))
    [(2, 5)]
    """
    kinds = "".join(_kind(tag) for tag in _pos(sentence))
    return [match.span() for match in _PHRASE.finditer(kinds)]


_PHRASE = re.compile("D?[MN]*N")


@functools.lru_cache(maxsize=1024)
def _kind(tag: str) -> str:
    """D: determiner; N: noun; M: what else may stand in a noun phrase; V: verb; x: the rest."""
    if tag in ("DT", "PRP$", "PDT"):
        return "D"
    if tag.startswith("NN"):
        return "N"
    if tag.startswith("JJ") or tag in ("CD", "VBG", "VBN", "HYPH"):
        return "M"
    return "V" if tag.startswith("VB") else "x"


def _pos(sentence: Sentence) -> list[str]:
    if "pos" not in sentence.columns:
        has = ", ".join(["word", *sentence.columns])
        raise CorpusError(
            f"the columns headword, title and verb need parts of speech, and the sentence {sentence.text[:60]!r} has "
            f"no column 'pos'; it has: {has}. Give annotators=[…] that make it, or choose other features"
        )
    return sentence.columns["pos"]


Made = list[list[str]]
"""A column of a document: for each sentence, a value for each token."""


def _character(document: Sequence[Sentence]) -> Made:
    return [[_matches(token) for token in sentence.tokens] for sentence in document]


@functools.lru_cache(maxsize=1 << 16)
def _matches(token: str) -> str:
    return "+".join(name for name, pattern in CHARACTER.items() if pattern.fullmatch(token)) or NONE


def _headword(document: Sequence[Sentence]) -> Made:
    made = [[NONE] * len(sentence) for sentence in document]
    for sentence, values in zip(document, made, strict=True):
        for start, end in noun_phrases(sentence):
            values[start:end] = [sentence.tokens[end - 1].lower()] * (end - start)
    return made


def _abbreviation(document: Sequence[Sentence]) -> Made:
    made = [[NONE] * len(sentence) for sentence in document]
    short: set[tuple[str, ...]] = set()
    for sentence, values in zip(document, made, strict=True):
        for found in find_abbreviations(sentence):
            short.add(tuple(sentence.tokens[slice(*found.short)]))
            values[slice(*found.long)] = ["long"] * (found.long[1] - found.long[0])
    for sentence, values in zip(document, made, strict=True):
        for form in short:
            for t in _places(sentence.tokens, form):
                values[t : t + len(form)] = ["short"] * len(form)
    return made


def _places(tokens: list[str], form: tuple[str, ...]) -> Iterator[int]:
    if form[0] in tokens:
        yield from (t for t in range(len(tokens) - len(form) + 1) if tuple(tokens[t : t + len(form)]) == form)


def _title(document: Sequence[Sentence]) -> Made:
    title = document[0]
    named = {title.tokens[t].lower() for start, end in noun_phrases(title) for t in range(start, end)} - _STOP
    return _members(document, named)


def _wordcounter(document: Sequence[Sentence]) -> Made:
    words = (token.lower() for sentence in document for token in sentence.tokens)
    counts = Counter(word for word in words if word not in _STOP and any(map(str.isalpha, word)))
    # Ties go by the alphabet, so that the order of equals does not depend on anything else.
    frequent = sorted(counts, key=lambda word: (-counts[word], word))[:FREQUENT]
    return _members(document, set(frequent))


def _members(document: Sequence[Sentence], words: set[str]) -> Made:
    return [["yes" if token.lower() in words else NONE for token in sentence.tokens] for sentence in document]


def _verb(document: Sequence[Sentence]) -> Made:
    made = [[NONE] * len(sentence) for sentence in document]
    for sentence, values in zip(document, made, strict=True):
        inside = [t for start, end in noun_phrases(sentence) for t in range(start, end)]
        verbs = [t for t, tag in enumerate(_pos(sentence)) if _kind(tag) == "V"]
        lemmas = sentence.columns.get("lemma", sentence.tokens)
        for t in inside if verbs else ():
            values[t] = lemmas[min((abs(verb - t), verb) for verb in verbs)[1]].lower()
    return made


def _font(document: Sequence[Sentence]) -> Made:
    return [[NONE] * len(sentence) for sentence in document]


_MAKERS = {
    "character": _character,
    "headword": _headword,
    "abbreviation": _abbreviation,
    "title": _title,
    "wordcounter": _wordcounter,
    "verb": _verb,
    "font": _font,
}
