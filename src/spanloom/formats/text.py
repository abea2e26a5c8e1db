"""Raw text without annotation, tokenised and split into sentences.

``documents=file`` makes one document of the whole file, ``documents=lines`` one of every line that is not blank.
Standard input is read by lines, so that results come as the text does. ``tokens=space`` takes what stands between white
space as tokens, ``sentences=lines`` every line as a sentence; see :func:`spanloom.formats.raw.from_text` for others.
``encoding=`` is another one than UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spanloom.corpus.document import Document
from spanloom.formats.lines import lines, whole
from spanloom.formats.raw import from_text
from spanloom.formats.reading import choice
from spanloom.formats.report import Report


def read(
    path: str, report: Report, *, documents: str = "", tokens: str = "", sentences: str = "default",
    encoding: str = "utf-8",
) -> Iterator[Document]:  # fmt: skip
    """Yield the documents of a text file, or of standard input for ``-``."""
    how = choice("documents", documents or ("lines" if path == "-" else "file"), ("file", "lines"))
    name = "standard input" if path == "-" else Path(path).name
    if how == "file":
        if path == "-":
            text = "\n".join(line for _, line in lines(path, report, encoding))
        else:
            text = whole(path, encoding, report)
        yield from_text(text, (), report, name, id=name, tokens=tokens, sentences=sentences)
        return
    for number, line in lines(path, report, encoding):
        if line.strip():
            id = f"{name}:{number}"
            yield from_text(line, (), report, id, id=id, tokens=tokens, sentences=sentences)
