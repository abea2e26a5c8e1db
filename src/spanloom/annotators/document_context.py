"""What a first recogniser found for the same words elsewhere in the document (Krishnan & Manning 2006)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy.typing as npt

from spanloom.annotators.base import Annotator, Arrays, Fitting, OpenModel, Recognizes, opened, with_missing
from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus import Document, Mention, Sentence
from spanloom.corpus.crossfit import cross_fit
from spanloom.corpus.document import as_documents

_UNTRAINED = "document context comes from a recogniser that is trained with this annotator; use it in Recognizer"
Key = str | tuple[str, str]
"""A word, or two neighbours, in lower case."""
Found = list[list[Mention]]
"""The mentions of each sentence of a document."""


class DocumentContext(Annotator):
    """Makes ``document`` and ``document-pair``: what was found for the same words in other sentences of the document.

    A name is often clear in one sentence of a document and unclear in the next. So a first recogniser reads all
    sentences; then each word is told what it was in the others. ``document`` says which labels the word was inside of,
    and of which it was the first or the last word, each with the share of its occurrences; ``document-pair`` says
    which mentions started, ended or went on between the word before and this one. Values stand between bars, for
    ``values(…)``.

    The first recogniser has the settings of the one that uses it, with fewer iterations if those are many. It reads
    training documents by cross-fitting, so that it makes as many mistakes there as in new ones.

    Parameters
    ----------
    folds
        How many blocks of documents the training data are cut into.
    iterations
        Of the first recogniser, at most.
    name
        Of the columns; models of earlier versions call them ``elsewhere`` and ``elsewhere-pair``.

    Attributes
    ----------
    first
        The first recogniser, after training.
    """

    kind = "elsewhere"  # as in files of earlier versions
    asks = True

    def __init__(self, folds: int = 2, iterations: int = 50, name: str = "document") -> None:
        check_count("folds", folds, low=2)
        check_count("iterations", iterations)
        self.folds, self.iterations, self.name = folds, iterations, name
        self.first: Recognizes | None = None
        self.provides = (name, f"{name}-pair")
        self.templates = (f"values({name})[-1..0]", f"values({name}-pair)[-1..1]")

    def fit(self, documents: Sequence[Document], fitting: Fitting | None = None) -> tuple[Annotator, list[Document]]:
        if fitting is None:
            raise ParameterError(_UNTRAINED)
        if all(len(document.sentences) < 2 for document in documents):
            raise ParameterError(
                f"{self.name!r} reads the other sentences of a document, and no training document has two; give "
                "documents instead of sentences, or leave it out"
            )
        # A corpus that is one document is cut between sentences.
        units = documents if len(documents) > 1 else as_documents(documents[0].sentences)

        def train(rest: Sequence[Document]) -> Recognizes:
            return self._train(rest, fitting)

        flat = [mentions for found in cross_fit(units, self.folds, train, _read) for mentions in found]
        rest = iter(flat)
        found = [[next(rest) for _ in document.sentences] for document in documents]
        made = DocumentContext(self.folds, self.iterations, self.name)
        made.first = train(documents)
        return made, made._with_columns(documents, found)

    def _train(self, documents: Sequence[Document], fitting: Fitting) -> Recognizes:
        first = fitting.recognizer(self.iterations, fitting.templates)
        if first.makes is not None:
            raise ParameterError(f"{self.name!r} reads mentions, and a tagger finds none; leave it out")
        if not any(document.mentions for document in documents):
            raise ParameterError(
                f"{self.name!r} cuts the training data into {self.folds} blocks, and without one of them no mention is "
                "left to learn from; give more training data, or leave it out"
            )
        try:
            made: Recognizes = first.fit(documents, listener=fitting.listener)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("interrupted while the first recogniser was trained; nothing is kept") from None
        return made

    def use_threads(self, threads: int | None) -> None:
        if self.first is not None:
            self.first.threads = threads

    def annotate(self, documents: Sequence[Document]) -> list[Document]:
        if self.first is None:
            raise ParameterError(_UNTRAINED)
        if not any(self.is_lacking(sentence) for document in documents for sentence in document.sentences):
            return list(documents)
        return self._with_columns(documents, _read(self.first, documents))

    def _with_columns(self, documents: Sequence[Document], found: Sequence[Found]) -> list[Document]:
        """Tell each sentence what was found in the others of its document."""
        done = []
        for document, mentions in zip(documents, found, strict=True):
            seen = [_count(s, own) for s, own in zip(document.sentences, mentions, strict=True)]
            everything = _Seen()
            for own in seen:
                everything.add(own)
            sentences = []
            for sentence, own in zip(document.sentences, seen, strict=True):
                keys = zip(self.provides, _keys(sentence), strict=True)
                made = {name: [everything.beside(own, key) for key in of] for name, of in keys}
                sentences.append(with_missing(sentence, made))
            done.append(document.with_sentences(sentences))
        return done

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        if self.first is None:
            raise ParameterError("document context is kept after training, and this one has not been trained")
        arrays, header = self.first.state()
        settings = {"name": self.name, "folds": self.folds, "iterations": self.iterations}
        return arrays, {**header, "document_context": settings}

    @classmethod
    def restored(
        cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any], open_model: OpenModel | None
    ) -> DocumentContext:
        """Undo ``state``."""
        settings = header.get("document_context", {"name": "elsewhere"})
        made = cls(**settings)
        made.first = opened(open_model, arrays, {k: v for k, v in header.items() if k != "document_context"})
        return made


@dataclass
class _Seen:
    """How often words and pairs occur, and how often in which place of a mention."""

    times: Counter[Key] = field(default_factory=Counter)
    places: dict[Key, Counter[str]] = field(default_factory=dict)

    def add(self, other: _Seen) -> None:
        self.times.update(other.times)
        for key, places in other.places.items():
            self.places.setdefault(key, Counter()).update(places)

    def beside(self, own: _Seen, key: Key) -> str:
        """Describe a word or a pair by its occurrences here that are not its ``own``."""
        times = self.times[key] - own.times[key]
        if not times:
            return "new"
        often = "" if times == 1 else "+"
        less: Mapping[str, int] = own.places.get(key, {})
        shares = {place: (n - less.get(place, 0)) / times for place, n in self.places.get(key, {}).items()}
        parts = [f"{place}={_how(shares[place])}{often}" for place in sorted(shares) if shares[place]]
        return "|".join([f"known{often}", *parts])


def _how(share: float) -> str:
    return "seldom" if share < 0.34 else "half" if share < 0.67 else "mostly" if share < 1 else "always"


def _read(first: Recognizes, documents: Sequence[Document]) -> list[Found]:
    return [[sentence.mentions for sentence in document.sentences] for document in first.predict(documents)]


def _count(sentence: Sentence, mentions: Sequence[Mention]) -> _Seen:
    """Count the words and pairs of a sentence, and where they stand in its mentions."""
    at: list[set[str]] = [set() for _ in range(len(sentence))]
    gap: list[set[str]] = [set() for _ in range(len(sentence) + 1)]  # the one before the token
    for mention in mentions:
        label = mention.label.replace("|", "¦")  # bars part the values of a column
        at[mention.start].add(f"first:{label}")
        at[mention.end - 1].add(f"last:{label}")
        gap[mention.start].add(f"start:{label}")
        gap[mention.end].add(f"end:{label}")
        for start, end in mention.parts:
            for t in range(start, end):
                at[t].add(f"in:{label}")
            for t in range(start + 1, end):
                gap[t].add(f"on:{label}")
    seen = _Seen()
    words, pairs = _keys(sentence)
    for key, places in (*zip(words, at, strict=True), *zip(pairs, gap, strict=False)):
        seen.times[key] += 1
        if places:
            seen.places.setdefault(key, Counter()).update(places)
    return seen


def _keys(sentence: Sentence) -> tuple[list[Key], list[Key]]:
    words = [token.lower() for token in sentence.tokens]
    return [*words], [*pairwise(["", *words])]
