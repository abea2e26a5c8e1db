"""Sheets: what one annotator has made of one document, how it changes, and the trail of every change."""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from spanloom.corpus.mention import Mention
from spanloom.workbench.changes import Change, as_json, from_row, mention_json, sorted_mentions, stored_parts
from spanloom.workbench.database import Database
from spanloom.workbench.documents import IMPORTED, Documents, annotator_number, check_annotator
from spanloom.workbench.errors import Conflict, Refused

KINDS = (
    "add", "delete", "relabel", "grow", "shrink", "split", "parts", "accept", "accept-all", "reject", "confirm",
    "reopen", "adjudicate",
)  # fmt: skip
"""What a change is called in the trail."""
KEPT = 2000
"""Sheets in memory."""
MOST = 10_000
"""Mentions that one change may name."""


@dataclass
class Sheet:
    """One annotator's annotation of one document.

    Attributes
    ----------
    version
        Counts the changes; whoever changes a sheet says which version was seen.
    mentions, rejected
        What is there, and suggestions that are none, in document tokens.
    confirmed
        Numbers of the sentences whose annotation is complete.
    undo, redo
        Whether there is a change to take back, or to make again.
    made_by
        What the last change has really changed; None for a sheet that was read.
    """

    version: int = 0
    mentions: set[Mention] = field(default_factory=set)
    rejected: set[Mention] = field(default_factory=set)
    confirmed: set[int] = field(default_factory=set)
    undo: bool = False
    redo: bool = False
    number: int | None = None
    made_by: Change | None = None

    def news(self) -> dict[str, Any]:
        """Return what somebody needs who has the version before: much less than all of it."""
        change = Change() if self.made_by is None else self.made_by
        return {"version": self.version, "undo": self.undo, "redo": self.redo, "change": change.to_json()}

    def to_json(self) -> dict[str, Any]:
        """Return it as the page has it."""
        return {
            "version": self.version,
            "mentions": [mention_json(m) for m in sorted_mentions(self.mentions)],
            "rejected": [mention_json(m) for m in sorted_mentions(self.rejected)],
            "confirmed": sorted(self.confirmed),
            "undo": self.undo,
            "redo": self.redo,
        }


