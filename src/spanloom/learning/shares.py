"""How far a training is, for whoever shows its progress."""

from __future__ import annotations

import time
from dataclasses import replace

from spanloom.learning.records import Iteration, Listener

USUAL = 150
"""Iterations of a part, for the time that is left while nothing better is known."""
ENOUGH = 5
"""Iterations before which nobody knows how long they take."""


class Watched:
    """Takes the records of a training; says which share of it is done, and how it goes in one line.

    Parameters
    ----------
    max_iter
        At most so many iterations for each part; None if that is not known.

    Examples
    --------
    >>> share, line = Watched(10).take(Iteration(5, 0, 1234.5, 0.0, 0.0, 6, 0.1, dev_f1=0.5))
    >>> share, line
    (0.5, 'iteration 5  objective 1,234.50  dev F1 50.00')
    """

    def __init__(self, max_iter: int | None) -> None:
        self.max_iter = max_iter
        self._began: float | None = None
        self._done: dict[int, int] = {}  # iterations by component

    def take(self, record: Iteration) -> tuple[float, str]:
        """Return about which share of the training is done, and one line about it."""
        if self._began is None:  # reading the corpus is no part of what is left
            self._began = time.monotonic() - record.seconds
        self._done[record.component] = record.number
        share = self.share(record)
        text = f"iteration {record.number}  objective {record.objective:,.2f}"
        if record.part:
            text = f"{record.part} ({len(self._done)} of {record.parts})  {text}"
        if record.dev_f1 is not None:
            text += f"  dev F1 {100 * record.dev_f1:.2f}"
        elapsed = time.monotonic() - self._began
        if elapsed > 3 and share > 0 and (record.share is not None or sum(self._done.values()) >= ENOUGH):
            text += f"  {_readable(elapsed * (1 - share) / share)} left"
        return share, text

    def share(self, record: Iteration) -> float:
        """Return about which share of the training is done, from how many iterations other parts took."""
        if record.share is not None:
            return record.share
        others = [number for component, number in self._done.items() if component != record.component]
        usual = sum(others) / len(others) if others else min(self.max_iter or USUAL, USUAL)
        within = min(record.number / max(usual, 1.0), 0.95)
        done = len({*self._done, record.component})
        return min((done - 1 + within) / max(record.parts, done), 1.0)


class Retold:
    """Tells a listener of several trainings as of one whose parts have names, so that it does not seem to start again.

    Parameters
    ----------
    listener
        Hears of every iteration; None: nobody does.
    trainings
        How many there are; the last one is on all data.
    """

    def __init__(self, listener: Listener | None, trainings: int) -> None:
        self.listener, self.trainings = listener, trainings

    def of(self, number: int) -> Listener | None:
        """Return the listener of one training."""
        listener = self.listener
        if listener is None or self.trainings == 1:
            return listener
        last = number == self.trainings - 1
        name = "on all data" if last else "to choose a mention penalty"

        def heard(record: Iteration) -> None:
            part = f"{name}: {record.part}" if record.part else name
            component, parts = number * record.parts + record.component, self.trainings * record.parts
            listener(replace(record, part=part, component=component, parts=parts))

        return heard


def _readable(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(seconds, 1):.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
