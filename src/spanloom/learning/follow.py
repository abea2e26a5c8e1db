"""Run a training: watch the development data, keep the best weights, survive an interruption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from spanloom.learning.records import Iteration, Listener

AT_FIRST, LATER = 10, 5
"""Without patience, development data are scored in the first ten iterations, then in every fifth: that may take as long
as the iteration itself."""

Learned = TypeVar("Learned")
Steps = Iterator[tuple[Iteration, Callable[[], Learned]]]
"""Of each iteration its record, and a function that returns what is learned by then."""


class Interrupted(KeyboardInterrupt):
    """Training was stopped by the user; what was learned so far is kept."""

    def __init__(self, learned: Any, history: list[Iteration]) -> None:
        super().__init__("training was interrupted; the best weights so far are kept")
        self.learned = learned
        self.history = history


def named(steps: Steps[Learned], part: str, parts: int) -> Steps[Learned]:
    """Yield the steps with records that say what is trained."""
    return ((replace(record, part=part, parts=parts), learned) for record, learned in steps)


def follow(
    steps: Steps[Learned],
    *,
    dev_f1: Callable[[Learned], float] | None = None,
    patience: int | None = None,
    listener: Listener | None = None,
) -> tuple[Learned, list[Iteration]]:
    """Run the iterations of training, at least one; return what was learned and their records.

    With ``patience``, training stops when dev F1 has not risen for so many iterations, and the best weights are taken;
    otherwise the last ones are, and dev F1 is known of the first iterations, of some later ones, and of the last. A
    ``KeyboardInterrupt`` during training is raised as ``Interrupted``.
    """
    history: list[Iteration] = []
    current: Callable[[], Learned] | None = None
    best: Learned | None = None
    best_f1, waited = -1.0, 0
    try:
        for record, current in steps:
            if dev_f1 is not None and (patience is not None or _scored(record.number)):
                learned = current()
                record = replace(record, dev_f1=dev_f1(learned))
                if record.dev_f1 is not None and record.dev_f1 > best_f1:
                    best_f1, waited = record.dev_f1, 0
                    best = learned if patience is not None else None
                else:
                    waited += 1
            history.append(record)
            if listener is not None:
                listener(record)
            if patience is not None and dev_f1 is not None and waited >= patience:
                break
    except KeyboardInterrupt:
        if current is None:
            raise
        raise Interrupted(best if best is not None else current(), history) from None
    if current is None:
        raise ValueError("training made no iteration")
    if dev_f1 is not None and history[-1].dev_f1 is None:
        history[-1] = replace(history[-1], dev_f1=dev_f1(current()))
    return best if best is not None else current(), history


def _scored(number: int) -> bool:
    return number <= AT_FIRST or number % LATER == 0
