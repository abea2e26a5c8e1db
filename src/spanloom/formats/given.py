"""A text that is given as it is, where others have a file: what ``spanloom tag MODEL "the text"`` reads."""

from __future__ import annotations

from collections.abc import Iterator

from spanloom.corpus.document import Document
from spanloom.formats.raw import from_text
from spanloom.formats.report import Report

finds_files = True


def read(path: str, report: Report) -> Iterator[Document]:
    """Yield one document of the text ``path``."""
    yield from_text(path, (), report, "the text")
