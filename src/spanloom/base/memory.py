"""How much memory is there, so that work that cannot end well is refused before it begins."""

from __future__ import annotations

import os
from pathlib import Path

from spanloom.base.errors import ParameterError

_GROUP = Path("/sys/fs/cgroup")
_SPARE = 0.02
"""The share of what is free that is left to others."""


def free_memory() -> int | None:
    """Return how many bytes this process may still take: by the machine, its limits (``ulimit -v``) and its container.

    None where the system does not say.
    """
    found = [n for n in (_of_machine(), _of_limit(), _of_group()) if n is not None]
    return max(0, min(found)) if found else None


def check_memory(needed: float, what: str, instead: str) -> None:
    """Raise ``ParameterError`` if something takes more memory than there is.

    Parameters
    ----------
    needed
        In bytes.
    what
        What takes it.
    instead
        What to do about it.

    Examples
    --------
    >>> check_memory(1e15, "training", "use fewer features")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    spanloom.base.errors.ParameterError: training takes about 1,000,000.0 GB of memory, and ... are free; use ...
    """
    free = free_memory()
    if free is not None and needed > free * (1 - _SPARE):
        raise ParameterError(
            f"{what} takes about {in_words(needed)} of memory, and {in_words(free)} are free; {instead}"
        )


def in_words(size: float) -> str:
    """Return a number of bytes as people say it.

    Examples
    --------
    >>> in_words(3.1e9), in_words(12e6)
    ('3.1 GB', '12 MB')
    """
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _of_limit() -> int | None:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        return limit - used
    except (ImportError, OSError, ValueError, IndexError):
        return None


def _of_group() -> int | None:
    """Control groups, version 2: the limit of a container."""
    try:
        limit = (_GROUP / "memory.max").read_text().strip()
        if limit == "max":
            return None
        kept = dict(line.split() for line in (_GROUP / "memory.stat").read_text().splitlines())
        files = int(kept.get("inactive_file", 0))  # the system takes these back when memory is asked for
        return int(limit) - int((_GROUP / "memory.current").read_text()) + files
    except (OSError, ValueError):
        return None
