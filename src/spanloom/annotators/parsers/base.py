"""What a parser is, and how sentences get its trees.

A tree is in a sentence's columns ``head`` (numbers from 1, 0 for a root) and ``deprel``, as in CoNLL-U.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spanloom.annotators.parsers.cache import Cache, Tree, remembered
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.parameters import part_option
from spanloom.corpus.document import Sentence


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
    def parse(self, sentences: Sequence[Sentence]) -> list[Tree]:
        """Return the columns ``head`` and ``deprel`` of each sentence, and those that it made on the way."""


def make_parser(spec: str) -> Parser:
    """Return the parser that a text names: ``udpipe:MODEL`` or ``spacy:PIPELINE``, with ``?cache=FOLDER`` if wanted."""
    from spanloom.annotators.parsers.spacy import SpacyParser
    from spanloom.annotators.parsers.udpipe import UDPipeParser

    kind, _, rest = spec.partition(":")
    if kind not in ("udpipe", "spacy") or not rest:
        raise ParameterError(f"a parser is udpipe:MODEL or spacy:PIPELINE, got {spec!r}")
    name, options = part_option(rest, "cache")
    parser: Parser = UDPipeParser(name) if kind == "udpipe" else SpacyParser(name)
    return CachedParser(parser, options["cache"]) if options else parser


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

    def parse(self, sentences: Sequence[Sentence]) -> list[Tree]:
        return remembered(sentences, self._parser.parse, self._store)


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
    wanted = [i for i, s in enumerate(given) if len(s) and (again or "head" not in s.columns)]
    engine = parser if cache is None else CachedParser(parser, cache)
    seen = [_untagged(given[i]) if retag else given[i] for i in wanted]
    trees = dict(zip(wanted, engine.parse(seen) if seen else (), strict=True))
    return [_plant(sentence, trees[i]) if i in trees else sentence for i, sentence in enumerate(given)]


def _untagged(sentence: Sentence) -> Sentence:
    return replace(sentence, columns={n: c for n, c in sentence.columns.items() if n not in ("upos", "pos")})


def _plant(sentence: Sentence, tree: Tree) -> Sentence:
    return Sentence(
        sentence.tokens,
        sentence.mentions,
        {**sentence.columns, **tree},
        sentence.text,
        sentence.spans,
        sentence.features,
        sentence.meta,
    )


@dataclass(frozen=True, slots=True)
class Attachment:
    """How many words of ``words`` have the right head, and the right head with the right label."""

    words: int
    unlabelled: int
    labelled: int

    @property
    def uas(self) -> float:
        """Unlabelled attachment score."""
        return self.unlabelled / self.words if self.words else 1.0

    @property
    def las(self) -> float:
        """Labelled attachment score; labels count up to the first colon, as is usual for Universal Dependencies."""
        return self.labelled / self.words if self.words else 1.0


def attachment(gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> Attachment:
    """Compare trees word by word.

    Examples
    --------
    >>> gold = [Sentence(["a", "gene"], columns={"head": ["2", "0"], "deprel": ["det", "root"]})]
    >>> found = [Sentence(["a", "gene"], columns={"head": ["2", "0"], "deprel": ["amod", "root"]})]
    >>> score = attachment(gold, found)
    >>> score.uas, score.las
    (1.0, 0.5)
    """
    if len(gold) != len(parsed):
        raise CorpusError(f"{len(gold)} gold sentences cannot be compared with {len(parsed)} parsed ones")
    words = unlabelled = labelled = 0
    for number, (g, p) in enumerate(zip(gold, parsed, strict=True)):
        if len(g) != len(p) or any(name not in s.columns for s in (g, p) for name in ("head", "deprel") if len(s)):
            raise CorpusError(
                f"sentence {number} has no tree with labels on one side (columns 'head' and 'deprel'), or other "
                "tokens; there is nothing to compare"
            )
        words += len(g)
        for i in range(len(g)):
            right = g.columns["head"][i] == p.columns["head"][i]
            unlabelled += right
            labelled += right and _label(g, i) == _label(p, i)
    return Attachment(words, unlabelled, labelled)


def _label(sentence: Sentence, i: int) -> str:
    return sentence.columns["deprel"][i].partition(":")[0]
