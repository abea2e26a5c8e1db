"""What every fuzz target is: something that takes bytes, with inputs to begin with and words that it may meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spanloom.base.errors import SpanloomError

Run = Callable[[bytes], None]
"""Takes one input; raises for what must not happen."""

ALLOWED = (SpanloomError,)
"""The only exceptions that may come out of the library, whatever the bytes are."""


@dataclass(frozen=True)
class Target:
    """Something to be fuzzed.

    Attributes
    ----------
    name
        As given to ``run.py``.
    prepare
        Makes what takes the inputs; called once, in a process of its own.
    given
        Inputs to begin with, all written for this purpose, or what makes them.
    words
        What the fuzzer may insert.
    shape
        How inputs are changed beside their bytes: ``json`` and ``jsonl`` also as values, ``model`` also as table,
        header and arrays of a model file whose checksums are put right.
    needs
        An optional package without which there is nothing to fuzz.
    """

    name: str
    prepare: Callable[[], Run]
    given: tuple[bytes, ...] | Callable[[], tuple[bytes, ...]]
    words: tuple[str, ...] = ()
    shape: str = "bytes"
    needs: str = ""

    @property
    def seeds(self) -> tuple[bytes, ...]:
        """Inputs to begin with."""
        return self.given if isinstance(self.given, tuple) else self.given()
