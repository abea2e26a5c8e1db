"""Batches of spaCy docs as texts with tokens for the native core, without an object for each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom._native import TokenizedTexts, WordTable
from spanloom.base.extras import need

Ints = npt.NDArray[np.int64]
Rows = npt.NDArray[np.uint64]
_MOST = 1 << 20
_NONE = np.zeros((0, 3), np.uint64)


@dataclass(frozen=True, slots=True)
class DocBatch:
    """Some docs, cut as they are.

    Attributes
    ----------
    texts
        For the native core. Tokens of white space are left out.
    ptr
        [docs + 1]: the tokens of each doc among all that are kept.
    place
        [kept tokens]: their numbers within their docs.
    """

    texts: TokenizedTexts
    ptr: Ints
    place: Ints


class DocReader:
    """Reads docs. spaCy knows words by their hashes; the native core learns each word once, and then takes hashes."""

    def __init__(self) -> None:
        self._words = WordTable()
        attrs = need("spacy.attrs", "spacy")
        self._columns = [attrs.ORTH, attrs.SPACY, attrs.SENT_START]  # names would be looked up anew

    def rows(self, doc: Any) -> Rows:
        """Return key, blank behind it and start of a sentence of each word; quickest while a doc is new."""
        made: Rows = doc.to_array(self._columns)
        return made

    def batch(self, docs: Sequence[Any], rows: Sequence[Rows]) -> DocBatch:
        """Return docs with their own tokens; sentences are theirs, or ours where they have none."""
        ptr = np.cumsum([0, *map(len, docs)])
        words = np.concatenate([_NONE, *rows])
        if len(self._words) > _MOST:
            self._words = WordTable()
        for key in self._words.unknown(words).tolist():
            word = docs[0].vocab.strings[key]
            self._words.add(key, word, blank=word.isspace())
        texts, kept, place = TokenizedTexts.of_words(self._words, ptr, words)
        return DocBatch(texts, kept, place)
