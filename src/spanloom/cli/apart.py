"""No command writes over what it reads: checked here for every command, before it does anything."""

from __future__ import annotations

import functools
import glob
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from spanloom.base.files import check_apart

OUTPUTS = ("output", "target", "html", "plot", "objective", "write_config", "jackknife", "state", "table")
"""Parameters of commands that say where results go."""

INPUTS = (
    "a", "annotate", "b", "clusters", "config", "corpus", "dev", "encoder", "features", "file", "files", "gold",
    "lexicon", "model", "other", "parser", "predicted", "ref", "refs", "source", "start", "systems", "test", "text",
    "third", "train",
)  # fmt: skip
"""Parameters of commands that may name files to read."""

NEVER_READ = (".html", ".htm", ".svg", ".png", ".pdf", ".loom")
"""Endings of results that may lie in the folder of a corpus without being a part of it."""

_GIVEN: ContextVar[Mapping[str, Any]] = ContextVar("given", default={})  # noqa: B039 - never changed


def apart(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that first refuses outputs that are among its inputs, whatever else it is told."""
    names = inspect.signature(command)

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        given = names.bind(*args, **kwargs).arguments
        token = _GIVEN.set(given)
        try:
            for name in OUTPUTS:
                if (value := given.get(name)) is not None:
                    overwrite = bool(given.get("overwrite"))
                    if command.__name__ == "tag" and overwrite and _format(os.fspath(value)) == "brat":
                        continue  # new annotations of the same texts, as was said: what was annotated is not read
                    check_output_apart(value, overwrite=overwrite)
            command(*args, **kwargs)
        finally:
            _GIVEN.reset(token)

    return run


def check_output_apart(output: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Raise ``ParameterError`` if an output is among the inputs of the command that runs.

    Parameters
    ----------
    overwrite
        Whether a folder of brat's gets new texts too, not only new annotations.
    """
    value = os.fspath(output)
    endings = (".ann", ".txt") if overwrite or "overwrite=yes" in value else (".ann",)
    written: list[Path] = []
    for path in _paths(value):
        if os.path.isdir(path) and _format(value) == "brat":
            written += (file for file in path.rglob("*") if file.suffix in endings)
        elif path.suffix == ".ann":
            written += (path.with_suffix(ending) for ending in endings)
        else:
            written.append(path)
    check_apart(written, _inputs())


def _inputs() -> Iterator[Path]:
    from spanloom.models import MODELS

    kinds = {"auto", *MODELS}  # --model of some commands names a kind, that of others a file
    for name in INPUTS:
        value = _GIVEN.get().get(name)
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, str | os.PathLike) and not (name == "model" and one in kinds):
                yield from input_files(os.fspath(one))


def input_files(value: str) -> Iterator[Path]:
    """Yield the files that a path, pattern, folder or reference names; none if it is something else, such as a text."""
    from spanloom.bundled import model_path

    for path in _paths(value):
        if os.path.isdir(path):  # of a text it is False, where Path.is_dir raises
            yield from _of_folder(path, _format(value))
        elif os.path.isfile(path):
            yield path
            if path.suffix in (".ann", ".txt"):  # brat reads them together
                yield from (p for p in (path.with_suffix(".ann"), path.with_suffix(".txt")) if p.is_file())
        elif "*" in str(path) or "[" in str(path):
            yield from (Path(p) for p in glob.glob(str(path), recursive=True) if os.path.isfile(p))
    if (bundled := model_path(value)) != Path(value):
        yield bundled


def _of_folder(path: Path, format: str) -> Iterator[Path]:
    """The files of a corpus that is a folder, or of a model that is one; not what else was written into it."""
    from spanloom.formats.reading import takes_folders
    from spanloom.formats.reference import EXTENSIONS

    known = tuple(f".{ending}" for ending in EXTENSIONS.get(format, ()))
    for file in path.rglob("*"):
        ending = next((e for e in reversed(file.suffixes) if e not in (".gz", ".zst")), "")
        if format == "brat":
            read = ending in (".ann", ".txt")
        elif format in EXTENSIONS and not takes_folders(format):
            read = ending in known
        else:
            read = ending not in NEVER_READ or file == path / "model.loom"
        if read and file.is_file():
            yield file


def _paths(value: str) -> Iterator[Path]:
    """The paths that a value may mean: itself, or what is left without ``format:``, ``NAME=`` and ``?option=…``."""
    bare = value.partition("?")[0]
    texts = (value, bare, *(text.partition(mark)[2] for mark in (":", "=") for text in (value, bare)))
    for text in dict.fromkeys(texts):
        if text not in ("", "-") and "\0" not in text and len(text) < 4096:
            yield Path(text)


def _format(value: str) -> str:
    from spanloom.base.errors import SpanloomError
    from spanloom.formats import Reference

    try:
        return Reference.parse(value, "write").format
    except SpanloomError:
        return ""