class Sheets:
    """All sheets of a project. A sheet that was handed out never changes; a change makes a new one."""

    def __init__(self, db: Database, documents: Documents) -> None:
        self.db = db
        self.documents = documents
        # Nobody else writes to the file, so that what was read or written last stays true.
        self._cache: OrderedDict[tuple[int, str], Sheet] = OrderedDict()

    def get(self, document: int, annotator: str) -> Sheet:
        """Return a sheet; one that does not exist yet is as the document was imported."""
        own = self._stored(document, annotator)
        if own is not None:
            return own
        start = self._stored(document, IMPORTED) or Sheet()
        return Sheet(0, start.mentions, set(), start.confirmed)

    def of(self, document: int) -> dict[str, Sheet]:
        """Return the sheets of a document by annotator."""
        names = self.db.rows(
            "SELECT name FROM sheets JOIN annotators ON annotators.id = annotator WHERE document = ? ORDER BY name",
            document,
        )
        found = ((name, self._stored(document, name)) for (name,) in names)
        return {name: sheet for name, sheet in found if sheet is not None}

    def change(self, document: int, annotator: str, version: int, kind: str, change: Change) -> Sheet:
        """Make a change that the annotator asked for when seeing ``version``; it is on the disk at the end.

        Raises
        ------
        Conflict
            If the sheet has changed since.
        """
        if kind not in KINDS:
            raise Refused(f"there is no action {kind!r:.60}; there are {', '.join(KINDS)}")
        self._check(document, change)
        with self.db.alone():
            with self.db.writing() as write:
                sheet = self._for_writing(write, document, check_annotator(annotator), version)
                real = _real(sheet, change)
                if real:
                    dropped = "UPDATE actions SET state = 'dropped' WHERE sheet = ? AND state = 'undone'"
                    write.execute(dropped, (sheet.number,))
                    sheet = _apply(write, sheet, real, kind, None, "done")
                    sheet.undo, sheet.redo = True, False
                else:
                    sheet = replace(sheet, made_by=None)
            return self._keep(document, annotator, sheet)

    def undo(self, document: int, annotator: str, version: int) -> Sheet:
        """Take the last change back that is not taken back."""
        return self._step(document, annotator, version, "undo")

    def redo(self, document: int, annotator: str, version: int) -> Sheet:
        """Make the change again that was taken back last."""
        return self._step(document, annotator, version, "redo")

    def trail(self, document: int | None = None, most: int = 200) -> list[dict[str, Any]]:
        """Return the last changes, of one document or of all, newest first."""
        rows = self.db.rows(
            "SELECT actions.id, at, kind, change, of, state, actions.version, annotators.name AS annotator, document, "
            "documents.name AS document_name FROM actions JOIN sheets ON sheets.id = sheet "
            "JOIN annotators ON annotators.id = annotator JOIN documents ON documents.id = document "
            "WHERE ? IS NULL OR document = ? ORDER BY actions.id DESC LIMIT ?",
            document, document, most,
        )  # fmt: skip
        return [{**dict(row), "change": json.loads(row["change"])} for row in rows]

    def corrections(self) -> int:
        """Return the number of changes by people, all sheets together; what was taken back does not count."""
        return int(self.db.value("SELECT count(*) FROM actions WHERE state = 'done'"))

    def _step(self, document: int, annotator: str, version: int, way: str) -> Sheet:
        wanted, after = ("done", "undone") if way == "undo" else ("undone", "done")
        order = "DESC" if way == "undo" else "ASC"
        with self.db.alone():
            with self.db.writing() as write:
                sheet = self._for_writing(write, document, check_annotator(annotator), version)
                row = write.execute(
                    f"SELECT id, change FROM actions WHERE sheet = ? AND state = ? ORDER BY id {order} LIMIT 1",
                    (sheet.number, wanted),
                ).fetchone()
                if row is None:
                    raise Refused(f"there is nothing to {way}")
                change = Change.from_json(json.loads(row["change"]))
                write.execute("UPDATE actions SET state = ? WHERE id = ?", (after, row["id"]))
                sheet = _apply(write, sheet, change.inverse() if way == "undo" else change, way, row["id"], "step")
                self._steps(sheet)
            return self._keep(document, annotator, sheet)

    def _stored(self, document: int, annotator: str) -> Sheet | None:
        kept = self._cache.get((document, annotator))
        if kept is not None:
            return kept
        with self.db.alone():
            return self._read(document, annotator)

    def _read(self, document: int, annotator: str) -> Sheet | None:
        row = self.db.row(
            "SELECT sheets.id, version FROM sheets JOIN annotators ON annotators.id = annotator "
            "WHERE document = ? AND name = ?",
            document, annotator,
        )  # fmt: skip
        if row is None:
            return None
        number = row["id"]
        sheet = Sheet(row["version"], number=number)
        for one in self.db.rows("SELECT * FROM mentions WHERE sheet = ?", number):
            (sheet.rejected if one["rejected"] else sheet.mentions).add(from_row(one))
        sheet.confirmed = {r[0] for r in self.db.rows("SELECT sentence FROM confirmed WHERE sheet = ?", number)}
        self._steps(sheet)
        return self._keep(document, annotator, sheet)

    def _steps(self, sheet: Sheet) -> None:
        """Look whether there is something to undo and to redo."""
        query = "SELECT EXISTS (SELECT 1 FROM actions WHERE sheet = ? AND state = ?)"
        sheet.undo, sheet.redo = (bool(self.db.value(query, sheet.number, state)) for state in ("done", "undone"))

    def _keep(self, document: int, annotator: str, sheet: Sheet) -> Sheet:
        self._cache[document, annotator] = sheet
        while len(self._cache) > KEPT:
            self._cache.popitem(last=False)
        return sheet

    def _for_writing(self, write: sqlite3.Connection, document: int, annotator: str, version: int) -> Sheet:
        sheet = self.get(document, annotator)
        if sheet.version != version:
            raise Conflict(
                f"the annotation has changed: it is at version {sheet.version}, and you saw version {version}",
                sheet=sheet.to_json(),
            )
        if sheet.number is None:
            self.documents.get(document)  # Missing if there is none
            who = annotator_number(write, annotator)
            done = write.execute("INSERT INTO sheets (document, annotator) VALUES (?, ?)", (document, who))
            sheet.number = int(done.lastrowid or 0)
            _put(write, sheet.number, 0, sheet.mentions)
            write.executemany("INSERT INTO confirmed VALUES (?, ?)", [(sheet.number, k) for k in sheet.confirmed])
        return sheet

    def _check(self, document: int, change: Change) -> None:
        """Refuse mentions that are not within one sentence, and sentences that are not there."""
        doc = self.documents.get(document)
        named = [*change.add, *change.remove, *change.reject, *change.restore]
        if len(named) > MOST:
            raise Refused(f"one action may name {MOST:,} mentions, not {len(named):,}")
        for number in (*change.confirm, *change.reopen):
            if not 0 <= number < len(doc.sentences):
                raise Refused(f"there is no sentence {number}; the document has {len(doc.sentences)}")
        ends = []
        total = 0
        for sentence in doc.sentences:
            total += len(sentence)
            ends.append(total)
        for mention in (*change.add, *change.reject):
            if mention.end > total:
                raise Refused(f"{mention.label} {mention.parts} ends after the last of {total} tokens")
            if any(mention.start < end < mention.end for end in ends):
                raise Refused(f"{mention.label} {mention.parts} runs over the end of a sentence")


