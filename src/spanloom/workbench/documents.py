"""The documents of a project: their text is written once and never changes."""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, NamedTuple

from spanloom.corpus.document import Document
from spanloom.corpus.mention import Mention
from spanloom.formats.jsonl import parse, to_dict
from spanloom.formats.report import Report
from spanloom.workbench.changes import stored_parts
from spanloom.workbench.database import Database
from spanloom.workbench.errors import Missing, Refused

IMPORTED = "imported"
ADJUDICATED = "adjudicated"
RESERVED = (IMPORTED, ADJUDICATED)
"""Names of annotators that are none: what came with the corpus, and what was agreed on."""
_KEPT = 2000  # documents in memory; learning reads all of them
LONGEST_NAME = 200


class Added(NamedTuple):
    """How many documents were added, and how many were there already."""

    added: int
    known: int


class Documents:
    """Documents by number.

    Parameters
    ----------
    db
        The file of the project.
    """

    def __init__(self, db: Database) -> None:
        self.db = db
        self._cache: OrderedDict[int, Document] = OrderedDict()

    def get(self, number: int) -> Document:
        """Return a document without mentions; its ``known`` is as it was imported."""
        cached = self._cache.get(number)
        if cached is None:
            record = self.db.value("SELECT record FROM documents WHERE id = ?", number)
            if record is None:
                raise Missing(f"there is no document {number}")
            cached = parse(json.loads(record), Report(), f"document {number}")
            self._cache[number] = cached
            while len(self._cache) > _KEPT:
                self._cache.popitem(last=False)
        return cached

    def numbers(self) -> list[int]:
        """Return the numbers of all documents, in order."""
        return [row[0] for row in self.db.rows("SELECT id FROM documents ORDER BY id")]

    def add(self, docs: Iterable[Document], mentions: str = "auto", held_out: bool = False) -> Added:
        """Add documents in one transaction, but for those that would bring nothing new; return how many.

        Parameters
        ----------
        mentions
            What the documents' mentions are: ``"gold"``, the complete annotation that annotators start from;
            ``"suggestions"``, to be accepted or rejected; ``"none"``: they are left out. ``"auto"``: gold in documents
            that have any.
        held_out
            Whether the documents are kept for scores: models do not learn from them and suggest nothing in them.
        """
        if mentions not in ("auto", "gold", "suggestions", "none"):
            raise Refused(f"mentions must be auto, gold, suggestions or none, not {mentions!r:.60}")
        new = known = 0
        with self.db.writing() as write:
            taken = {_bare(row[0]) for row in write.execute("SELECT name FROM documents")}
            last = write.execute("SELECT max(id) FROM documents").fetchone()[0] or 0
            for doc in docs:
                if doc.id and _there(write, doc, mentions, last):
                    known += 1
                    continue
                number = _insert(write, doc, _free(doc.id or "document", taken), held_out)
                given = doc.mentions
                if mentions == "suggestions":
                    _suggest(write, number, given)
                elif mentions == "gold" or (mentions == "auto" and given):
                    _gold(write, number, doc)
                new += 1
        return Added(new, known)


def annotator_number(write: sqlite3.Connection, name: str) -> int:
    """Return the number of an annotator, who is added if new."""
    write.execute("INSERT OR IGNORE INTO annotators (name) VALUES (?)", (name,))
    return int(write.execute("SELECT id FROM annotators WHERE name = ?", (name,)).fetchone()[0])


def check_annotator(name: Any) -> str:
    """Return the name of somebody who annotates."""
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise Refused(f"an annotator has a name of 1 to {LONGEST_NAME} printable characters, not {name!r:.60}")
    if name == IMPORTED:
        raise Refused(f"the annotation that was imported cannot be changed; choose another name than {name!r}")
    return name


def _insert(write: sqlite3.Connection, doc: Document, name: str, held_out: bool) -> int:
    blank = doc.with_sentences([sentence.with_mentions([]) for sentence in doc.sentences])
    record = {**to_dict(blank), "id": name}
    done = write.execute(
        "INSERT INTO documents (name, record, text, tokens, sentences, held_out) VALUES (?, ?, ?, ?, ?, ?)",
        (name, json.dumps(record, ensure_ascii=False), doc.text, len(doc), len(doc.sentences), held_out),
    )
    return int(done.lastrowid or 0)


def _there(write: sqlite3.Connection, doc: Document, mentions: str, last: int) -> bool:
    """Whether one of the documents up to a number has the same name, text and imported mentions, if any are wanted."""
    found = write.execute(
        "SELECT id FROM documents WHERE name = ? AND text = ? AND id <= ?", (doc.id, doc.text, last)
    ).fetchone()
    if found is None or not doc.mentions or mentions == "none":
        return found is not None
    rows = write.execute(
        "SELECT m.label, m.parts FROM mentions m JOIN sheets s ON s.id = m.sheet "
        "JOIN annotators a ON a.id = s.annotator WHERE s.document = ? AND a.name = ? AND NOT m.rejected",
        (found[0], IMPORTED),
    )
    if mentions == "suggestions":
        rows = write.execute("SELECT label, parts FROM suggestions WHERE document = ?", (found[0],))
    return {(m.label, stored_parts(m)) for m in doc.mentions} <= {tuple(row) for row in rows}


def _suggest(write: sqlite3.Connection, number: int, mentions: Iterable[Mention]) -> None:
    write.executemany(
        "INSERT OR IGNORE INTO suggestions VALUES (?, ?, ?, ?)",
        [(number, m.label, stored_parts(m), m.prob) for m in mentions],
    )


def _gold(write: sqlite3.Connection, number: int, doc: Document) -> None:
    """Keep the mentions as imported; sentences that are not annotated in part are complete."""
    who = annotator_number(write, IMPORTED)
    sheet = write.execute("INSERT INTO sheets (document, annotator) VALUES (?, ?)", (number, who)).lastrowid
    write.executemany(
        "INSERT OR IGNORE INTO mentions VALUES (?, 0, ?, ?, ?)",
        [(sheet, m.label, stored_parts(m), json.dumps(dict(m.attributes))) for m in doc.mentions],
    )
    complete = [(sheet, k) for k, sentence in enumerate(doc.sentences) if sentence.known is None]
    write.executemany("INSERT INTO confirmed VALUES (?, ?)", complete)


def _free(name: str, taken: set[str]) -> str:
    """Return the name, numbered if it is taken, and take it."""
    free, number = name, 1
    while _bare(free) in taken:
        number += 1
        free = f"{name} ({number})"
    taken.add(_bare(free))
    return free


def _bare(name: str) -> str:
    """Without an ending that brat leaves out: two documents must not have one file."""
    return name.removesuffix(".txt")
