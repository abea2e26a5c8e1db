"""Call a function in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


class Failed(Exception):
    """The function failed in its process; the text is its traceback."""


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what the function returns, a value that can be pickled.

    Raises
    ------
    Failed
        If it raises or its process dies.
    """
    context = multiprocessing.get_context("fork")  # the function need not be importable
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(there, function, arguments))
    process.start()
    there.close()
    try:
        done, value = here.recv()
    except EOFError:
        done, value = False, "the process died without a word"
    process.join()
    if not done:
        raise Failed(f"{value}\nexit code {process.exitcode}")
    return value


def _answer(there: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        there.send((True, function(*arguments)))
    except BaseException:  # whatever it is, the parent wants to know
        there.send((False, traceback.format_exc()))
