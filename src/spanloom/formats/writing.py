"""Where writers write: a file, whole or not at all, or standard output."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from spanloom.base.files import whole_file
from spanloom.formats.compression import packing
from spanloom.formats.report import Report


@contextmanager
def target(path: str, report: Report) -> Iterator[IO[str]]:
    """Open a file of text for writing, packed if its ending says so, or standard output if the path is ``-``."""
    if path == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    with binary_target(path, report) as raw, packing(path, raw) as packed:
        out = io.TextIOWrapper(packed, "utf-8", newline="\n")
        try:
            yield out
        finally:
            out.detach()  # and flush; what lies below is closed by whom it belongs to


@contextmanager
def binary_target(path: str, report: Report) -> Iterator[IO[bytes]]:
    """Open a file of bytes for writing."""
    with whole_file(path, "wb", name=final_name(path, report)) as raw:
        yield raw


def final_name(path: str, report: Report) -> Callable[[Path], Path]:
    """Return what gives a finished output its name: ``NAME.partial`` if the documents ended early."""

    def name(place: Path) -> Path:
        if report.stopped is None:
            return place
        report.partial = f"{path.rstrip('/')}.partial"
        return place.with_name(f"{place.name}.partial")

    return name
