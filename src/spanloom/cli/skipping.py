"""``--on-error``: whether one bad record ends a job of thousands, or is left out and written down."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from spanloom.base.errors import SpanloomError
from spanloom.base.files import whole_file
from spanloom.cli.console import make_console

if TYPE_CHECKING:
    from spanloom.corpus import Document
    from spanloom.formats import Reference
    from spanloom.formats.report import Problem

T = TypeVar("T")
U = TypeVar("U")
SKIPPED = 3
"""The exit code of a command that did all but what it skipped."""

_PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+)(?P<rest>.*)", re.S)


class OnError(str, Enum):
    """What to do with a record that cannot be read."""

    stop = "stop"
    skip = "skip"


OnErrorOption = Annotated[
    OnError,
    typer.Option(
        help="A record that cannot be read: stop (what was done is kept in OUT.partial), or skip it, list it in "
        "OUT.skipped.jsonl, and end with exit code 3."
    ),
]


def error_last(items: Iterable[T], work: Callable[[Iterator[T]], Iterator[U]]) -> Iterator[U]:
    """Yield what ``work``, which may take items in batches, makes of them; an error in getting them comes last."""
    failed: list[SpanloomError] = []

    def readable() -> Iterator[T]:
        try:
            yield from items
        except SpanloomError as error:
            failed.append(error)

    yield from work(readable())
    if failed:
        raise failed[0]


class SkippingReader:
    """Reads corpora one after the other, and writes down what is skipped beside the output.

    To be used in a ``with`` block; ask it to :meth:`finish` at the end of the command.

    Parameters
    ----------
    refs
        What to read; all are looked for at once.
    on_error
        Stop at a record that cannot be read, or skip it.
    output
        The path of the output; beside ``-`` and pipes nothing can be written, and what is skipped is only said.
    """

    def __init__(self, refs: Sequence[str | Reference], on_error: OnError, output: str) -> None:
        from spanloom.formats import Report, read

        self.corpora = [read(ref) for ref in refs]
        self.skipping = on_error is OnError.skip
        self.report = Report(strict=not self.skipping, listener=self._note if self.skipping else None)
        beside = output != "-" and (not (place := Path(output)).exists() or place.is_file() or place.is_dir())
        self.path = f"{output.rstrip('/')}.skipped.jsonl" if beside else None
        self._stack = ExitStack()
        self._log: IO[Any] | None = None

    def __enter__(self) -> SkippingReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):  # what was done is kept, and so is the list
            kind = error = trace = None
        self._stack.__exit__(kind, error, trace)

    def __iter__(self) -> Iterator[Document]:
        for corpus in self.corpora:
            yield from corpus.stream(self.report)

    def through(self, work: Callable[[Iterator[Document]], Iterator[Document]]) -> Iterator[Document]:
        """Yield what ``work``, which may take documents in batches, makes of them; a reading error comes last."""
        return error_last(self, work)

    def finish(self) -> None:
        """Say how much was skipped, and end the command with its exit code if anything was."""
        count = self.report.errors if self.skipping else 0
        if not count:
            return
        where = f"; {self.path} has each with its place" if self.path is not None else ""
        make_console(stderr=True, soft_wrap=True).print(f"{count:,} skipped{where}")
        raise typer.Exit(SKIPPED)

    def _note(self, problem: Problem) -> None:
        if problem.severity != "error":
            return
        if self.path is None:
            make_console(stderr=True, soft_wrap=True).print(f"skipped: {problem}")
            return
        if self._log is None:
            self._log = self._stack.enter_context(whole_file(self.path))
        self._log.write(skipped_line(problem.where, problem.kind, problem.message))


def skipped_line(where: str, kind: str, message: str) -> str:
    """Return the line of ``OUT.skipped.jsonl`` for a record that was skipped."""
    match = _PLACE.fullmatch(where)
    place = {"file": match["file"], "line": int(match["line"])} if match else {"file": where, "line": None}
    return json.dumps({**place, "where": where, "kind": kind, "why": message}, ensure_ascii=False) + "\n"
