"""Parsers as annotators: dependency trees for sentences that have none.

A tree is in a sentence's columns ``head`` (numbers from 1, 0 for a root) and ``deprel``, as in CoNLL-U.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from spanloom.annotators.base import Annotator, Arrays, Columns
from spanloom.annotators.cache import Cache, remembered
from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus import Document, Sentence
from spanloom.corpus.crossfit import cross_fit
from spanloom.corpus.document import map_sentences

HEAD, DEPREL = "head", "deprel"
_TAGS = ("upos", "pos")


class Parser(ABC):
    """Makes trees.

    Attributes
    ----------
    identity
        Names the parser and what it has learned: two parsers with one identity give the same trees. Caches go by it.
    reads
        The columns that it reads if a sentence has them, besides the words.
    """

    identity: str
    reads: tuple[str, ...] = ()

    @abstractmethod
    def parse(self, sentences: Sequence[Sentence]) -> list[Columns]:
        """Return the columns ``head`` and ``deprel`` of each sentence, and others that it made on the way."""


class CachedParser(Parser):
    """Another parser that parses nothing twice: trees are kept by the content of sentences and by its identity.

    Parameters
    ----------
    parser
        Where new trees come from.
    folder
        Where they are kept.
    """

    def __init__(self, parser: Parser, folder: str | os.PathLike[str]) -> None:
        self._parser = parser
        self._store = Cache(Path(folder), parser.identity, parser.reads)
        self.identity, self.reads = parser.identity, parser.reads

    def parse(self, sentences: Sequence[Sentence]) -> list[Columns]:
        return remembered(sentences, self._parser.parse, self._store)


class Trees(Annotator):
    """Makes ``head`` and ``deprel`` by a parser, where features or the model read them.

    A model file keeps only the reference of a parser. After loading, the parser is looked for there when the first
    sentence without a tree comes; if it is not there, or is an object of yours, give it again.

    Parameters
    ----------
    parser
        Where trees come from; None to open the reference when a tree is needed.
    reference
        Such as ``"udpipe:FILE"``; the model file keeps it.
    """

    kind = "parser"
    provides = (HEAD, DEPREL)

    def __init__(self, parser: Parser | None, reference: str = "") -> None:
        self._parser, self.reference = parser, reference

    @classmethod
    def cached(cls, parser: Parser, folder: str | os.PathLike[str] | None) -> Trees:
        """Make one that keeps trees in a folder, if there is one."""
        return cls(parser if folder is None else CachedParser(parser, folder))

    @property
    def parser(self) -> Parser:
        """The parser, opened if it is not yet."""
        if self._parser is None:
            self._parser = self._open()
        return self._parser

    def _open(self) -> Parser:
        lost = "this model reads dependency trees, and its file does not hold the parser"
        again = "give it again: --parser udpipe:FILE, Recognizer.load(…, annotators=[…]), or give sentences with trees"
        if not self.reference:
            raise ParameterError(f"{lost}, which was an object of yours; {again}")
        from spanloom.annotators.references import parser  # here: references import this module

        try:
            return parser(self.reference).parser
        except ParameterError as error:
            raise ParameterError(f"{lost}, which was {self.reference!r}: {error}; {again}") from None

    def is_lacking(self, sentence: Sentence) -> bool:
        return bool(len(sentence)) and HEAD not in sentence.columns

    def annotate(self, documents: Sequence[Document]) -> list[Document]:
        if not any(self.is_lacking(sentence) for document in documents for sentence in document.sentences):
            return list(documents)
        return map_sentences(lambda sentences: with_trees(sentences, self.parser), documents)

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return {}, {"reference": self.reference}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> Trees:
        """Undo ``state``; the parser is opened when it is needed."""
        return cls(None, str(header["reference"]))


def with_trees(
    sentences: Iterable[Sentence],
    parser: Parser,
    *,
    again: bool = False,
    retag: bool = False,
    cache: str | os.PathLike[str] | None = None,
) -> list[Sentence]:
    """Return the sentences with trees.

    Parameters
    ----------
    sentences
        With or without trees.
    parser
        Where the trees come from.
    again
        Also parse sentences that have a tree. Otherwise they stay as they are.
    retag
        Let the parser find the parts of speech itself, as in text that has none; those of the sentences are replaced.
    cache
        A folder for a ``CachedParser``.
    """
    given = list(sentences)
    wanted = [i for i, s in enumerate(given) if len(s) and (again or HEAD not in s.columns)]
    engine = parser if cache is None else CachedParser(parser, cache)
    seen = [_untagged(given[i]) if retag else given[i] for i in wanted]
    trees = dict(zip(wanted, engine.parse(seen) if seen else (), strict=True))
    return [sentence.with_columns(trees[i]) if i in trees else sentence for i, sentence in enumerate(given)]


def _untagged(sentence: Sentence) -> Sentence:
    columns = {name: values for name, values in sentence.columns.items() if name not in _TAGS}
    return Sentence(
        sentence.tokens, sentence.mentions, columns, sentence.text, sentence.spans, sentence.features, sentence.meta
    )


def cross_fit_trees(
    documents: Sequence[Document],
    train: Callable[[Sequence[Sentence]], Parser],
    *,
    folds: int = 5,
    retag: bool = False,
    cache: str | os.PathLike[str] | None = None,
) -> list[Document]:
    """Return documents with predicted instead of gold trees, each by a parser that was not trained on it.

    A model that is to work with predicted trees must also learn from such; a parser's trees for its own training
    sentences would be too good. Parsing calls this jackknifing.

    Parameters
    ----------
    documents
        With gold trees.
    train
        Learns a parser from the sentences of the other blocks.
    folds
        How many blocks; see ``spanloom.corpus.crossfit.blocks``.
    retag, cache
        See ``with_trees``.
    """
    check_count("folds", folds, low=2)
    sizes = [len(document.sentences) for document in documents]

    def parse(parser: Parser, sentences: list[Sentence]) -> list[Sentence]:
        return with_trees(sentences, parser, again=True, retag=retag, cache=cache)

    return map_sentences(lambda sentences: cross_fit(sentences, folds, train, parse, sizes=sizes), documents)
