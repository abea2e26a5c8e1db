"""Parts of speech and lemmas from a spaCy pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spanloom.annotators.base import Annotator, Arrays
from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.corpus import Sentence


class SpacyColumns(Annotator):
    """Makes ``pos``, ``upos`` and ``lemma`` by a spaCy pipeline, over our tokens.

    Parameters
    ----------
    pipeline
        The name or path of an installed pipeline. A model file keeps the name only.
    """

    kind = "spacy"
    provides = ("pos", "upos", "lemma")

    def __init__(self, pipeline: str) -> None:
        self.pipeline = pipeline
        try:
            self._nlp = need("spacy", "spacy").load(pipeline)
        except OSError as error:
            raise ParameterError(f"the spaCy pipeline {pipeline!r} cannot be loaded: {error}") from None

    def columns(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        make = need("spacy.tokens", "spacy").Doc
        docs = (make(self._nlp.vocab, words=sentence.tokens) for sentence in sentences)
        return [
            {
                "pos": [token.tag_ or "_" for token in doc],
                "upos": [token.pos_ or "_" for token in doc],
                "lemma": [token.lemma_ or token.text for token in doc],
            }
            for doc in self._nlp.pipe(docs)
        ]

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return {}, {"pipeline": self.pipeline}
