"""Training progress: a live line in a terminal, a plain line now and then elsewhere. Always on standard error."""

from __future__ import annotations

import time
from types import TracebackType

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from spanloom.cli.console import make_console
from spanloom.learning import Iteration, Watched

EVERY_SECONDS = 10.0


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

    def __enter__(self) -> TrainingProgress:
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
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, record: Iteration) -> None:
        share, text = self._watched.take(record)
        if self._progress is not None:
            self._progress.update(self._task, completed=share, text=text)
        elif time.monotonic() - self._told >= EVERY_SECONDS:
            self._told = time.monotonic()
            self.console.print(f"{text}  {record.seconds:.0f} s", highlight=False, markup=False)
