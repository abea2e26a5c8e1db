"""Mentions as an Arrow column: for each text a list of structs, as Parquet, Spark, pandas and Polars know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.corpus import Document
from spanloom.formats.jsonl import to_dict
from spanloom.recognizer import Recognizer
from spanloom.scale.loading import ModelSource
from spanloom.tagging import TaggedBatch, TextTagger, obstacle

COLUMN = "mentions"


def mention_type() -> Any:
    """Return the Arrow type of the column: what ``formats.parquet`` has for mentions, without attributes.

    ``parts`` are half-open ranges of tokens in the text, ``chars`` of characters; a discontinuous mention has several.
    """
    arrow = need("pyarrow", "parquet")
    ranges = arrow.list_(arrow.list_(arrow.int32()))
    fields = [("label", arrow.string()), ("parts", ranges), ("chars", ranges), ("text", arrow.string())]
    return arrow.list_(arrow.struct([*fields, ("prob", arrow.float64())]))


@dataclass(frozen=True, slots=True)
class ColumnWork:
    """What a worker of Dask or Spark has to know: small, so that it can go with every task.

    Parameters
    ----------
    source
        Where it finds the model.
    text, column
        The column of the texts, and that of the mentions.
    probabilities, above
        As in ``Recognizer.predict``.
    """

    source: ModelSource
    text: str
    column: str = COLUMN
    probabilities: bool = False
    above: float | None = None

    def check(self, columns: Sequence[str]) -> None:
        """Raise ``ParameterError`` if a table has no column of texts, or one of the name that mentions are to have."""
        if self.text not in columns:
            raise ParameterError(f"the table has no column {self.text!r}; there are {', '.join(map(str, columns))}")
        if self.column in columns:
            raise ParameterError(f"the table has a column {self.column!r} already; choose another name with column=…")

    def tagger(self) -> ColumnTagger:
        """Open the model, once per process, and return what tags columns by it."""
        return ColumnTagger(self.source.open(), probabilities=self.probabilities, above=self.above)


class ColumnTagger:
    """Turns a column of texts into a column of mentions.

    Parameters
    ----------
    recognizer
        A trained one; its ``threads`` count.
    probabilities, above
        As in ``Recognizer.predict``.

    Examples
    --------
    >>> from spanloom import read
    >>> ner = Recognizer("chain", keep="longest").fit(read("sample:train"))
    >>> tagger = ColumnTagger(ner)
    >>> tagger.tag(["The IL-2 gene.", None]).to_pylist()
    [[{'label': 'DNA', 'parts': [[1, 5]], 'chars': [[4, 13]], 'text': 'IL-2 gene', 'prob': None}], []]
    >>> tagger.counts["words"]
    6
    """

    def __init__(self, recognizer: Recognizer, *, probabilities: bool = False, above: float | None = None) -> None:
        self.recognizer, self.probabilities, self.above = recognizer, probabilities, above
        probable = probabilities or above is not None
        plain = obstacle(recognizer) is None and not (probable and recognizer.belief_ != "exact")
        self._short = TextTagger(recognizer, recognizer.threads) if plain else None
        self.counts: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()

    def tag(self, texts: Sequence[str | None]) -> Any:
        """Return the column of mentions; a text that is None has none."""
        given = [text or "" for text in texts]
        if self._short is not None:
            batch = self._short.tag(given, probabilities=self.probabilities, above=self.above)
            self._count(len(given), batch.texts.tokens, batch.by_label())
            return _column(batch, given)
        found: list[Document] = self.recognizer.predict(given, probabilities=self.probabilities, above=self.above)
        records = [to_dict(document, chars=True) for document in found]
        labels = Counter(mention["label"] for record in records for mention in record["mentions"])
        self._count(len(given), sum(len(record["tokens"]) for record in records), labels)
        return need("pyarrow", "parquet").array([record["mentions"] for record in records], mention_type())

    def _count(self, documents: int, words: int, labels: dict[str, int]) -> None:
        self.counts.update(documents=documents, words=words, mentions=sum(labels.values()))
        self.labels.update(labels)


def _column(batch: TaggedBatch, texts: Sequence[str]) -> Any:
    """Make the column of arrays; only the texts of mentions are cut one by one."""
    arrow = need("pyarrow", "parquet")
    found, size = batch.found, batch.found.size

    def ranges(start: Any, end: Any) -> Any:
        """One list with one pair for each mention."""
        values = np.stack([start, end], axis=1).astype(np.int32).ravel()
        pairs = arrow.ListArray.from_arrays(np.arange(0, 2 * size + 1, 2, dtype=np.int32), arrow.array(values))
        return arrow.ListArray.from_arrays(np.arange(size + 1, dtype=np.int32), pairs)

    starts, ends = found.start_char.tolist(), found.end_char.tolist()
    owners = batch.document.tolist()
    surfaces = [texts[d][a:b] for d, a, b in zip(owners, starts, ends, strict=True)]
    names = arrow.DictionaryArray.from_arrays(arrow.array(found.label.astype(np.int32)), arrow.array(batch.labels))
    kind = mention_type()
    columns = [
        names.cast(arrow.string()),
        ranges(found.start, found.end),
        ranges(found.start_char, found.end_char),
        arrow.array(surfaces, arrow.string()),
        arrow.nulls(size, arrow.float64()) if batch.probs is None else arrow.array(batch.probs),
    ]
    structs = arrow.StructArray.from_arrays(columns, fields=list(kind.value_type))
    return arrow.ListArray.from_arrays(found.ptr.astype(np.int32), structs).cast(kind)
