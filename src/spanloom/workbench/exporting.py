"""The annotation as a file of any format that can be written; a folder becomes an archive."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from spanloom.base.errors import SpanloomError
from spanloom.corpus.document import Document
from spanloom.formats import write
from spanloom.formats.reading import takes_folders
from spanloom.formats.reference import EXTENSIONS, Reference
from spanloom.workbench.api.call import Download
from spanloom.workbench.errors import Missing, Refused
from spanloom.workbench.gold import annotated_document, gold_document
from spanloom.workbench.importing import options_of

if TYPE_CHECKING:
    from spanloom.workbench.project import Project

_ENDINGS = {"prodigy": "jsonl", "doccano": "jsonl", "labelstudio": "json"}
WRITTEN = ("jsonl", "conll", "brat", "conllu", "bioc", "pubtator", "prodigy", "doccano", "labelstudio", "spacy",
           "parquet", "html", "svg")  # fmt: skip
"""Formats of exports. ``jsonl`` holds everything."""


def layer(project: Project, name: str) -> list[Document]:
    """Return all documents with one layer: an annotator's, ``imported``, ``adjudicated``, or ``gold``, what counts."""
    if name != "gold" and project.db.value("SELECT id FROM annotators WHERE name = ?", name) is None:
        raise Missing(f"there is no annotator {name!r:.60}")
    made = []
    for number in project.documents.numbers():
        doc = project.documents.get(number)
        if name == "gold":
            made.append(gold_document(doc, project.sheets.of(number)))
        else:
            made.append(annotated_document(doc, project.sheets.get(number, name)))
    return made


def export(project: Project, format: str, name: str, options: str = "") -> Download:
    """Write a layer in a format with its options; what the format cannot hold is an error that says the way out."""
    if format not in WRITTEN:
        raise Refused(f"there is no format {format!r:.60} to export; there are {', '.join(WRITTEN)}")
    docs = layer(project, name)
    ending = _ENDINGS.get(format) or EXTENSIONS[format][0]
    stem = f"{project.name}-{name}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("corpus" if takes_folders(format) else f"corpus.{ending}")
        try:
            write(docs, Reference(format, str(path)), **options_of(options))
        except SpanloomError as error:
            raise Refused(str(error).replace(str(path), "the export")) from None
        if path.is_dir():
            return Download(f"{stem}-{format}.zip", _packed(path), "application/zip")
        return Download(f"{stem}.{ending}", path.read_bytes())


def _packed(folder: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return out.getvalue()
