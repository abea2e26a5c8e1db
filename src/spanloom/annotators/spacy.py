"""spaCy pipelines: parts of speech, lemmas and trees over our tokens (an extra: ``pip install 'spanloom[spacy]'``)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spanloom.annotators.base import Annotator, Arrays, Columns
from spanloom.annotators.cache import Cache, remembered
from spanloom.annotators.trees import Parser, Trees
from spanloom.base.errors import ParameterError
from spanloom.base.extras import need
from spanloom.corpus import Sentence


class Spacy(Annotator, Parser):
    """Makes ``pos``, ``upos`` and ``lemma`` by a spaCy pipeline, and trees where they are wanted.

    Tokens stay as they are, and so do parts of speech that are there; the pipeline does not read them.

    Parameters
    ----------
    pipeline
        The name or path of an installed pipeline. A model file keeps the name only.
    cache
        A folder that keeps what it makes by content.

    Attributes
    ----------
    parses
        Whether the pipeline makes trees.
    """

    kind = "spacy"
    provides = ("pos", "upos", "lemma")
    reads = ("upos", "pos")  # whether they are there

    def __init__(self, pipeline: str, cache: str | os.PathLike[str] | None = None) -> None:
        self.pipeline = pipeline
        spacy = need("spacy", "spacy")
        try:
            self._nlp = spacy.load(pipeline, exclude=["ner", "senter"])
        except OSError as error:
            raise ParameterError(f"the spaCy pipeline {pipeline!r} cannot be loaded: {error}") from None
        self.parses = "parser" in self._nlp.pipe_names
        # By content, as pipelines of your own often have the same name and version; now, as it changes with use.
        self.identity = f"spacy:{hashlib.sha256(self._nlp.to_bytes()).hexdigest()}/{spacy.__version__}"
        self._cache = None if cache is None else Cache(Path(cache), f"columns of {self.identity}", ())
        self._trees = (Trees.cached(self, cache),) if self.parses else ()

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        return remembered(sentences, self._make, self._cache)

    def _make(self, sentences: Sequence[Sentence]) -> list[Columns]:
        return [
            {
                "pos": [token.tag_ or "_" for token in doc],
                "upos": [token.pos_ or "_" for token in doc],
                "lemma": [token.lemma_ or token.text for token in doc],
            }
            for doc in self._docs(sentences)
        ]

    def on_demand(self) -> Sequence[Annotator]:
        return self._trees

    def parse(self, sentences: Sequence[Sentence]) -> list[Columns]:
        trees = []
        for sentence, doc in zip(sentences, self._docs(sentences), strict=True):
            tree = {
                "head": ["0" if t.head.i == t.i else str(t.head.i + 1) for t in doc],
                "deprel": [t.dep_ for t in doc],
            }
            tags = {"upos": [t.pos_ for t in doc], "pos": [t.tag_ for t in doc]}
            trees.append(tree | {name: tags[name] for name in tags if name not in sentence.columns})
        return trees

    def _docs(self, sentences: Sequence[Sentence]) -> Iterator[Any]:
        make = need("spacy.tokens", "spacy").Doc
        docs: Iterator[Any] = self._nlp.pipe(make(self._nlp.vocab, words=s.tokens) for s in sentences)
        return docs

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return {}, {"pipeline": self.pipeline}
