"""Columns that features ask for and that follow from others: they are made without being named as annotators."""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.annotators.base import Annotator
from spanloom.annotators.chunks import ChunkColumns
from spanloom.annotators.documents import with_document_columns
from spanloom.annotators.phrases import PhraseColumns
from spanloom.corpus import Sentence

DERIVED: tuple[Annotator, ...] = (ChunkColumns(), PhraseColumns())


def with_asked_columns(sentences: Sequence[Sentence], sizes: Sequence[int], names: Sequence[str]) -> list[Sentence]:
    """Return the sentences with those of the columns that can be made of chunks, parts of speech and whole documents.

    Parameters
    ----------
    sentences, sizes, names
        As in ``with_document_columns``.

    Examples
    --------
    >>> sentence = Sentence("the p53 gene".split(), columns={"chunk": ["B-NP", "I-NP", "I-NP"]})
    >>> with_asked_columns([sentence], [1], ["word", "chunk-last"])[0].columns["chunk-last"]
    ['gene', 'gene', 'gene']
    """
    done = list(sentences)
    for one in DERIVED:
        asked = set(one.provides).intersection(names)
        if any(asked.difference(sentence.columns) for sentence in done):
            done = one.annotate(done)
    return with_document_columns(done, sizes, names)
