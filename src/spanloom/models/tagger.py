"""A chain over the values of a token column, e.g. parts of speech: one label for every token, no segments.

    score(y) = Σ_t w[y_t] · f(t) + Σ_t transition[y_{t-1}, y_t]

Sites are tokens, columns the values seen in training, and any value may follow any other. To everything else a tagged
token is a mention of that one token: learning, development data, k best and files work as for mentions. Training and
decoding cost O(n L²).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom._native import ChainStructure
from spanloom.base.arrays import Cells, Floats
from spanloom.base.errors import EncodingError, ModelFileError
from spanloom.corpus.columns import missing_column
from spanloom.corpus.document import Sentence
from spanloom.corpus.mention import Mention
from spanloom.inference import ReadChain, Trellis, tag_reading
from spanloom.models.base import Mentions
from spanloom.models.component import Component, Shapes, pair_names
from spanloom.models.structured import StructuredModel


class TagComponent(Component):
    """A trellis over tags, every one of which may follow every other."""

    def __init__(self, tags: Iterable[str]) -> None:
        self.columns = tuple(tags)
        self.types = frozenset(self.columns)
        self._reading = tag_reading(self.columns)
        self._index = {tag: i for i, tag in enumerate(self.columns)}
        n = len(self.columns)
        self._structure = ChainStructure(n, np.ones(n * n, np.uint8), np.ones(n, np.uint8), np.ones(n, np.uint8))

    @property
    def structure(self) -> ChainStructure:
        return self._structure

    def encode(self, mentions: Sequence[Mention], n: int) -> Cells:
        size = len(self.columns)
        labels = np.full(n, -1, np.int32)
        for mention in mentions:
            labels[mention.start] = self._index[mention.label]
        if (labels < 0).any():
            raise EncodingError(f"token {int(np.argmin(labels))} has no tag; a tagger needs one for every token")
        sites = np.arange(n, dtype=np.int32) * np.int32(size) + labels
        return np.concatenate([sites, np.int32(n * size) + labels[:-1] * np.int32(size) + labels[1:]])

    def decode(self, cells: Cells, n: int) -> list[Mention]:
        return [Mention(self.columns[y], ((t, t + 1),)) for t, y in enumerate((cells % len(self.columns)).tolist())]

    def chain(self, global_scores: Floats) -> ReadChain:
        return ReadChain(self._structure, global_scores, self._reading)

    def distribution(self, scores: Floats, global_scores: Floats, shapes: Shapes, number: int = 0) -> Trellis:
        return self.chain(global_scores).trellis(scores)

    def global_names(self) -> list[str]:
        return pair_names(self.columns)


@dataclass(frozen=True)
class Tagger(StructuredModel):
    """One chain over the values of a token column.

    Parameters
    ----------
    column
        The column whose values are learned, e.g. ``"pos"``.
    """

    column: str = "pos"

    name = "tagger"
    penalised = False
    takes_partial = False
    takes_beliefs = False
    holds = "one label for every token"

    @property
    def makes(self) -> str:
        return self.column

    def components(self, gold: Mentions, lengths: Sequence[int]) -> list[Component]:
        counts = Counter(mention.label for mentions in gold for mention in mentions)
        return [TagComponent(sorted(counts, key=lambda tag: (-counts[tag], tag)))]

    def misfit(self, mentions: Sequence[Mention]) -> tuple[int, str] | None:
        return next(((i, "has more than one token") for i, m in enumerate(mentions) if len(m) > 1), None)

    def before(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        return [column_as_mentions(sentence, self.column, i) for i, sentence in enumerate(sentences)]

    def after(self, sentence: Sentence, found: list[Mention]) -> Sentence:
        return sentence.with_columns({self.column: [mention.label for mention in found]})

    def header(self, components: Sequence[Component]) -> dict[str, Any]:
        return {"column": self.column, "labels": list(components[0].columns)}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> tuple[Tagger, list[Component]]:
        labels = header.get("labels")
        if not isinstance(labels, list) or not labels or not all(isinstance(tag, str) for tag in labels):
            raise ModelFileError(f"the labels of the tagger are damaged: {labels!r:.80}")
        return cls(str(header.get("column", "pos"))), [TagComponent(labels)]


def column_as_mentions(sentence: Sentence, name: str, number: int) -> Sentence:
    """Return the sentence with every token a mention of its value in a column, instead of its own mentions."""
    if name not in sentence.columns:
        remedy = "Add the column to the data, or choose another one."
        raise missing_column(name, sentence, number, f"the tagger of {name!r} learns", remedy=remedy)
    tags = [Mention(tag, ((t, t + 1),)) for t, tag in enumerate(sentence.columns[name])]
    # Of mentions some may be unknown; a column is there for every token.
    return Sentence(
        sentence.tokens, tags, sentence.columns, sentence.text, sentence.spans, sentence.features, sentence.meta
    )
