"""What a base phrase says about its tokens: its last word, and whether it begins with "the"."""

from __future__ import annotations

from collections.abc import Sequence

from spanloom.annotators.base import Annotator, Columns
from spanloom.corpus import Sentence
from spanloom.corpus.tags import AUTO, from_tags


class ChunkColumns(Annotator):
    """Makes ``chunk-last`` and ``chunk-the`` from a column ``chunk`` of tags such as ``B-NP``.

    ``chunk-last`` is the last word of the token's chunk, lower case, which heads a noun phrase; ``chunk-the`` says
    whether a "the" stands to the left in the chunk. Outside of chunks both are ``O``. Features that read these columns
    get them without naming this annotator.

    Examples
    --------
    >>> sentence = Sentence(["the", "p53", "gene", "is"], columns={"chunk": ["B-NP", "I-NP", "I-NP", "O"]})
    >>> ChunkColumns().columns([sentence])[0]["chunk-last"]
    ['gene', 'gene', 'gene', 'O']
    """

    kind = "chunks"
    requires = ("chunk",)
    provides = ("chunk-last", "chunk-the")

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        return [_columns(sentence.tokens, sentence.columns["chunk"]) for sentence in sentences]


def _columns(tokens: Sequence[str], tags: list[str]) -> Columns:
    lower = [token.lower() for token in tokens]
    last, the = ["O"] * len(lower), ["O"] * len(lower)
    for _, start, end in from_tags(tags, AUTO, lambda i, message: None):
        last[start:end] = [lower[end - 1]] * (end - start)
        the[start:end] = ["yes" if "the" in lower[start:t] else "no" for t in range(start, end)]
    return {"chunk-last": last, "chunk-the": the}
