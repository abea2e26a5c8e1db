"""The SQLite file of a project: every transaction is on the disk before it is over."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spanloom.base.errors import SpanloomError
from spanloom.workbench.errors import NotStored

VERSION = 1
"""Of the tables below; a file of a newer one is not opened."""

TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, record TEXT NOT NULL, text TEXT NOT NULL,
  tokens INTEGER NOT NULL, sentences INTEGER NOT NULL, held_out INTEGER NOT NULL DEFAULT 0);
CREATE TABLE annotators (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE sheets (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents,
  annotator INTEGER NOT NULL REFERENCES annotators, version INTEGER NOT NULL DEFAULT 0, UNIQUE (document, annotator));
CREATE TABLE mentions (
  sheet INTEGER NOT NULL REFERENCES sheets, rejected INTEGER NOT NULL, label TEXT NOT NULL, parts TEXT NOT NULL,
  attributes TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (sheet, rejected, label, parts)) WITHOUT ROWID;
CREATE TABLE confirmed (
  sheet INTEGER NOT NULL REFERENCES sheets, sentence INTEGER NOT NULL, PRIMARY KEY (sheet, sentence)) WITHOUT ROWID;
CREATE TABLE actions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sheet INTEGER NOT NULL REFERENCES sheets, version INTEGER NOT NULL,
  at TEXT NOT NULL, kind TEXT NOT NULL, change TEXT NOT NULL, of INTEGER REFERENCES actions, state TEXT NOT NULL);
CREATE INDEX actions_of_sheet ON actions (sheet, state, id);
CREATE TABLE models (
  id INTEGER PRIMARY KEY, at TEXT NOT NULL, corrections INTEGER NOT NULL, sentences INTEGER NOT NULL,
  seconds REAL NOT NULL, facts TEXT NOT NULL);
CREATE TABLE scores (
  model INTEGER PRIMARY KEY REFERENCES models, how TEXT NOT NULL, precision REAL NOT NULL, recall REAL NOT NULL,
  f1 REAL NOT NULL);
CREATE TABLE suggestions (
  document INTEGER NOT NULL REFERENCES documents, label TEXT NOT NULL, parts TEXT NOT NULL, prob REAL,
  PRIMARY KEY (document, label, parts)) WITHOUT ROWID;
CREATE TABLE beliefs (
  document INTEGER PRIMARY KEY REFERENCES documents, model INTEGER NOT NULL, entropy REAL NOT NULL,
  changed REAL NOT NULL);
CREATE TABLE suspects (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents, sentence INTEGER NOT NULL, kind TEXT NOT NULL,
  suspicion REAL NOT NULL, gold TEXT, instead TEXT);
"""


class Database:
    """One connection for all threads of the server; they take turns.

    WAL with ``synchronous=FULL``: a transaction that has returned survives the end of the process and of the machine.
    The file is locked as long as it is open, so that no second server writes to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = threading.RLock()
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0.2)
        except sqlite3.OperationalError as error:
            raise SpanloomError(f"{path} cannot be opened: {error}") from None
        self._connection.row_factory = sqlite3.Row
        try:
            self._open()
        except sqlite3.OperationalError as error:
            self._connection.close()
            if "locked" in str(error):
                raise SpanloomError(f"{path} is open in another process; stop that one first") from None
            raise SpanloomError(f"{path} cannot be opened: {error}") from None
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise SpanloomError(f"{path} is no project of the workbench: {error}") from None

    def _open(self) -> None:
        run = self._connection.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("PRAGMA foreign_keys = ON")
        found = run("PRAGMA user_version").fetchone()[0]
        if found == 0:
            self._connection.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT")
        elif found > VERSION:
            raise SpanloomError(f"{self.path} was written by a newer spanloom (tables {found}, known up to {VERSION})")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads away for as long as what was read must stay true."""
        with self._turn:
            yield

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for one transaction: all of it is on the disk at the end, or none of it."""
        with self._turn, self._told("stored"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk ends a transaction by itself
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Turn an error of the disk into one of ours, which says that nothing was done."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise NotStored(
                f"{self.path}: {error}; nothing was {what}. Make room or mend the disk, and try again"
            ) from None
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
                raise
            raise NotStored(f"{self.path} is damaged: {error}; nothing was {what}") from None

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """Return all rows of a query."""
        with self._turn, self._told("read"):
            return self._connection.execute(query, values).fetchall()

    def row(self, query: str, *values: Any) -> sqlite3.Row | None:
        """Return the first row of a query, or None."""
        with self._turn, self._told("read"):
            found: sqlite3.Row | None = self._connection.execute(query, values).fetchone()
            return found

    def value(self, query: str, *values: Any) -> Any:
        """Return the first value of the first row; None if there is none."""
        row = self.row(query, *values)
        return None if row is None else row[0]

    def close(self) -> None:
        """Close the file; what was written is in it."""
        with self._turn, self._told("lost"):
            self._connection.close()
