"""Ctrl-C and SIGTERM while documents are written: after whole ones only, with a word on what is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar

T = TypeVar("T")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def unbroken(items: Iterable[T], path: str, done: Callable[[], int] | None = None) -> Iterator[Iterable[T]]:
    """Give items to be written to a file; a signal that comes while one of them is written waits until that is done.

    ``done`` counts whole documents: where items are pieces of them, a signal waits until it has changed.

    It is then raised where the next item is asked for, as ``KeyboardInterrupt``, and whoever writes can keep what is
    there. A second signal does not wait. Pipes may be full for ever: writing to them can be interrupted at any time.
    """
    place = Path(path)
    is_pipe = path == "-" or (place.exists() and not place.is_file() and not place.is_dir())
    if is_pipe or threading.current_thread() is not threading.main_thread():
        yield items
        return
    with _held() as hold:
        yield _one_by_one(items, hold, done)


def _one_by_one(items: Iterable[T], hold: Callable[[bool], None], done: Callable[[], int] | None) -> Iterator[T]:
    before = 0
    for item in items:
        hold(True)
        yield item
        if done is None or done() != before:
            hold(False)
            before = 0 if done is None else done()


@contextmanager
def _held() -> Iterator[Callable[[bool], None]]:
    """Give a function that holds signals back, and lets those go on that have come."""
    usual = {int(number): signal.getsignal(number) for number in SIGNALS}
    waiting: list[int] = []
    holding = False

    def take(number: int, frame: FrameType | None) -> None:
        if holding and not waiting:
            waiting.append(number)
        elif callable(handler := usual[number]):
            handler(number, frame)

    def hold(on: bool) -> None:
        nonlocal holding
        holding = on
        if not on and waiting:
            take(waiting.pop(), None)

    for number, handler in usual.items():
        if callable(handler):  # what ends the process at once, or is ignored, stays so
            signal.signal(number, take)
    try:
        yield hold
    finally:
        for number, handler in usual.items():
            if callable(handler):
                signal.signal(number, handler)


@contextmanager
def resumable(advice: str) -> Iterator[None]:
    """Add to what an interruption says how the work could have been done so that it can be resumed."""
    try:
        yield
    except KeyboardInterrupt as stop:
        said = str(stop) or ("interrupted; nothing is kept" if advice else "interrupted")
        raise KeyboardInterrupt(said + advice) from stop
