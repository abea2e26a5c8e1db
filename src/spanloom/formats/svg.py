"""A picture of the text and its mentions, for papers, slides and READMEs; written only."""

from __future__ import annotations

from collections.abc import Iterable

from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Document
from spanloom.formats.report import Report
from spanloom.formats.writing import target

keeps_probabilities = True


def write(docs: Iterable[Document], path: str, report: Report, *, width: str = "88") -> None:
    """Write one picture of all documents, sentence by sentence.

    Parameters
    ----------
    width
        How many characters a line may have.
    """
    from spanloom.drawing.svg import picture

    if not width.isdecimal() or int(width) < 8:
        raise ParameterError(f"option width={width!r} must be a whole number from 8: the characters of a line")
    with target(path, report) as out:
        out.write(picture(docs, int(width)))
