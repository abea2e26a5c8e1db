"""The files of a reference: one, all that a pattern matches, or all of a folder."""

from __future__ import annotations

import glob
from pathlib import Path

from spanloom.base.errors import CorpusError
from spanloom.formats.reference import EXTENSIONS, Reference, bare, missing


def files_of(ref: Reference, takes_folders: bool = False) -> list[str]:
    """Return the paths to read one after the other, in the order of their names.

    Parameters
    ----------
    ref
        Its path is a file, ``-``, a pattern such as ``in/*.jsonl.gz``, or a folder, of which all files with an ending
        of the format are taken.
    takes_folders
        Whether the format's reader takes a folder as it is.
    """
    path = Path(ref.path)
    if ref.path == "-":
        return ["-"]
    if path.is_dir() and not takes_folders:
        found = sorted(str(p) for p in path.rglob("*") if p.is_file() and _ending(p) in EXTENSIONS[ref.format])
        if not found:
            endings = ", ".join(f".{e}" for e in EXTENSIONS[ref.format])
            raise CorpusError(
                f"this folder has no file of the format {ref.format} ({endings or 'no ending is its own'}; also .gz, "
                f".zst); a pattern may name others: '{ref.format}:{ref.path.rstrip('/')}/*'",
                ref.path,
            )
        return found
    if not path.exists() and ("*" in ref.path or "[" in ref.path):
        found = sorted(glob.glob(ref.path, recursive=True))
        if not found:
            raise CorpusError("no file matches this pattern", ref.path)
        # The text of an annotation is read with it, not again by itself.
        return [p for p in found if not (p.endswith(".txt") and f"{p[:-4]}.ann" in found)]
    if not path.exists():
        raise CorpusError(missing(ref.path), ref.path)
    return [ref.path]


def _ending(path: Path) -> str:
    return Path(bare(path.name)).suffix.lstrip(".").lower()
