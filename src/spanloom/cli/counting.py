"""Progress of work whose pieces are counted, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from spanloom.base.counted import counted
from spanloom.cli.console import make_console

T = TypeVar("T")

EVERY_SECONDS = 10.0


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error while the block runs; call what it gives with the number done and of all."""
    columns = TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    out = make_console(stderr=True)
    with Progress(*columns, console=out, disable=not out.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def watched(docs: Iterable[T], *, quiet: bool = False, count: Callable[[], int] | None = None) -> Iterator[T]:
    """Yield documents on and show their number: a live line in a terminal, a line every ten seconds elsewhere.

    ``count`` tells the number where what is yielded are not single documents.
    """
    out = make_console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.fields[text]}"), TimeElapsedColumn()
    begun = told = time.monotonic()
    with Progress(*columns, console=out, transient=True, disable=quiet or not out.is_terminal) as progress:
        task = progress.add_task("", total=None, text="0 documents")
        for number, doc in enumerate(docs, 1):
            yield doc
            done = number if count is None else count()
            now = time.monotonic()
            text = f"{counted(done, 'document')}, {done / max(now - begun, 1e-9):,.0f} a second"
            progress.update(task, text=text)
            if not quiet and not out.is_terminal and now - told >= EVERY_SECONDS:
                told = now
                out.print(text)
