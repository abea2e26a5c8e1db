"""Training progress: a live line in a terminal, a plain line now and then elsewhere. Always on standard error."""

from __future__ import annotations

import logging
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from spanloom.cli.console import make_console
from spanloom.learning import Iteration, Watched

EVERY_SECONDS = 10.0


class _Teller(logging.Handler):
    """Prints what the library logs, such as how much memory a training will take; each sentence once."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self.console = console
        self.told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self.told:
            self.told.add(text)
            self.console.print(text)


class TrainingProgress:
    """Shows each ``Iteration`` that it is called with: what is trained, how far it is, and about how long it will take.

    Parameters
    ----------
    max_iter
        At most so many iterations for each part; None if that is not known.
    """

    def __init__(self, max_iter: int | None) -> None:
        self.console = make_console(stderr=True)
        self._watched = Watched(max_iter)
        self._progress: Progress | None = None
        self._told = time.monotonic()
        self._log = logging.getLogger("spanloom.learning")
        self._teller = _Teller(self.console)

    def __enter__(self) -> TrainingProgress:
        self._log.addHandler(self._teller)
        self._log.setLevel(logging.INFO)
        if self.console.is_terminal:
            self._progress = Progress(
                SpinnerColumn(),
                TextColumn("training"),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[text]}", markup=False),
                TimeElapsedColumn(),
                console=self.console,
                transient=True,
            )
            self._task = self._progress.add_task("train", total=1.0, text="reading features")
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._log.removeHandler(self._teller)
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, record: Iteration) -> None:
        share, text = self._watched.take(record)
        if self._progress is not None:
            self._progress.update(self._task, completed=share, text=text)
        elif time.monotonic() - self._told >= EVERY_SECONDS:
            self._told = time.monotonic()
            self.console.print(f"{text}  {record.seconds:.0f} s", highlight=False, markup=False)
