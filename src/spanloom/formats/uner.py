"""Universal NER on English EWT: ``uner:DIR?split=train|dev|test``, trees joined with entities by ``sent_id``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spanloom.base.errors import CorpusError
from spanloom.corpus.document import Document
from spanloom.formats import conllu
from spanloom.formats.reading import choice
from spanloom.formats.report import Report

takes_folders = True

SPLITS = ("train", "dev", "test")


def read(path: str, report: Report, *, split: str = "", ignore: str = "OTH,O") -> Iterator[Document]:
    """Yield the documents of one split, or of all.

    Parameters
    ----------
    split
        train, dev or test.
    ignore
        Labels that are no mentions: by default ``OTH`` and the stray ``B-O``, which leaves PER, LOC and ORG.
    """
    choice("split", split, ("", *SPLITS))
    for part in SPLITS if not split else (split,):
        files = sorted(Path(path).glob(f"*-{part}.conllu"))
        if len(files) != 1:
            raise CorpusError(f"expected one file *-{part}.conllu, found {len(files)}", path)
        yield from conllu.read(str(files[0]), report, iob2=str(files[0].with_suffix(".iob2")), ignore=ignore)
