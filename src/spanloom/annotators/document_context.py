"""What a first recogniser found for the same words elsewhere in the document (Krishnan & Manning 2006)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from spanloom.annotators.base import Annotator, Arrays, Fitting
from spanloom.base.errors import ParameterError
from spanloom.base.parameters import check_count
from spanloom.corpus import Document, Mention, Sentence
from spanloom.corpus.blocks import blocks, documents, without

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer

WORD, PAIR = "elsewhere", "elsewhere-pair"
_ALONE = "what stands elsewhere is found by a recogniser that is trained with this annotator"
Key = str | tuple[str, str]
"""A word, or two neighbours, in lower case."""


class Elsewhere(Annotator):
    """Makes ``elsewhere`` and ``elsewhere-pair``: how the other sentences of the document were read at a first look.

    A name is often clear in one sentence of a document and unclear in the next. So a first recogniser looks at all
    sentences; then each word is told what it was in the others. ``elsewhere`` says which labels the word was inside of,
    and of which it was the first or the last word, each with the share of its occurrences; ``elsewhere-pair`` says
    which mentions started, ended or went on between the word before and this one. Values stand between bars, for
    ``values(…)``.

    The first recogniser has the settings of the one that uses it, with fewer iterations if those are many. It looks at
    training documents by cross-fitting, so that they are read as badly as new ones.

    Parameters
    ----------
    folds
        How many blocks of documents the training data are cut into.
    iterations
        Of the first recogniser, at most.
    """

    kind = "elsewhere"
    provides = (WORD, PAIR)
    looks = True
    templates = (f"values({WORD})[-1..0]", f"values({PAIR})[-1..1]")

    def __init__(self, folds: int = 2, iterations: int = 50) -> None:
        check_count("folds", folds, low=2)
        check_count("iterations", iterations)
        self.folds, self.iterations = folds, iterations
        self.first: Recognizer | None = None

    def fit(self, sentences: Sequence[Sentence], fitting: Fitting | None = None) -> tuple[Annotator, list[Sentence]]:
        if fitting is None:
            raise ParameterError(_ALONE)
        groups = _grouped(sentences, fitting.sizes)
        if all(len(doc.sentences) < 2 for doc in groups):
            raise ParameterError(
                f"{self.kind!r} looks at the other sentences of a document, and no training document has two; give "
                "documents instead of sentences, or leave it out"
            )
        if len(groups) < self.folds:  # a corpus without documents counts as one
            groups = [Document([sentence]) for sentence in sentences]
        looked: list[list[Mention]] = []
        for block in blocks(len(groups), self.folds):
            first = self._learn(without(groups, block), fitting)
            looked += _look_at(first, groups[block.start : block.stop])
        made = Elsewhere(self.folds, self.iterations)
        made.first = self._learn(_grouped(sentences, fitting.sizes), fitting)
        return made, _with_columns(sentences, looked, fitting.sizes)

    def _learn(self, docs: Sequence[Document], fitting: Fitting) -> Recognizer:
        first = fitting.recognizer(self.iterations)
        if first.target is not None:
            raise ParameterError(
                f"{self.kind!r} tells of mentions found elsewhere, and a recogniser with a target finds none"
            )
        if not any(doc.mentions for doc in docs):
            raise ParameterError(
                f"{self.kind!r} cuts the training data into {self.folds} parts, and without one of them there is no "
                "mention left to learn from; there are too few for a first look"
            )
        try:
            return first.fit(docs, listener=fitting.listener)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("interrupted during the first look at the training data; nothing is kept") from None

    @property
    def recognizers(self) -> tuple[Recognizer, ...]:
        return () if self.first is None else (self.first,)

    def annotate(self, sentences: Sequence[Sentence], sizes: Sequence[int] | None = None) -> list[Sentence]:
        if self.first is None:
            raise ParameterError(_ALONE)
        if all(name in sentence.columns for sentence in sentences for name in self.provides):
            return list(sentences)
        return _with_columns(sentences, _look_at(self.first, _grouped(sentences, sizes)), sizes)

    def columns(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        return [{name: s.columns[name] for name in self.provides} for s in self.annotate(sentences)]

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        if self.first is None:
            raise ParameterError("an annotator of what stands elsewhere is kept after training")
        return self.first.state()

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> Elsewhere:
        """Undo ``state``."""
        from spanloom.recognizer import Recognizer

        made = cls()
        made.first = Recognizer.from_state(arrays, header)
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


def _grouped(sentences: Sequence[Sentence], sizes: Sequence[int] | None) -> list[Document]:
    return [Document([sentences[i] for i in document]) for document in documents(len(sentences), sizes)]


def _look_at(first: Recognizer, docs: Sequence[Document]) -> list[list[Mention]]:
    return [sentence.mentions for doc in first.predict(docs) for sentence in doc.sentences]


def _with_columns(
    sentences: Sequence[Sentence], found: Sequence[Sequence[Mention]], sizes: Sequence[int] | None
) -> list[Sentence]:
    """Tell each sentence what was found in the others of its document."""
    done: list[Sentence] = []
    for document in documents(len(sentences), sizes):
        seen = [_look(sentences[i], found[i]) for i in document]
        everything = _Seen()
        for own in seen:
            everything.add(own)
        for i, own in zip(document, seen, strict=True):
            words, pairs = _keys(sentences[i])
            made = {WORD: [everything.beside(own, k) for k in words], PAIR: [everything.beside(own, k) for k in pairs]}
            done.append(sentences[i].with_columns({n: made[n] for n in made if n not in sentences[i].columns}))
    return done


def _look(sentence: Sentence, mentions: Sequence[Mention]) -> _Seen:
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
