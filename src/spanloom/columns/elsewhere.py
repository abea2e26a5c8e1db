"""What a first recogniser found for the same words elsewhere in the document (Krishnan & Manning 2006)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from spanloom.columns.base import Annotator, Arrays, Fitting, documents
from spanloom.corpus import Mention, Sentence
from spanloom.corpus.blocks import blocks, without
from spanloom.errors import ParameterError
from spanloom.parameters import check_count

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

    The first recogniser has the settings of the one that uses it, with fewer iterations. It looks at training sentences
    by cross-fitting, so that they are read as badly as new ones.

    Parameters
    ----------
    folds
        How many blocks the training data are cut into.
    iterations
        Of the first recogniser, at most.
    """

    kind = "elsewhere"
    provides = (WORD, PAIR)
    templates = (f"values({WORD})[-1..0]", f"values({PAIR})[-1..1]")

    def __init__(self, folds: int = 2, iterations: int = 50) -> None:
        check_count("folds", folds, low=2)
        check_count("iterations", iterations)
        self.folds, self.iterations = folds, iterations
        self.first: Recognizer | None = None

    def fit(self, sentences: Sequence[Sentence], fitting: Fitting | None = None) -> tuple[Annotator, list[Sentence]]:
        if fitting is None:
            raise ParameterError(_ALONE)
        looked: list[Sentence] = []
        for block in blocks(len(sentences), self.folds):
            first = self._learn(without(sentences, block), fitting)
            looked += first.predict(sentences[block.start : block.stop])
        made = Elsewhere(self.folds, self.iterations)
        made.first = self._learn(sentences, fitting)
        return made, _with_columns(sentences, [s.mentions for s in looked], fitting.sizes)

    def _learn(self, sentences: Sequence[Sentence], fitting: Fitting) -> Recognizer:
        first = fitting.recognizer()
        if first.target is not None:
            raise ParameterError(
                f"{self.kind!r} tells of mentions found elsewhere, and a recogniser with a target finds none"
            )
        first.max_iter = min(self.iterations, first.max_iter or self.iterations)
        return first.fit(sentences, listener=fitting.listener)

    def annotate(self, sentences: Sequence[Sentence], sizes: Sequence[int] | None = None) -> list[Sentence]:
        if self.first is None:
            raise ParameterError(_ALONE)
        return _with_columns(sentences, [s.mentions for s in self.first.predict(sentences)], sizes)

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
        return "|".join(
            [f"known{often}", *(f"{place}={_how(shares[place])}{often}" for place in shares if shares[place])]
        )


def _how(share: float) -> str:
    return "seldom" if share < 0.34 else "half" if share < 0.67 else "mostly" if share < 1 else "always"


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
            done.append(sentences[i].with_columns(made))
    return done


def _look(sentence: Sentence, mentions: Sequence[Mention]) -> _Seen:
    """Count the words and pairs of a sentence, and where they stand in its mentions."""
    at: list[set[str]] = [set() for _ in range(len(sentence))]
    gap: list[set[str]] = [set() for _ in range(len(sentence) + 1)]  # the one before the token
    for mention in mentions:
        label = mention.label
        at[mention.start].add(f"{label}-first")
        at[mention.end - 1].add(f"{label}-last")
        gap[mention.start].add(f"{label}-starts")
        gap[mention.end].add(f"{label}-ends")
        for start, end in mention.parts:
            for t in range(start, end):
                at[t].add(label)
            for t in range(start + 1, end):
                gap[t].add(f"{label}-goes-on")
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
