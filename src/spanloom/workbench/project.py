"""A project: a folder with the annotation in one SQLite file, and the models."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spanloom.corpus.document import Document
from spanloom.formats import read
from spanloom.workbench.changes import mention_json
from spanloom.workbench.database import Database
from spanloom.workbench.documents import Added, Documents
from spanloom.workbench.labels import Labels, settings
from spanloom.workbench.learner import Learner
from spanloom.workbench.locks import Locks
from spanloom.workbench.sheets import Sheets
from spanloom.workbench.suggestions import suggestions
from spanloom.workbench.views import text_view

FILE = "project.sqlite"


class Project:
    """Everything that the page and the API work on.

    Parameters
    ----------
    folder
        Made if it is not there.

    Attributes
    ----------
    finished
        Documents that were finished since it last learned.

    Examples
    --------
    >>> import tempfile
    >>> from spanloom.corpus import make_document
    >>> from spanloom.workbench.changes import Change
    >>> from spanloom import Mention
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     project = Project(folder)
    ...     _ = project.add([make_document("The IL-2 gene.", "a")])
    ...     sheet = project.sheets.change(1, "ann", 0, "add", Change(add=(Mention("DNA", ((1, 3),)),)))
    ...     project.close()
    >>> sheet.version, sheet.mentions
    (1, {Mention(label='DNA', parts=((1, 3),), prob=None)})
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.db = Database(self.folder / FILE)
        self.documents = Documents(self.db)
        self.sheets = Sheets(self.db, self.documents)
        self.labels = Labels(self.db)
        self.locks = Locks()
        self.finished = 0
        self.learner = Learner(self.db, self.documents, self.sheets, self.folder / "models")

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.resolve().name

    def add(self, docs: Iterable[Document], mentions: str = "auto", held_out: bool | None = None) -> Added:
        """Add documents; see ``Documents.add``. If ``held_out`` is None, the project's setting decides."""
        every = settings(self.db)["held_out"]
        if held_out is not None or not every:
            return self.documents.add(docs, mentions, bool(held_out))
        rest: list[Document] = []
        kept: list[Document] = []
        for i, doc in enumerate(docs):
            (kept if i % every == every - 1 else rest).append(doc)
        one, two = self.documents.add(rest, mentions), self.documents.add(kept, mentions, True)
        return Added(one.added + two.added, one.known + two.known)

    def read(self, ref: str, mentions: str = "auto", held_out: bool | None = None) -> Added:
        """Add the documents of a corpus reference, such as ``sample:train``."""
        return self.add(read(ref), mentions, held_out)

    def view(self, document: int, annotator: str) -> dict[str, Any]:
        """Return a document with what an annotator has made of it, and what is suggested."""
        row = self.db.row("SELECT name, held_out FROM documents WHERE id = ?", document)
        doc = self.documents.get(document)
        return {
            "id": document,
            "name": row["name"] if row is not None else "",
            "held_out": bool(row is not None and row["held_out"]),
            "text": text_view(doc),
            "sheet": self.sheets.get(document, annotator).to_json(),
            **self.suggested(document),
        }

    def suggested(self, document: int) -> dict[str, Any]:
        """Return the suggestions of a document and the number of the model that made them."""
        model = self.db.value("SELECT model FROM beliefs WHERE document = ?", document)
        return {"suggestions": [mention_json(m) for m in suggestions(self.db, document)], "model": model or 0}

    def close(self) -> None:
        """Stop learning and close the file."""
        self.learner.close()
        self.db.close()
