"""The models that come with spanloom, by name."""

from __future__ import annotations

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
