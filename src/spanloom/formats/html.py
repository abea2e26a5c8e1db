"""A page with the text and its mentions, to look at, to print and to send; written only.

Bars under the text, inner mentions nearer to it, the parts of discontinuous ones joined by dashes; probabilities show
where the pointer rests. Light or dark as the reader's system is; nothing is loaded from the network, and there are no
scripts.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from spanloom.corpus.document import Document
from spanloom.formats.reference import bare
from spanloom.formats.report import Report
from spanloom.formats.writing import target

keeps_probabilities = True


def write(docs: Iterable[Document], path: str, report: Report, *, title: str = "") -> None:
    """Write one page of all documents.

    Parameters
    ----------
    title
        The heading; the name of the file if left out.
    """
    from spanloom.drawing.page import page

    with target(path, report) as out:
        out.writelines(page(docs, title or ("" if path == "-" else Path(bare(path)).stem)))
