"""Documents of an uploaded file. Its name says the format and nothing else: the file lies where we put it."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO

from spanloom.base.errors import CorpusError, SpanloomError
from spanloom.corpus.document import Document
from spanloom.formats import read
from spanloom.formats.compression import reading_bytes
from spanloom.formats.reference import COMPRESSED, EXTENSIONS, Reference, bare
from spanloom.workbench.errors import Refused

UPLOADED = tuple(name for name in EXTENSIONS if name not in ("sample", "huggingface", "html", "svg", "genia", "gum"))
"""Formats of files; the others are read from folders or from elsewhere, with ``spanloom workbench PROJECT CORPUS``."""
LARGEST = 512 << 20
"""Bytes that a compressed file, or the files of an archive, may have when they are unpacked."""
ELSEWHERE = ("iob2",)
"""Options that name another file."""
MOST = 100_000
"""Files that an archive may have."""
_OURS = "the-uploaded-file-c1e7"  # what an upload is called where we put it; ids that are made of it get its own name


def options_of(given: str) -> dict[str, str]:
    """Return the options of a format as typed, ``encoding=cp1252&align=expand``; none may name a file of this machine.

    Examples
    --------
    >>> options_of(" align=expand & encoding=cp1252")
    {'align': 'expand', 'encoding': 'cp1252'}
    """
    found = {}
    for pair in filter(None, (part.strip() for part in given.split("&"))):
        name, mark, value = pair.partition("=")
        if not mark or name in ELSEWHERE:
            raise Refused(f"options are written NAME=VALUE&NAME=VALUE, such as encoding=cp1252, not {pair!r:.60}")
        found[name] = value
    return found


def upload(name: str, format: str, body: bytes, options: str = "") -> tuple[list[Document], list[str]]:
    """Read an uploaded file, which may be compressed (``.gz``, ``.zst``), or a ``.zip`` of files of one format.

    Parameters
    ----------
    name
        As the file was called.
    format
        If empty, the ending of the name says it.
    options
        Of the format, see ``options_of``.

    Returns
    -------
    list of Document, list of str
        The documents, and what was wrong with them without being an error.
    """
    if format and format not in UPLOADED:
        raise Refused(f"there is no format {format!r:.60} for files; there are {', '.join(UPLOADED)}")
    if not body:
        raise Refused("the file is empty")
    ending = _ending(bare(name))
    if ending == ".ann":
        raise Refused(f"{name:.100}: an .ann file has no text of its own; pack it with its .txt into a .zip")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "files"
        place.mkdir()
        if ending == ".zip":
            _unpack(body, place)
            path = place
        else:
            path = place / f"{_OURS}{ending if ending[1:].isalnum() else '.txt'}"
            if name.lower().endswith(COMPRESSED):
                _expand(body, _ending(name), Path(folder), path)
            else:
                path.write_bytes(body)
        try:
            found = format or Reference.parse(path).format
            if found not in UPLOADED:
                raise Refused(f"files of the format {found} cannot be uploaded; there are {', '.join(UPLOADED)}")
            corpus = read(Reference(found, str(path)), **options_of(options))
            docs = list(corpus)
        except (SpanloomError, OSError, ValueError) as error:
            raise Refused(
                str(error).replace(f"{path}", name or "the file").replace(f"{place}/", "").replace(_OURS, _stem(name))
            ) from None
    for doc in docs:
        doc.id = doc.id.replace(f"{place}/", "").replace(_OURS, _stem(name))
    if not docs:
        raise Refused(f"there is no document in {name or 'the file'}")
    return docs, [str(note) for note in corpus.report.problems[:20]]


def _ending(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).suffix.lower()[:10]


def _stem(name: str) -> str:
    return PurePosixPath(bare(name).replace("\\", "/")).stem[:100] or "upload"


class _Room:
    """How much may still be unpacked; what a header says of the size need not be true."""

    def __init__(self, what: str) -> None:
        self.what, self.left = what, LARGEST

    def copy(self, source: IO[bytes], target: Path) -> None:
        """Write what comes, as long as there is room."""
        with target.open("wb") as out:
            while piece := source.read(1 << 20):
                self.left -= len(piece)
                if self.left < 0:
                    raise Refused(f"{self.what} has more than {LARGEST:,} bytes when it is unpacked")
                out.write(piece)


def _expand(body: bytes, ending: str, folder: Path, path: Path) -> None:
    """Unpack a compressed file."""
    packed = folder / f"packed{ending}"
    packed.write_bytes(body)
    try:
        with reading_bytes(str(packed)) as source:
            _Room("the file").copy(source, path)
    except CorpusError as error:
        raise Refused(str(error).replace(str(packed), "the file")) from None
    packed.unlink()


def _unpack(body: bytes, place: Path) -> None:
    """Unpack an archive into a folder: only files, under their own names, and not more than allowed."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            if len(members) > MOST:
                raise Refused(f"the archive has {len(members):,} files; {MOST:,} are allowed")
            room = _Room("the archive")
            for one in members:
                parts = PurePosixPath(one.filename.replace("\\", "/")).parts
                if one.filename.startswith("/") or ".." in parts or not parts or ":" in parts[0]:
                    raise Refused(f"the archive has a file outside of itself: {one.filename!r:.100}")
                if one.filename.lower().endswith(COMPRESSED):
                    raise Refused(f"the archive has a compressed file: {one.filename!r:.100}; unpack it first")
                target = place.joinpath(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(one) as source:
                    room.copy(source, target)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise Refused(f"the archive cannot be unpacked: {error}") from None
