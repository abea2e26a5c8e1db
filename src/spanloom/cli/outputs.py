"""Where results go."""

from __future__ import annotations

import os
from pathlib import Path


def check_output(output: Path) -> None:
    """Fail before long work, not after it, if its result cannot be written."""
    folder = output.parent
    if output.is_dir():
        raise IsADirectoryError(21, "is a folder; give the name of a file", str(output))
    if not folder.is_dir():
        raise FileNotFoundError(2, "no such folder", str(folder))
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "cannot write in this folder", str(folder))
