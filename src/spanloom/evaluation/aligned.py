"""Gold and predicted sentences side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from spanloom.corpus import Document, Mention, Sentence
from spanloom.errors import CorpusError, ParameterError

Gold: TypeAlias = Iterable[Sentence | Document]
Predicted: TypeAlias = Iterable[Sentence | Document | Sequence[Mention]]


@dataclass(slots=True)
class Aligned:
    """Sentences with what was predicted for them.

    Parameters
    ----------
    sentences
        The gold sentences; ``sentences[i].mentions`` is the gold.
    predicted
        ``predicted[i]`` are the mentions predicted for ``sentences[i]``.
    documents, document_of
        The gold documents, if the gold came in documents, and for each sentence the index of its document.
    """

    sentences: list[Sentence]
    predicted: list[Sequence[Mention]]
    documents: list[Document] = field(default_factory=list)
    document_of: list[int] = field(default_factory=list)

    @property
    def gold(self) -> list[Sequence[Mention]]:
        """The gold mentions of each sentence."""
        return [s.mentions for s in self.sentences]

    def document(self, i: int) -> Document | None:
        """Return the document of sentence ``i``, if the gold came in documents."""
        return self.documents[self.document_of[i]] if self.document_of else None

    def document_id(self, i: int) -> str:
        """Return the id of the document of sentence ``i``, or an empty string."""
        document = self.document(i)
        return document.id if document else ""

    def meta(self, i: int, key: str) -> Any:
        """Return what sentence ``i``, or else its document, says about ``key``; None if neither does."""
        value = self.sentences[i].meta.get(key)
        document = self.document(i)
        return document.meta.get(key) if value is None and document else value

    def units(self, by: str) -> list[int] | None:
        """Return for each sentence the index of what resampling draws; None if that is the sentence itself."""
        if by == "sentence":
            return None
        if by != "document":
            raise ParameterError(f"by must be 'sentence' or 'document', not {by!r}")
        if not self.document_of:
            raise ParameterError("by='document' needs gold that comes in documents; this came as sentences")
        return self.document_of

    def name(self, i: int) -> str:
        """Return words that find sentence ``i`` again, for messages."""
        own = self.sentences[i].meta.get("sent_id")
        document = self.document_id(i)
        return f"sentence {i}" + (f" ({own})" if own else "") + (f" of document {document!r}" if document else "")


def align(gold: Gold, predicted: Predicted) -> Aligned:
    """Put predictions beside the gold and check that both are about the same text.

    Parameters
    ----------
    gold
        Sentences or documents.
    predicted
        The same sentences or documents with predicted mentions, or one sequence of mentions for each gold sentence.

    Raises
    ------
    CorpusError
        If the number of sentences or the tokens of a sentence differ.

    Examples
    --------
    >>> gold = [Sentence(["IL-2", "gene"], [Mention("DNA", ((0, 2),))])]
    >>> align(gold, [[]]).predicted
    [[]]
    """
    sentences: list[Sentence] = []
    documents: list[Document] = []
    document_of: list[int] = []
    for item in gold:
        if isinstance(item, Document):
            document_of.extend([len(documents)] * len(item.sentences))
            documents.append(item)
            sentences.extend(item.sentences)
        else:
            sentences.append(item)
    if documents and len(document_of) != len(sentences):
        raise CorpusError("the gold mixes documents and sentences; pass one of them")
    aligned = Aligned(sentences, [], documents, document_of)
    words: list[list[str] | None] = []
    for tokens, mentions in _units(predicted):
        words.append(tokens)
        aligned.predicted.append(mentions)
    if len(words) != len(sentences):
        raise CorpusError(
            f"the gold has {len(sentences)} sentences and the prediction {len(words)}; they must be the same sentences"
        )
    for i, (tokens, sentence) in enumerate(zip(words, sentences, strict=True)):
        if tokens is not None and tokens is not sentence.tokens and tokens != sentence.tokens:
            raise CorpusError(f"{aligned.name(i)} differs: {_difference(sentence.tokens, tokens)}")
    return aligned


def _units(predicted: Predicted) -> Iterator[tuple[list[str] | None, Sequence[Mention]]]:
    for item in predicted:
        if isinstance(item, Document):
            for sentence in item.sentences:
                yield sentence.tokens, sentence.mentions
        elif isinstance(item, Sentence):
            yield item.tokens, item.mentions
        else:
            yield None, item


def _difference(gold: list[str], predicted: list[str]) -> str:
    for i, (g, p) in enumerate(zip(gold, predicted, strict=False)):
        if g != p:
            return f"token {i} is {g!r} in the gold and {p!r} in the prediction"
    return f"{len(gold)} tokens in the gold and {len(predicted)} in the prediction"
