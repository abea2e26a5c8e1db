"""spaCy pipelines as parsers (an extra: ``pip install spanloom[spacy]``, and a pipeline of yours)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import version

from spanloom.annotators.parsers.base import Parser
from spanloom.annotators.parsers.cache import Tree
from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Sentence


class SpacyParser(Parser):
    """An installed pipeline or a folder with one; it must have a parser.

    Tokens stay as they are, and so do parts of speech that are there; the pipeline does not look at them.
    """

    reads = ("upos", "pos")  # whether they are there

    def __init__(self, pipeline: str) -> None:
        try:
            import spacy
        except ImportError:
            raise ParameterError(
                "spaCy is not installed; `pip install spanloom[spacy]` brings it, or choose another parser"
            ) from None
        try:
            self._nlp = spacy.load(pipeline, exclude=["ner", "lemmatizer", "senter"])
        except OSError as error:
            raise ParameterError(f"spaCy has no pipeline {pipeline!r}: {error}") from None
        if "parser" not in self._nlp.pipe_names:
            raise ParameterError(f"the pipeline {pipeline!r} has no parser; it has {', '.join(self._nlp.pipe_names)}")
        # By content: pipelines of your own often have the same name and version.
        self.identity = f"spacy:{hashlib.sha256(self._nlp.to_bytes()).hexdigest()}/{version('spacy')}"

    def parse(self, sentences: Sequence[Sentence]) -> list[Tree]:
        from spacy.tokens import Doc

        trees = []
        docs = (Doc(self._nlp.vocab, words=s.tokens) for s in sentences)
        for sentence, doc in zip(sentences, self._nlp.pipe(docs), strict=True):
            tree = {
                "head": ["0" if t.head.i == t.i else str(t.head.i + 1) for t in doc],
                "deprel": [t.dep_ for t in doc],
            }
            tags = {"upos": [t.pos_ for t in doc], "pos": [t.tag_ for t in doc]}
            trees.append(tree | {name: tags[name] for name in tags if name not in sentence.columns})
        return trees
