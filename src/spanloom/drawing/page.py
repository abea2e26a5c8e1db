"""A page of documents with their mentions: one self-contained file, written as documents come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import resources

from spanloom.corpus.document import Document
from spanloom.drawing.html import clean, document_html, style
from spanloom.drawing.picture import label_style


def page(docs: Iterable[Document], title: str = "") -> Iterator[str]:
    """Yield the pieces of an HTML page: light or dark as the reader's system is, fit to be printed.

    Parameters
    ----------
    docs
        Any number; each is asked for when those before it are done.
    title
        The heading.

    Examples
    --------
    >>> text = "".join(page([Document([], "d1", "x < y")], "My text"))
    >>> "<title>My text</title>" in text, "x &lt; y" in text
    (True, True)
    """
    yield _file("page.html").format(title=clean(title or "mentions"), css=_file("page.css") + style())
    if title:
        yield f"<h1>{clean(title)}</h1>\n"
    counts: Counter[str] = Counter()
    for doc in docs:
        counts.update(m.label for sentence in doc.sentences for m in sentence.mentions)
        name = f"<h2>{clean(doc.id)}</h2>" if doc.id else ""
        yield f"<article>{name}{document_html(doc)}</article>\n"
    # Known at the end, shown at the beginning, by the style sheet.
    rows = (f'<li style="--m:{label_style(label)}">{clean(label)} {n:,}</li>' for label, n in sorted(counts.items()))
    yield f'<ul class="legend">{"".join(rows)}</ul>\n</body>\n</html>\n'


@lru_cache(maxsize=4)
def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
