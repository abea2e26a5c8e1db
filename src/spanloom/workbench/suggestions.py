"""What the model suggests: every mention that is likely enough, and how unsure the model is of a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spanloom.corpus.document import Document
from spanloom.corpus.mention import Mention
from spanloom.recognizer import Recognizer
from spanloom.tuning.suggest import disagreement
from spanloom.workbench.changes import from_row, stored_parts
from spanloom.workbench.database import Database

LEAST = 0.1
"""Less likely mentions are not kept."""
SURE = 0.5
"""Mentions that count where the suggestions of two models are compared."""


def suggestions(db: Database, document: int) -> list[Mention]:
    """Return what is suggested in a document, in reading order."""
    rows = db.rows("SELECT label, parts, prob FROM suggestions WHERE document = ?", document)
    return sorted((from_row(row, row["prob"]) for row in rows), key=lambda m: (m.parts, m.label))


def suggest(db: Database, ner: Recognizer, model: int, numbers: Sequence[int], docs: Sequence[Document]) -> None:
    """Replace the suggestions of some documents by those of a model."""
    found = [document.mentions for document in ner.predict(docs, above=LEAST)]
    doubts = [_entropy(ner, document) for document in docs]
    before = [suggestions(db, number) for number in numbers]
    with db.writing() as write:
        for number, mentions, doubt, old in zip(numbers, found, doubts, before, strict=True):
            changed = disagreement(_likely(old), _likely(mentions))
            write.execute("DELETE FROM suggestions WHERE document = ?", (number,))
            write.executemany(
                "INSERT OR REPLACE INTO suggestions VALUES (?, ?, ?, ?)",
                [(number, m.label, stored_parts(m), m.prob) for m in mentions],
            )
            write.execute("INSERT OR REPLACE INTO beliefs VALUES (?, ?, ?, ?)", (number, model, doubt, changed))


def _entropy(ner: Recognizer, doc: Document) -> float:
    """Return the entropy of what the model believes of a document, in nats per token."""
    tokens = len(doc)
    return sum(belief.entropy() for belief in ner.distributions(doc)) / tokens if tokens else 0.0


def _likely(mentions: Iterable[Mention]) -> list[Mention]:
    return [mention for mention in mentions if mention.prob is None or mention.prob >= SURE]
