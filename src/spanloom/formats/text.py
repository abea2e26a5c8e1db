"""Raw text without annotation, tokenised and split into sentences by the default tokenizer.

``documents=file`` makes one document of the whole file, ``documents=lines`` one of every line that is not blank.
Standard input is read by lines, so that results come as the text does. ``encoding=`` is another one than UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spanloom.corpus.document import Document
from spanloom.corpus.tokenizer import make_document
from spanloom.formats.lines import lines, whole
from spanloom.formats.reading import choice
from spanloom.formats.report import Report


def read(path: str, report: Report, *, documents: str = "", encoding: str = "utf-8") -> Iterator[Document]:
    """Yield the documents of a text file, or of standard input for ``-``."""
    how = choice("documents", documents or ("lines" if path == "-" else "file"), ("file", "lines"))
    name = "standard input" if path == "-" else Path(path).name
    if how == "file":
        if path == "-":
            text = "\n".join(line for _, line in lines(path, report, encoding))
        else:
            text = whole(path, encoding, report)
        yield make_document(text, name)
        return
    for number, line in lines(path, report, encoding):
        if line.strip():
            yield make_document(line, f"{name}:{number}")
