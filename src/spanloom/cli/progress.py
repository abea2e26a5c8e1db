"""Training progress: a live line in a terminal, a plain line now and then elsewhere. Always on standard error."""

from __future__ import annotations

import time
from types import TracebackType

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from spanloom.cli.console import make_console
from spanloom.learning import Iteration

EVERY_SECONDS = 10.0
USUAL = 150
"""Iterations of a part, for the time that is left while nothing better is known."""


class TrainingProgress:
    """Shows each ``Iteration`` that it is called with: what is trained, how far it is, and about how long it will take.

    Parameters
    ----------
    max_iter
        At most so many iterations for each part; None if that is not known.
    """

    def __init__(self, max_iter: int | None) -> None:
        self.console = make_console(stderr=True)
        self.max_iter = max_iter
        self._progress: Progress | None = None
        self._began = self._told = time.monotonic()
        self._done: dict[int, int] = {}  # iterations by component

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
        self._done[record.component] = record.number
        share = self.share(record)
        text = f"iteration {record.number}  objective {record.objective:,.2f}"
        if record.part:
            text = f"{record.part} ({len(self._done)} of {record.parts})  {text}"
        if record.dev_f1 is not None:
            text += f"  dev F1 {100 * record.dev_f1:.2f}"
        elapsed = time.monotonic() - self._began
        if elapsed > 3 and share > 0:
            text += f"  {_readable(elapsed * (1 - share) / share)} left"
        if self._progress is not None:
            self._progress.update(self._task, completed=share, text=text)
        elif time.monotonic() - self._told >= EVERY_SECONDS:
            self._told = time.monotonic()
            self.console.print(f"{text}  {record.seconds:.0f} s", highlight=False, markup=False)

    def share(self, record: Iteration) -> float:
        """Return about which share of the training is done, from how many iterations other parts took."""
        others = [number for component, number in self._done.items() if component != record.component]
        usual = sum(others) / len(others) if others else min(self.max_iter or USUAL, USUAL)
        within = min(record.number / max(usual, 1.0), 0.95)
        return min((len(self._done) - 1 + within) / max(record.parts, len(self._done)), 1.0)


def _readable(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(seconds, 1):.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
