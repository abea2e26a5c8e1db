"""Training progress: a live line in a terminal, a plain line now and then elsewhere. Always on standard error."""

from __future__ import annotations

import time
from types import TracebackType

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from spanloom.cli.console import make_console
from spanloom.learning import Iteration

EVERY_SECONDS = 10.0


class TrainingProgress:
    """Shows each ``Iteration`` that it is called with.

    Parameters
    ----------
    max_iter
        Where the bar ends, if training does not converge before; None for a bar without an end.
    quiet
        Show nothing.
    """

    def __init__(self, max_iter: int | None, *, quiet: bool = False) -> None:
        self.console = make_console(stderr=True)
        self.console.quiet = quiet
        self.max_iter = max_iter
        self._progress: Progress | None = None
        self._told = time.monotonic()

    def __enter__(self) -> TrainingProgress:
        if self.console.is_terminal:
            self._progress = Progress(
                SpinnerColumn(),
                TextColumn("[bold]training[/bold]"),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[text]}"),
                TimeElapsedColumn(),
                console=self.console,
                transient=True,
            )
            self._task = self._progress.add_task("train", total=self.max_iter, text="reading features")
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, record: Iteration) -> None:
        text = f"iteration {record.number}  objective {record.objective:,.2f}"
        if record.dev_f1 is not None:
            text += f"  dev F1 {100 * record.dev_f1:.2f}"
        if self._progress is not None:
            self._progress.update(self._task, completed=record.number, text=text)
        elif time.monotonic() - self._told >= EVERY_SECONDS:
            self._told = time.monotonic()
            self.console.print(f"{text}  {record.seconds:.0f} s")
