"""Examples of spaCy as documents to learn from."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.corpus import Document, Mention
from spanloom.corpus.mention import Parts
from spanloom.formats.spacy_docs import COLUMNS, KEY, document_of, get_entities, get_mentions, parts_key

logger = logging.getLogger("spacy")
GOLD = ("auto", "spans", "ents")
"""Where gold mentions are: in the span group, in the entities, or in the group where a doc has it and else in the
entities."""


def char_mention(doc: Any, mention: Mention) -> tuple[str, Parts]:
    """Return the label and the characters of a mention, which mean the same under any tokenization of the text."""
    ends = [(doc[a].idx, doc[b - 1].idx + len(doc[b - 1])) for a, b in mention.parts]
    return mention.label, tuple(ends)


def gold_mentions(doc: Any, key: str = KEY, gold: str = "auto") -> list[Mention]:
    """Return the gold mentions of a doc, in its tokens."""
    if gold not in GOLD:
        raise ParameterError(f"gold must be one of {', '.join(GOLD)}, got {gold!r}")
    has_group = key in doc.spans or parts_key(key) in doc.spans
    if gold == "spans" or (gold == "auto" and has_group):
        return get_mentions(doc, key)
    return get_entities(doc)


def documents_of(
    examples: Iterable[Any], key: str = KEY, gold: str = "auto", columns: Mapping[str, str] = COLUMNS
) -> tuple[list[Document], int]:
    """Return what examples teach, in the tokens of the pipeline, and how many mentions do not fit these tokens.

    Tags and trees are those that the pipeline has made, and the gold ones where it has made none and the tokens are the
    same.
    """
    documents: list[Document] = []
    lost = 0
    for example in examples:
        mentions = gold_mentions(example.reference, key, gold)
        aligned = [_aligned(example, m) for m in mentions]
        lost += aligned.count(None)
        known = [m for m in aligned if m is not None]
        document = document_of(example.predicted, known, columns)
        if [t.text for t in example.predicted] == [t.text for t in example.reference]:
            gold_columns = document_of(example.reference, (), columns)
            document = _with_gold(document, gold_columns)
        documents.append(document)
    return documents, lost


def warn_lost(name: str, lost: int, documents: Sequence[Document]) -> None:
    """Say how many mentions cannot be learned."""
    if lost:
        kept = sum(len(s.mentions) for doc in documents for s in doc.sentences)
        logger.warning(
            "[%s] %d of %d gold mentions begin or end within a token of the pipeline's tokenizer and are left out of "
            "training; a tokenizer that splits there would keep them",
            name,
            lost,
            lost + kept,
        )


def _aligned(example: Any, mention: Mention) -> Mention | None:
    """A gold mention in tokens of the pipeline, by spaCy's own rule."""
    parts = []
    for start, end in mention.parts:
        spans = example.get_aligned_spans_y2x([example.reference[start:end]], allow_overlap=True)
        if not spans:
            return None
        parts.append((spans[0].start, spans[0].end))
    try:
        return Mention(mention.label, tuple(parts))
    except ValueError:  # two parts within one token
        return None


def _with_gold(document: Document, gold: Document) -> Document:
    """Add gold columns that no component of the pipeline has made; sentences may be others."""
    made = {name for sentence in document.sentences for name in sentence.columns}
    names = {name for sentence in gold.sentences for name in sentence.columns} - made
    if names & {"head", "deprel"} and [len(s) for s in document.sentences] != [len(s) for s in gold.sentences]:
        names -= {"head", "deprel"}  # heads count from the first token of their sentences
    if not names:
        return document
    flat = {name: [v for s in gold.sentences for v in s.columns.get(name, [""] * len(s))] for name in sorted(names)}
    sentences, at = [], 0
    for sentence in document.sentences:
        own = {name: values[at : at + len(sentence)] for name, values in flat.items()}
        sentences.append(sentence.with_columns(own))
        at += len(sentence)
    return document.with_sentences(sentences)
