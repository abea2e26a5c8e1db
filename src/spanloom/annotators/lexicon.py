"""Lexicons: lists of names, found in text as whole tokens, the longest first.

A lexicon makes one column. Where an entry is found, it says which token of it stands here and of which kind it is:
``B-gene``, ``I-gene``, ``E-gene``, ``S-gene``; elsewhere ``O``.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import TokenTrie
from spanloom.annotators.base import Annotator, Arrays, Columns, Fitting, with_missing
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.parameters import check_count, check_number
from spanloom.corpus import Document, Sentence
from spanloom.corpus.crossfit import cross_fit
from spanloom.corpus.document import map_sentences
from spanloom.corpus.tags import to_tags
from spanloom.corpus.tokenizer import tokenize

NORMALISE = ("lower", "digits", "squeezed", "shape", "collapsed")
"""What can be done to tokens before they are compared: lower case, digits as 0, runs of digits as one 0, shapes."""

Entry = str | list[str] | tuple[str | list[str], str]
"""A text or its tokens; with or without a kind."""

_NAME = re.compile(r"[^\W\d][\w\-]*")


class Lexicon(Annotator):
    """Finds the entries of a list.

    Parameters
    ----------
    name
        The column is called ``lexicon-NAME``.
    entries
        Each a text, or a list of tokens; alone or in a pair with its kind. An entry of several kinds has them joined
        by ``|``; entries that are the same after normalisation are one.
    normalise
        Some of ``NORMALISE``, applied in this order to entries and texts alike.
    threads
        For finding; None for all cores.

    Examples
    --------
    >>> lexicon = Lexicon("genes", [("NF-kappa B", "protein"), "IL-2"])
    >>> lexicon.columns([Sentence(["nf", "-", "Kappa", "B", "and", "IL"])])[0]["lexicon-genes"]
    ['B-protein', 'I-protein', 'I-protein', 'E-protein', 'O', 'O']
    """

    kind = "lexicon"

    def __init__(
        self,
        name: str,
        entries: Iterable[Entry],
        *,
        normalise: Sequence[str] = ("lower",),
        threads: int | None = None,
    ) -> None:
        self._prepare(name, normalise, threads)
        kinds: dict[tuple[str, ...], dict[str, None]] = {}
        for entry in entries:
            words, kind = entry if isinstance(entry, tuple) else (entry, "")
            tokens = tuple(words[s:e] for s, e in tokenize(words)) if isinstance(words, str) else tuple(words)
            if not tokens:
                raise ParameterError(f"an entry of the lexicon {name!r} has no token: {entry!r}")
            kinds.setdefault(tokens, {})[kind] = None
        self._trie = TokenTrie(list(normalise))
        joined = _joined(self._trie, kinds)
        self.kinds = list(dict.fromkeys(joined))
        number = {kind: i for i, kind in enumerate(self.kinds)}
        self._trie.add(list(kinds), np.array([number[kind] for kind in joined], np.uint32))

    def _prepare(self, name: str, normalise: Sequence[str], threads: int | None) -> None:
        if not _NAME.fullmatch(name):
            raise ParameterError(f"the name of a lexicon is made of letters, digits, _ and -, got {name!r}")
        unknown = [one for one in normalise if one not in NORMALISE]
        if unknown:
            raise ParameterError(f"normalise takes {', '.join(NORMALISE)}; got {unknown[0]!r}")
        self.name, self.normalise, self.threads = name, tuple(normalise), threads
        column = f"lexicon-{name}"
        self.provides = (column,)
        self.templates = (f"{column}[-1..1]", f"{column}[0] & collapsed(word)[0]")

    @classmethod
    def read(cls, name: str, path: str | os.PathLike[str], **options: Any) -> Lexicon:
        """Read a file: one entry a line; in ``.tsv`` and ``.csv`` the entry and, if there is one, its kind."""
        path = Path(path)
        separator = {".tsv": "\t", ".csv": ","}.get(path.suffix)
        entries: list[Entry] = []
        try:
            with open(path, encoding="utf-8", newline="") as file:
                lines: Iterable[list[str]]
                if separator is None:
                    lines = ([line.strip()] for line in file)
                else:
                    plain = separator == "\t"
                    lines = csv.reader(
                        file, delimiter=separator, quoting=csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL
                    )
                for row in lines:
                    if row and row[0].strip():
                        entries.append((row[0], row[1].strip()) if len(row) > 1 else row[0])
        except OSError as error:
            raise CorpusError(f"{path}: cannot be read: {error.strerror}") from None
        except (UnicodeDecodeError, csv.Error) as error:
            raise CorpusError(f"{path}: not a lexicon: {error}") from None
        if not entries:
            raise CorpusError(f"{path}: the lexicon has no entry")
        return cls(name, entries, **options)

    def __len__(self) -> int:
        """Return the number of entries that differ after normalisation."""
        return self._trie.entries

    def find(self, sentences: Sequence[Sentence]) -> list[list[tuple[str, int, int]]]:
        """Return what is found in each sentence: kind, first token, one past the last."""
        ptr, flat = self._trie.match([s.tokens for s in sentences], self.threads or 0)
        found = [(self.kinds[k], s, e) for s, e, k in flat.reshape(-1, 3).tolist()]
        bounds = ptr.tolist()
        return [found[a:b] for a, b in itertools.pairwise(bounds)]

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        column = self.provides[0]
        return [
            {column: [tag.removesuffix("-") for tag in to_tags(found, len(sentence), "IOBES")]}
            for sentence, found in zip(sentences, self.find(sentences), strict=True)
        ]

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        names = ("bytes", "ends", "parents", "tokens", "kinds")
        header = {"name": self.name, "normalise": list(self.normalise), "kinds": self.kinds}
        return dict(zip(names, self._trie.state(), strict=True)), header

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> Lexicon:
        """Undo ``state``."""
        made = cls.__new__(cls)
        made._prepare(header["name"], header["normalise"], None)
        made.kinds = [str(kind) for kind in header["kinds"]]
        kinds = arrays["kinds"]
        if (kinds[kinds != 0xFFFFFFFF] >= len(made.kinds)).any():
            raise ValueError("an entry of the lexicon has a kind that is not listed")
        text, ends, parents, tokens = (
            np.ascontiguousarray(arrays[name]) for name in ("bytes", "ends", "parents", "tokens")
        )
        made._trie = TokenTrie.from_state(
            list(made.normalise), text, ends, parents, tokens, np.ascontiguousarray(kinds)
        )
        return made


def _joined(trie: TokenTrie, kinds: Mapping[tuple[str, ...], Mapping[str, None]]) -> list[str]:
    """Return the kinds of each entry, and of others that are the same after normalisation; adds them to the trie."""
    given = ["|".join(of) for of in kinds.values()]
    if len(set(given)) < 2:
        return given
    trie.add(list(kinds), np.arange(len(kinds), dtype=np.uint32))
    alike = trie.match(list(kinds))[1].reshape(-1, 3)[:, 2].tolist()  # an entry as text is found once, in whole
    shared: dict[int, dict[str, None]] = {}
    for number, of in zip(alike, kinds.values(), strict=True):
        shared.setdefault(number, {}).update(of)
    return ["|".join(shared[number]) for number in alike]


class InducedLexicon(Annotator):
    """The mentions of the training data as a lexicon, made by cross-fitting.

    A training sentence must not find its own mentions, nor those of its neighbours, which speak of the same: the model
    would learn to trust the lexicon more than it may in new text. So the documents are cut into blocks of neighbours,
    and each block is looked up in the lexicon of the others. For tagging, the lexicon of all is used.

    Parameters
    ----------
    name
        The column is called ``lexicon-NAME``.
    folds
        How many blocks.
    min_precision
        An entry stays if at least this share of its occurrences in the data it was taken from are mentions. Whatever is
        the same after normalisation counts as one entry.
    normalise
        As in ``Lexicon``.
    """

    kind = "induced"

    def __init__(
        self, name: str = "train", folds: int = 5, min_precision: float = 0.5, normalise: Sequence[str] = ("lower",)
    ) -> None:
        check_count("folds", folds, low=2)
        check_number("min_precision", min_precision, low=0)
        self.name, self.folds, self.min_precision, self.normalise = name, folds, min_precision, normalise
        self.provides = (f"lexicon-{name}",)

    def fit(self, documents: Sequence[Document], fitting: Fitting | None = None) -> tuple[Annotator, list[Document]]:
        def complete(sentences: list[Sentence]) -> list[Sentence]:
            made = cross_fit(sentences, self.folds, self._lexicon, Lexicon.columns, sizes=sizes)
            return [with_missing(sentence, columns) for sentence, columns in zip(sentences, made, strict=True)]

        sizes = [len(document.sentences) for document in documents]
        lexicon = self._lexicon([sentence for document in documents for sentence in document.sentences])
        return lexicon, map_sentences(complete, documents)

    def _lexicon(self, sentences: Sequence[Sentence]) -> Lexicon:
        entries: list[tuple[list[str], str]] = [
            (s.tokens[m.start : m.end], m.label) for s in sentences for m in s.mentions if not m.discontinuous
        ]
        left_out = self._imprecise(sentences, list(dict.fromkeys(tuple(words) for words, _ in entries)))
        return Lexicon(self.name, [one for one in entries if tuple(one[0]) not in left_out], normalise=self.normalise)

    def _imprecise(self, sentences: Sequence[Sentence], forms: list[tuple[str, ...]]) -> set[tuple[str, ...]]:
        """Return those forms of names whose occurrences, however they are written, are too rarely mentions."""
        # The kind of an entry is the numbers of all forms that are the same to the lexicon: 0|3 for Lead and lead.
        everything = Lexicon(self.name, [(list(f), str(i)) for i, f in enumerate(forms)], normalise=self.normalise)
        occurs: Counter[str] = Counter()
        right: Counter[str] = Counter()
        for sentence, found in zip(sentences, everything.find(sentences), strict=True):
            own = {(m.start, m.end) for m in sentence.mentions}
            for alike, start, end in found:
                occurs[alike] += 1
                right[alike] += (start, end) in own
        imprecise = (alike for alike in occurs if right[alike] < self.min_precision * occurs[alike])
        return {forms[int(number)] for alike in imprecise for number in alike.split("|")}

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        raise ParameterError("a lexicon that is induced from training data is used by the recogniser that is trained")

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        raise ParameterError("a lexicon that is induced from training data is kept as a Lexicon")
