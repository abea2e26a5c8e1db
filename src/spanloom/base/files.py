"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary neighbour of ``path`` for writing; it takes the name ``path`` only if the block succeeds.

    A failed or interrupted block leaves an older file of that name as it was. A link is followed, an older file's
    permissions are kept, and what is not a file (a pipe, ``/dev/stdout``) is written to directly.

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
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(part, mode.replace("w", "x"), **text) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if old:
            os.chmod(part, stat.S_IMODE(old.st_mode))
        os.replace(part, target)
    except OSError as error:
        part.unlink(missing_ok=True)
        if error.filename == str(part) or (error.filename is None and error.errno in _WRITE_ERRORS):
            raise OSError(error.errno, error.strerror, str(path)) from None  # the temporary name would only confuse
        raise
    except BaseException:
        part.unlink(missing_ok=True)
        raise
