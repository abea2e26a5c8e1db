"""The corpus that comes with spanloom: ``sample:train``, ``sample:dev``, ``sample:test``.

Small, in two domains, with every kind of mention; for a first try, for examples and for tests. Its annotation is
described in ``docs/sample-corpus.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import as_file, files

from spanloom.base.errors import ParameterError
from spanloom.corpus.document import Document
from spanloom.formats import jsonl
from spanloom.formats.reading import choice
from spanloom.formats.report import Report

PARTS = ("train", "dev", "test")
DOMAINS = ("biomedical", "news")

finds_files = True


def read(path: str, report: Report, *, domain: str = "all") -> Iterator[Document]:
    """Yield the documents of one part.

    Parameters
    ----------
    path
        The part: train, dev or test.
    domain
        ``biomedical`` or ``news``, or ``all`` of both.

    Examples
    --------
    >>> from spanloom import read
    >>> doc = next(iter(read("sample:train?domain=news")))
    >>> doc.sentences[0].text
    'Anna Lindqvist was elected mayor of Tarnby on Sunday.'
    >>> [(m.label, doc.surface(m)) for m in doc.sentences[0].mentions]
    [('PER', 'Anna Lindqvist'), ('LOC', 'Tarnby')]
    """
    if path not in PARTS:
        raise ParameterError(f"the sample corpus has no part {path!r}; write {', '.join(f'sample:{p}' for p in PARTS)}")
    choice("domain", domain, ("all", *DOMAINS))
    with as_file(files("spanloom").joinpath("data", "sample", f"{path}.jsonl")) as file:
        for doc in jsonl.read(str(file), report):
            if domain in ("all", doc.meta["domain"]):
                yield doc
