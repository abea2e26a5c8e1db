"""Names of unfinished outputs, and removal of those whose process is gone.

A result is written under a hidden name beside its place, ``.HOST-PID-RANDOM.part``. A process that is killed cannot
remove it; so the next one that writes there does, if the process of the name is gone.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
from pathlib import Path

_NAME = re.compile(r"\.([0-9a-f]{8})-([0-9]+)-[0-9a-f]{16}\.part")


def part_name() -> str:
    """Return a new name, with this machine and this process in it."""
    import secrets  # here and below: who writes nothing does not wait for cryptography and sockets

    return f".{_host()}-{os.getpid()}-{secrets.token_hex(8)}.part"


@functools.lru_cache(maxsize=256)
def sweep_once(folder: Path, process: int) -> None:
    """Call :func:`sweep` the first time that a process (for the cache: it may be a fork) writes into a folder."""
    sweep(folder)


def sweep(folder: Path) -> None:
    """Remove what dead processes of this machine have left in a folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stale = Path(folder, part_name().replace(f"-{os.getpid()}-", "-999999999-"))
    ...     own = Path(folder, part_name())
    ...     for path in (stale, own):
    ...         path.touch()
    ...     sweep(Path(folder))
    ...     stale.exists(), own.exists()
    (False, True)
    """
    if os.name == "nt":  # where there is no way to ask for a process without ending it
        return
    try:
        found = [entry for entry in os.scandir(folder) if entry.name.endswith(".part")]
    except OSError:
        return
    for entry in found:
        match = _NAME.fullmatch(entry.name)
        if match is None or match[1] != _host() or _alive(int(match[2])):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            Path(entry.path).unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    try:  # a process that has ended and that nobody has asked about yet still has its number
        state = (
            Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        )
    except (OSError, IndexError):  # no such folder on this system, or gone by now
        return True
    return state not in ("Z", "X")


@functools.lru_cache(maxsize=1)
def _host() -> str:
    """Eight digits for this machine: whether a process of another machine runs cannot be found out."""
    import socket
    import zlib

    return f"{zlib.crc32(socket.gethostname().encode()):08x}"
