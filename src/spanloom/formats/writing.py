"""Where writers write: a file, whole or not at all, or standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from spanloom.base.files import whole_file


@contextmanager
def target(path: str) -> Iterator[IO[str]]:
    """Open a file for writing, or standard output if the path is ``-``."""
    if path == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    with whole_file(path) as out:
        yield out
