"""What is known of the text: the sheets of all annotators as one annotation, complete or in part.

For a sentence counts what was adjudicated; else what the annotators say who have worked on the document; else what was
imported. Where all who confirmed a sentence agree, it is known completely. Where they do not, the mentions that all of
them have are known, and the rest is not. Where nobody confirmed a sentence, the mentions are known that were put there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.known import Known
from spanloom.corpus.mention import Mention
from spanloom.workbench.changes import sorted_mentions
from spanloom.workbench.documents import ADJUDICATED, IMPORTED, RESERVED, Documents
from spanloom.workbench.sheets import Sheet, Sheets

SOME = Known(labels=())
"""The mentions are there, and others may be missing."""


def gold_document(doc: Document, sheets: Mapping[str, Sheet]) -> Document:
    """Return a document with all that its sheets say; sentences are complete, or known in part."""
    by_sentence = {name: _by_sentence(doc, sheet.mentions) for name, sheet in sheets.items()}
    people = [name for name in sheets if name not in RESERVED]
    made = []
    for k, sentence in enumerate(doc.sentences):
        names = [name for name in (ADJUDICATED,) if name in sheets and k in sheets[name].confirmed]
        names = names or people or [name for name in sheets if name == IMPORTED]
        complete = [set(by_sentence[name][k]) for name in names if k in sheets[name].confirmed]
        agreed: set[Mention]
        if complete:
            agreed = set.intersection(*complete)
            known = None if all(one == agreed for one in complete) else SOME
        else:
            agreed = {m for name in names for m in by_sentence[name][k]}
            known = (sentence.known if names == [IMPORTED] else None) or SOME
        made.append(replace(sentence, mentions=sorted_mentions(agreed), known=known))
    return doc.with_sentences(made)


def annotated_document(doc: Document, sheet: Sheet) -> Document:
    """Return a document with one sheet; sentences that are not confirmed are known in part."""
    own = _by_sentence(doc, sheet.mentions)
    return doc.with_sentences(
        [
            replace(sentence, mentions=own[k], known=None if k in sheet.confirmed else SOME)
            for k, sentence in enumerate(doc.sentences)
        ]
    )


def gold_documents(documents: Documents, sheets: Sheets, *, held_out: bool | None = None) -> list[Document]:
    """Return the documents of which anything is known, with the sentences of which anything is known.

    Parameters
    ----------
    held_out
        Those that are held out, those that are not, or all.
    """
    rows = documents.db.rows(
        "SELECT DISTINCT document FROM sheets JOIN documents ON documents.id = document "
        "WHERE ? IS NULL OR held_out = ? ORDER BY document",
        held_out, held_out,
    )  # fmt: skip
    made = []
    for (number,) in rows:
        doc = gold_document(documents.get(number), sheets.of(number))
        told = [s for s in doc.sentences if s.known is None or s.mentions or s.known != SOME]
        if any(len(s) for s in told):
            made.append(doc if len(told) == len(doc.sentences) else Document(told, doc.id, meta=doc.meta))
    return made


def complete(docs: Iterable[Document]) -> list[Document]:
    """Return documents with the sentences that are known completely."""
    made = []
    for doc in docs:
        kept = [sentence for sentence in doc.sentences if sentence.known is None]
        if kept:
            made.append(Document(kept, doc.id, meta=doc.meta))
    return made


def _by_sentence(doc: Document, mentions: Iterable[Mention]) -> list[list[Mention]]:
    """Return mentions by sentence, in its tokens."""
    starts = token_starts(doc.sentences)
    made: list[list[Mention]] = [[] for _ in doc.sentences]
    owner = [k for k, sentence in enumerate(doc.sentences) for _ in range(len(sentence))]
    for mention in sorted_mentions(mentions):
        k = owner[mention.start]
        made[k].append(mention.shifted(-starts[k]))
    return made


def token_starts(sentences: Iterable[Sentence]) -> list[int]:
    """Return the first token of each sentence in its document."""
    starts, at = [], 0
    for sentence in sentences:
        starts.append(at)
        at += len(sentence)
    return starts
