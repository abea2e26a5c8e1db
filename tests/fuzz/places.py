"""Folders for the files of inputs: in memory where the system has such a place, and gone when the process ends."""

from __future__ import annotations

import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_HELD: list[tempfile.TemporaryDirectory[str]] = []


def folder(name: str) -> Path:
    """Return a new folder."""
    where = str(_MEMORY) if _MEMORY.is_dir() else None
    _HELD.append(tempfile.TemporaryDirectory(prefix=f"spanloom-fuzz-{name}-", dir=where, ignore_cleanup_errors=True))
    return Path(_HELD[-1].name)
