"""Columns that depend on the whole document (Alex, Haddow & Grover 2007): what is named in its title, what it defines.

==================  ====================================================================================================
character           which regular expressions for names of proteins and genes the token matches
headword            the head of the token's noun phrase, lower case
abbreviation        ``short`` for a short form that the document defines, wherever it stands; ``long`` in a definition
abbreviation-term   for a short form whose long form is a whole entry of lexicons: their names, wherever it stands
title               whether the word is in a noun phrase of the title, which is the first sentence
wordcounter         whether the word is one of the ten most frequent ones of the document that are no stop words
verb                for tokens of noun phrases: the nearest verb of the sentence, its lemma if there is a column of them
verb-lemma          the same, with a lemma by rule (``verb_lemmas``) if there is no column of them
font                italic, subscript and so on, where the source says so
==================  ====================================================================================================

What does not apply is ``-``. Noun phrases are those of ``noun_phrases.ENDING``; headword, title and verb need a column
``pos`` with tags of the Penn Treebank. Lexicons are those of annotators (columns ``lexicon-NAME``).
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from spanloom.annotators.base import Annotator, with_missing
from spanloom.annotators.noun_phrases import ENDING
from spanloom.annotators.verb_lemmas import verb_lemma
from spanloom.base.errors import CorpusError
from spanloom.corpus import Document, Sentence
from spanloom.corpus.abbreviations import find_abbreviations
from spanloom.corpus.mention import Part

NONE = "-"
FREQUENT = 10
"""So many words of a document count as its frequent ones."""

COLUMNS = (
    "character",
    "headword",
    "abbreviation",
    "abbreviation-term",
    "title",
    "wordcounter",
    "verb",
    "verb-lemma",
    "font",
)
_BY_PHRASE = frozenset({"headword", "title", "verb", "verb-lemma"})
LEXICONS = "lexicon-"
"""How columns of lexicons begin."""

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


class DocumentColumn(Annotator):
    """Makes one of ``COLUMNS``, where features read it.

    Parameters
    ----------
    name
        Of the column.

    Examples
    --------
    >>> title = Sentence("The p53 gene".split(), columns={"pos": ["DT", "NN", "NN"]})
    >>> other = Sentence("Loss of p53".split(), columns={"pos": ["NN", "IN", "NN"]})
    >>> (done,) = DocumentColumn("title").annotate([Document([title, other])])
    >>> done.sentences[1].columns["title"]
    ['-', '-', 'yes']
    """

    def __init__(self, name: str) -> None:
        self.provides = (name,)
        self.requires = ("pos",) if name in _BY_PHRASE else ()
        self._make = _MAKERS[name]

    def annotate(self, documents: Sequence[Document]) -> list[Document]:
        self.check_required(sentence for document in documents for sentence in document.sentences)
        return [self._completed(doc) if any(map(self.is_lacking, doc)) else doc for doc in documents]

    def _completed(self, document: Document) -> Document:
        name = self.provides[0]
        made = zip(document.sentences, self._make(document.sentences), strict=True)
        return document.with_sentences([with_missing(sentence, {name: values}) for sentence, values in made])


Made = list[list[str]]
"""A column of a document: for each sentence, a value for each token."""


def _phrases(sentence: Sentence) -> list[Part]:
    """Return the noun phrases; none where there is no ``pos``, as in sentences that have the column from the data."""
    return ENDING.phrases(sentence.tokens, _tags(sentence))


def _tags(sentence: Sentence) -> list[str]:
    return sentence.columns.get("pos", ["_"] * len(sentence))


def _character(document: Sequence[Sentence]) -> Made:
    return [[_matches(token) for token in sentence.tokens] for sentence in document]


@functools.lru_cache(maxsize=1 << 16)
def _matches(token: str) -> str:
    return "+".join(name for name, pattern in CHARACTER.items() if pattern.fullmatch(token)) or NONE


def _headword(document: Sequence[Sentence]) -> Made:
    made = [[NONE] * len(sentence) for sentence in document]
    for sentence, values in zip(document, made, strict=True):
        for start, end in _phrases(sentence):
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


def _abbreviation_term(document: Sequence[Sentence]) -> Made:
    terms: dict[tuple[str, ...], set[str]] = {}
    if document and not any(name.startswith(LEXICONS) for sentence in document for name in sentence.columns):
        raise CorpusError(f"abbreviation-term needs a column {LEXICONS}NAME; put an annotator lexicon:NAME=FILE before")
    for sentence in document:
        for found in find_abbreviations(sentence):
            names = {
                name for name in sentence.columns if name.startswith(LEXICONS) and _is_entry(sentence, name, found.long)
            }
            terms.setdefault(tuple(sentence.tokens[slice(*found.short)]), set()).update(names)
    made = [[NONE] * len(sentence) for sentence in document]
    for sentence, values in zip(document, made, strict=True):
        for form, names in terms.items():
            for t in _places(sentence.tokens, form) if names else ():
                values[t : t + len(form)] = ["+".join(sorted(n.removeprefix(LEXICONS) for n in names))] * len(form)
    return made


def _is_entry(sentence: Sentence, name: str, part: Part) -> bool:
    """Whether a stretch of tokens is one entry of a lexicon, by the tags in its column."""
    tags = "".join(tag[0] for tag in sentence.columns[name][slice(*part)])
    return tags == "S" or (len(tags) > 1 and tags == f"B{'I' * (len(tags) - 2)}E")


def _places(tokens: list[str], form: tuple[str, ...]) -> Iterator[int]:
    if form[0] in tokens:
        yield from (t for t in range(len(tokens) - len(form) + 1) if tuple(tokens[t : t + len(form)]) == form)


def _title(document: Sequence[Sentence]) -> Made:
    title = document[0]
    named = {title.tokens[t].lower() for start, end in _phrases(title) for t in range(start, end)} - _STOP
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
    return _nearest_verb(document, lambda sentence: sentence.tokens)


def _verb_lemma(document: Sequence[Sentence]) -> Made:
    return _nearest_verb(document, lambda sentence: list(map(verb_lemma, sentence.tokens, _tags(sentence))))


def _nearest_verb(document: Sequence[Sentence], otherwise: Callable[[Sentence], list[str]]) -> Made:
    made = [[NONE] * len(sentence) for sentence in document]
    for sentence, values in zip(document, made, strict=True):
        inside = [t for start, end in _phrases(sentence) for t in range(start, end)]
        verbs = [t for t, tag in enumerate(_tags(sentence)) if ENDING.letter(tag) == "V"]
        lemmas = sentence.columns.get("lemma") or otherwise(sentence)
        for t in inside if verbs else ():
            values[t] = lemmas[min((abs(verb - t), verb) for verb in verbs)[1]].lower()
    return made


def _font(document: Sequence[Sentence]) -> Made:
    return [[NONE] * len(sentence) for sentence in document]


_MAKERS = {
    "character": _character,
    "headword": _headword,
    "abbreviation": _abbreviation,
    "abbreviation-term": _abbreviation_term,
    "title": _title,
    "wordcounter": _wordcounter,
    "verb": _verb,
    "verb-lemma": _verb_lemma,
    "font": _font,
}
