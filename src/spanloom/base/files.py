"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from spanloom.base.errors import ParameterError
from spanloom.base.parts import part_name, sweep_once

_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def whole_file(
    path: str | os.PathLike[str], mode: str = "w", *, name: Callable[[Path], Path] | None = None
) -> Iterator[IO[Any]]:
    """Open a temporary neighbour of ``path`` for writing; it takes the name ``path`` only if the block succeeds.

    A failed or interrupted block leaves an older file of that name as it was. A link is followed, an older file's
    permissions are kept, and what is not a file (a pipe, ``/dev/stdout``) is written to directly. What a process that
    was killed has left in the folder is removed.

    Parameters
    ----------
    path, mode
        As for ``open``; text is UTF-8.
    name
        Asked at the end of the block which name the file takes, given the one that it was to have.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(folder + "/a.txt") as out:
    ...         _ = out.write("done")
    ...     Path(folder, "a.txt").read_text()
    'done'
    """
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    try:
        old: os.stat_result | None = os.stat(path)
    except FileNotFoundError:
        old = None
    if old and not stat.S_ISREG(old.st_mode):
        with open(path, mode, **text) as out:
            yield out
        return
    target = Path(os.path.realpath(path))
    sweep_once(target.parent, os.getpid())
    part = target.with_name(part_name())
    try:
        with open(part, mode.replace("w", "x"), **text) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if old:
            os.chmod(part, stat.S_IMODE(old.st_mode))
        os.replace(part, name(target) if name else target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _of(path, part, error) from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def whole_files(path: str | os.PathLike[str], *, name: Callable[[Path], Path] | None = None) -> Iterator[Path]:
    """Give a temporary folder; the files that the block leaves in it go into the folder ``path`` if it succeeds.

    Files of the same names are replaced, others stay. Parameters are those of :func:`whole_file`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_files(folder + "/out") as place:
    ...         _ = (place / "a.txt").write_text("a")
    ...     os.listdir(folder), os.listdir(folder + "/out")
    (['out'], ['a.txt'])
    """
    target = Path(os.path.realpath(path))
    place = target if target.is_dir() else target.parent
    part = place / part_name()
    try:
        place.mkdir(parents=True, exist_ok=True)
        sweep_once(place, os.getpid())
        part.mkdir()
        yield part
        final = name(target) if name else target
        if final != target:  # what is left of an earlier run under another name is no part of this one
            shutil.rmtree(final, ignore_errors=True)
        for file in sorted(p for p in part.rglob("*") if not p.is_dir()):
            goal = final / file.relative_to(part)
            goal.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, goal)
        final.mkdir(exist_ok=True)
    except OSError as error:
        raise _of(path, part, error) from None
    finally:
        _remove(part)


def _remove(folder: Path) -> None:
    """Remove a folder; once more, if that was interrupted or failed half-way."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        if folder.exists():
            shutil.rmtree(folder, ignore_errors=True)


def _of(path: str | os.PathLike[str], part: Path, error: OSError) -> OSError:
    """Return the error with the name that the user gave; the temporary one would only confuse."""
    given = None if error.filename is None else os.fspath(error.filename)
    if given == str(part) or (given is None and error.errno in _WRITE_ERRORS):
        return OSError(error.errno, error.strerror, os.fspath(path))
    if given is not None and given.startswith(f"{part}{os.sep}"):
        return OSError(error.errno, error.strerror, os.path.join(path, given[len(str(part)) + 1 :]))
    return error


def check_apart(outputs: Iterable[str | os.PathLike[str]], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise ``ParameterError`` if a file to be written is one to be read, by the same name or through a link.

    Examples
    --------
    >>> check_apart(["new.loom"], ["corpus.jsonl"])
    """
    there = {(s.st_dev, s.st_ino): os.fspath(path) for path in outputs if (s := _regular(path))}
    for one in inputs if there else ():
        status = _regular(one)
        output = None if status is None else there.get((status.st_dev, status.st_ino))
        if output is not None:
            also = "" if os.fspath(one) == output else f" (the same file as {os.fspath(one)})"
            raise ParameterError(
                f"{output}{also} is an input of this command, and the output would replace it; write elsewhere"
            )


def _regular(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def check_place(path: str | os.PathLike[str], *, folder: bool = False) -> None:
    """Raise ``OSError`` if a result cannot be written at ``path``: to be called before long work, not after it.

    Parameters
    ----------
    folder
        Whether the result is, or may be, a folder; those above it are made then.
    """
    target = Path(path)
    above = target.parent
    if not folder and target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; give the name of a file", str(path))
    while folder and not above.exists() and above != above.parent:
        above = above.parent
    if target.exists() and not target.is_dir() and not stat.S_ISREG(target.stat().st_mode):
        return  # a pipe or a device
    if not above.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(above))
    for place in (above, target) if target.is_dir() else (above,):
        if not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "cannot write in this folder", str(place))
