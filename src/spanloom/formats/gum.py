"""The GUM corpus: ``gum:DIR?split=train|dev|test|test2``, one CoNLL-U file per document, splits in ``splits.md``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from spanloom.base.errors import CorpusError
from spanloom.corpus.document import Document
from spanloom.formats import conllu
from spanloom.formats.lines import lines
from spanloom.formats.reading import choice
from spanloom.formats.report import Report

takes_folders = True

SPLITS = ("train", "dev", "test", "test2")
_ENTRY = re.compile(r"\s*\*\s+(\S+)\s*")


def read(path: str, report: Report, *, split: str = "") -> Iterator[Document]:
    """Yield the documents of GUM (and GENTLE, which is ``test2``), in the order of ``splits.md``.

    The genre is in every document's meta ``genre``; mentions have the label of their entity type, and all other
    fields of the annotation as attributes.
    """
    choice("split", split, ("", *SPLITS))
    root = Path(path)
    names = _splits(root, report)
    folder = root / "dep" if (root / "dep").is_dir() else root
    for part in SPLITS if not split else (split,):
        for name in names.get(part, []):
            file = folder / f"{name}.conllu"
            if not file.exists():
                report.warning("absent", str(root / "splits.md"), f"{name} of {part} has no file {file}")
                continue
            for doc in conllu.read(str(file), report):
                doc.meta.setdefault("genre", name.split("_")[1] if name.count("_") > 1 else "")
                yield doc


def _splits(root: Path, report: Report) -> dict[str, list[str]]:
    file = root / "splits.md"
    if not file.exists():
        raise CorpusError("not there; gum needs the folder with splits.md and dep/", str(file))
    names: dict[str, list[str]] = {}
    current = ""
    for _, line in lines(file, report):
        if line.startswith("## "):
            current = line[3:].strip()
        elif match := _ENTRY.fullmatch(line):
            names.setdefault(current, []).append(match[1])
    return names
