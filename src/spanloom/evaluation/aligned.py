"""Gold and predicted sentences side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation.rejoin import rejoin

Gold: TypeAlias = Iterable[Sentence | Document]
Predicted: TypeAlias = Iterable[Sentence | Document | Sequence[Mention]]


@dataclass(slots=True)
class Aligned:
    """Sentences with what was predicted for them.

    Parameters
    ----------
    sentences
        The gold sentences, in the tokens that both sides have; ``sentences[i].mentions`` is the gold.
    predicted
        ``predicted[i]`` are the mentions predicted for ``sentences[i]``.
    documents, document_of
        The gold documents, if all the gold came in documents, and for each sentence the index of its document.
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

    Documents with ids are found by them, in whatever order they come; others, and sentences, by their order. Documents
    of the same text may have other tokens and other sentences (:mod:`spanloom.evaluation.rejoin`).

    Parameters
    ----------
    gold
        Sentences or documents. Of what their annotation leaves open (``Sentence.known``) predictions do not count.
    predicted
        The same sentences or documents with predicted mentions, or one sequence of mentions for each gold sentence.

    Raises
    ------
    CorpusError
        If documents or sentences are missing on a side, or the text differs.

    Examples
    --------
    >>> gold = [Sentence(["IL-2", "gene"], [Mention("DNA", ((0, 2),))])]
    >>> align(gold, [[]]).predicted
    [[]]
    """
    items, others = list(gold), list(predicted)
    ours, theirs = _documents(items), _documents(others)
    if ours and theirs:
        return _align_documents(ours, _in_order_of(ours, theirs))
    sentences: list[Sentence] = []
    document_of: list[int] = []
    for item in items:
        if isinstance(item, Document):
            sentences.extend(item.sentences)
        else:
            sentences.append(item)
    for i, document in enumerate(ours):
        document_of.extend([i] * len(document.sentences))
    aligned = Aligned(sentences, [], ours, document_of)
    units = list(_units(others))
    if len(units) != len(sentences):
        raise CorpusError(
            f"the gold has {len(sentences)} sentences and the prediction {len(units)}; they must be the same sentences"
        )
    for i, ((tokens, mentions), sentence) in enumerate(zip(units, sentences, strict=True)):
        if tokens is not None and tokens is not sentence.tokens and tokens != sentence.tokens:
            raise CorpusError(f"{aligned.name(i)} differs: {_difference(sentence.tokens, tokens)}")
        aligned.predicted.append(sentence.judgeable(mentions))
    return aligned


def _documents(items: Sequence[Any]) -> list[Document]:
    """Return the items if all are documents, and else nothing."""
    return list(items) if all(isinstance(item, Document) for item in items) else []


def _in_order_of(gold: list[Document], predicted: list[Document]) -> list[Document]:
    """Return the predicted documents in the order of the gold ones: by id where ids tell them apart."""
    by_id = {d.id: d for d in predicted}
    wanted = [d.id for d in gold]
    named = all(wanted) and all(by_id) and len(set(wanted)) == len(gold) and len(by_id) == len(predicted)
    if named:
        missing = [i for i in wanted if i not in by_id]
        extra = [i for i in by_id if i not in set(wanted)]
        if missing or extra:
            sides = ((missing, "gold"), (extra, "prediction"))
            parts = [f"{len(ids)} only in the {side} ({_some(ids)})" for ids, side in sides if ids]
            raise CorpusError(f"gold and prediction have different documents: {' and '.join(parts)}")
        return [by_id[i] for i in wanted]
    if len(gold) != len(predicted):
        raise CorpusError(
            f"the gold has {len(gold)} documents and the prediction {len(predicted)}; they must be the same documents"
        )
    return predicted


def _align_documents(gold: list[Document], predicted: list[Document]) -> Aligned:
    aligned = Aligned([], [])
    for ours, theirs in zip(gold, predicted, strict=True):
        sentences: list[Sentence]
        lists: Sequence[Sequence[Mention]]
        if [s.tokens for s in ours.sentences] == [s.tokens for s in theirs.sentences]:
            sentences, lists = ours.sentences, [s.mentions for s in theirs.sentences]
        else:
            sentences, lists = rejoin(ours, theirs)
        aligned.document_of.extend([len(aligned.documents)] * len(sentences))
        aligned.documents.append(ours)
        aligned.sentences.extend(sentences)
        aligned.predicted.extend(s.judgeable(own) for s, own in zip(sentences, lists, strict=True))
    return aligned


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:3]) + (", …" if len(ids) > 3 else "")


def _units(predicted: Sequence[Any]) -> Iterator[tuple[list[str] | None, Sequence[Mention]]]:
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
