"""The models that come with spanloom, by name."""

from __future__ import annotations

import errno
import os
from importlib.resources import files
from pathlib import Path

NAMES = ("genia",)
"""``genia``: proteins, DNA, RNA, cell lines and cell types in English biomedical abstracts, nested."""


def model_path(path: str | os.PathLike[str]) -> Path:
    """Return where a model file is: a path, or the name of a model that comes with spanloom if there is no such file.

    Examples
    --------
    >>> model_path("my.loom").name, model_path("genia").name
    ('my.loom', 'genia.loom')
    """
    given = Path(path)
    if str(given) in NAMES and not given.exists():
        return Path(str(files("spanloom") / "data" / "models" / f"{given}.loom"))
    return given


def existing_model(path: str | os.PathLike[str]) -> Path:
    """Return where a model file is, as :func:`model_path`; a name that is almost one of ours is told which.

    Examples
    --------
    >>> existing_model("gnia")
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] no such file; a model that comes with spanloom is called genia: 'gnia'
    """
    found = model_path(path)
    if not found.exists() and found.name == str(found):
        from difflib import get_close_matches

        if near := get_close_matches(found.stem.lower(), NAMES, 1):
            raise FileNotFoundError(
                errno.ENOENT, f"no such file; a model that comes with spanloom is called {near[0]}", str(found)
            )
    return found
