"""What a parser is, and how sentences get its trees.

A tree is in a sentence's columns ``head`` (numbers from 1, 0 for a root) and ``deprel``, as in CoNLL-U.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spanloom.corpus.document import Sentence
from spanloom.errors import CorpusError, ParameterError
from spanloom.parsers.cache import Cache, Tree, remembered


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
    """Return the parser that a text names: ``udpipe:MODEL`` or ``spacy:PIPELINE``."""
    from spanloom.parsers.spacy import SpacyParser
    from spanloom.parsers.udpipe import UDPipeParser

    kind, _, name = spec.partition(":")
    if kind == "udpipe" and name:
        return UDPipeParser(name)
    if kind == "spacy" and name:
        return SpacyParser(name)
    raise ParameterError(f"a parser is udpipe:MODEL or spacy:PIPELINE, got {spec!r}")


def with_trees(
    sentences: Iterable[Sentence], parser: Parser, *, again: bool = False, cache: Path | None = None
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
    cache
        A folder that keeps trees by the content of the sentence and the parser's identity, so that nothing is parsed
        twice.
    """
    given = list(sentences)
    store = Cache(cache, parser.identity, parser.reads) if cache is not None else None
    wanted = [i for i, s in enumerate(given) if len(s) and (again or "head" not in s.columns)]
    trees = dict(zip(wanted, remembered([given[i] for i in wanted], parser.parse, store), strict=True))
    return [_plant(sentence, trees[i]) if i in trees else sentence for i, sentence in enumerate(given)]


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
    words = unlabelled = labelled = 0
    for number, (g, p) in enumerate(zip(gold, parsed, strict=True)):
        if "head" not in g.columns or "head" not in p.columns or len(g) != len(p):
            raise CorpusError(
                f"sentence {number} has no tree on one side, or other tokens; there is nothing to compare"
            )
        words += len(g)
        for i in range(len(g)):
            right = g.columns["head"][i] == p.columns["head"][i]
            unlabelled += right
            labelled += right and _label(g, i) == _label(p, i)
    return Attachment(words, unlabelled, labelled)


def _label(sentence: Sentence, i: int) -> str:
    return sentence.columns["deprel"][i].partition(":")[0]
