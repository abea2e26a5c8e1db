"""Documents of an uploaded file. Its name says the format and nothing else: the file lies where we put it."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from spanloom.base.errors import SpanloomError
from spanloom.corpus.document import Document
from spanloom.formats import read
from spanloom.formats.reference import EXTENSIONS, Reference
from spanloom.workbench.errors import Refused

UPLOADED = tuple(name for name in EXTENSIONS if name not in ("sample", "huggingface", "html", "svg", "genia", "gum"))
"""Formats of files; the others are read from folders or from elsewhere, with ``spanloom workbench PROJECT CORPUS``."""
LARGEST = 512 << 20
"""Bytes that the files of an archive may have when they are unpacked."""
MOST = 100_000
"""Files that an archive may have."""


def upload(name: str, format: str, body: bytes) -> tuple[list[Document], list[str]]:
    """Read an uploaded file, or a ``.zip`` of files of one format.

    Parameters
    ----------
    name
        As the file was called.
    format
        If empty, the ending of the name says it.

    Returns
    -------
    list of Document, list of str
        The documents, and what was wrong with them without being an error.
    """
    if format and format not in UPLOADED:
        raise Refused(f"there is no format {format!r:.60} for files; there are {', '.join(UPLOADED)}")
    if not body:
        raise Refused("the file is empty")
    ending = PurePosixPath(name.replace("\\", "/")).suffix.lower()[:10]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "files"
        place.mkdir()
        if ending == ".zip":
            _unpack(body, place)
            path = place
        else:
            path = place / f"upload{ending if ending[1:].isalnum() else '.txt'}"
            path.write_bytes(body)
        try:
            found = format or Reference.parse(path).format
            if found not in UPLOADED:
                raise Refused(f"files of the format {found} cannot be uploaded; there are {', '.join(UPLOADED)}")
            corpus = read(Reference(found, str(path)))
            docs = list(corpus)
        except (SpanloomError, OSError, ValueError) as error:
            raise Refused(str(error).replace(f"{path}", name or "the file").replace(f"{place}/", "")) from None
    for doc in docs:
        doc.id = doc.id.replace(f"{place}/", "")
    if not docs:
        raise Refused(f"there is no document in {name or 'the file'}")
    return docs, [str(note) for note in corpus.report.problems[:20]]


def _unpack(body: bytes, place: Path) -> None:
    """Unpack an archive into a folder: only files, under their own names, and not more than allowed."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            if len(members) > MOST:
                raise Refused(f"the archive has {len(members):,} files; {MOST:,} are allowed")
            left = LARGEST
            for one in members:
                parts = PurePosixPath(one.filename.replace("\\", "/")).parts
                if one.filename.startswith("/") or ".." in parts or not parts or ":" in parts[0]:
                    raise Refused(f"the archive has a file outside of itself: {one.filename!r:.100}")
                target = place.joinpath(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(one) as source, target.open("wb") as out:
                    while piece := source.read(1 << 20):  # what the header says of the size need not be true
                        left -= len(piece)
                        if left < 0:
                            raise Refused(f"the archive has more than {LARGEST:,} bytes when it is unpacked")
                        out.write(piece)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise Refused(f"the archive cannot be unpacked: {error}") from None
