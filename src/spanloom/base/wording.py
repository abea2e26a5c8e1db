"""How messages name settings: as options on the command line, as arguments in Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_options: ContextVar[bool] = ContextVar("spanloom_options", default=False)


def spoken(option: str, argument: str) -> str:
    """Return the name of a setting for whoever reads the message.

    Examples
    --------
    >>> spoken("--resume", "resume=True")
    'resume=True'
    >>> with of_options():
    ...     spoken("--resume", "resume=True")
    '--resume'
    """
    return option if _options.get() else argument


@contextmanager
def of_options() -> Iterator[None]:
    """Let messages of the block name options of the command line."""
    token = _options.set(True)
    try:
        yield
    finally:
        _options.reset(token)