def _real(sheet: Sheet, change: Change) -> Change:
    """Return what a change really changes, so that its inverse is exact."""
    for mention in change.remove:
        if mention not in sheet.mentions:
            raise Refused(f"there is no mention {mention.label} {mention.parts} to remove")
    kept = {m: m for m in sheet.mentions}  # with the attributes that are stored
    added = tuple(m for m in change.add if m not in sheet.mentions or m in change.remove)
    rejected = tuple(m for m in change.reject if m not in sheet.rejected)
    restored = tuple(m for m in sheet.rejected if m in change.restore or m in added)
    return Change(
        added,
        tuple(kept[m] for m in change.remove),
        tuple(k for k in change.confirm if k not in sheet.confirmed),
        tuple(k for k in change.reopen if k in sheet.confirmed),
        tuple(m for m in rejected if m not in restored),
        restored,
    )


def _apply(write: sqlite3.Connection, sheet: Sheet, change: Change, kind: str, of: int | None, state: str) -> Sheet:
    """Write a change; return the sheet as it is then."""
    number = sheet.number or 0
    for rejected, gone in ((0, change.remove), (1, change.restore)):
        write.executemany(
            "DELETE FROM mentions WHERE sheet = ? AND rejected = ? AND label = ? AND parts = ?",
            [(number, rejected, m.label, stored_parts(m)) for m in gone],
        )
    _put(write, number, 0, change.add)
    _put(write, number, 1, change.reject)
    write.executemany("INSERT OR IGNORE INTO confirmed VALUES (?, ?)", [(number, k) for k in change.confirm])
    write.executemany("DELETE FROM confirmed WHERE sheet = ? AND sentence = ?", [(number, k) for k in change.reopen])
    write.execute("UPDATE sheets SET version = version + 1 WHERE id = ?", (number,))
    write.execute(
        "INSERT INTO actions (sheet, version, at, kind, change, of, state) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (number, sheet.version + 1, now(), kind, as_json(change), of, state),
    )
    return Sheet(
        sheet.version + 1,
        (sheet.mentions - set(change.remove)) | set(change.add),
        (sheet.rejected - set(change.restore)) | set(change.reject),
        (sheet.confirmed - set(change.reopen)) | set(change.confirm),
        number=number,
        made_by=change,
    )


def _put(write: sqlite3.Connection, sheet: int, rejected: int, mentions: Iterable[Mention]) -> None:
    write.executemany(
        "INSERT OR REPLACE INTO mentions VALUES (?, ?, ?, ?, ?)",
        [(sheet, rejected, m.label, stored_parts(m), json.dumps(dict(m.attributes))) for m in mentions],
    )


def now() -> str:
    """Return the time, in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")
