"""Who works on what: a page holds the sheet that it shows, as long as it says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from spanloom.workbench.errors import Locked

LEASE = 30.0
"""Seconds that a page holds a sheet after it was last heard of."""

Place = tuple[int, str]
"""A document, and the annotator whose sheet of it is held."""


@dataclass(slots=True)
class Hold:
    """A page that holds a sheet, until when."""

    page: str
    until: float


class Locks:
    """Held in memory: when the server starts again, the pages that are still open take their sheets again.

    Examples
    --------
    >>> locks = Locks(clock=lambda: 0.0)
    >>> locks.take((1, "ann"), "page 1"), locks.take((1, "ann"), "page 2"), locks.take((1, "bob"), "page 2")
    (True, False, True)
    """

    def __init__(self, lease: float = LEASE, clock: Callable[[], float] = time.monotonic) -> None:
        self._lease, self._clock = lease, clock
        self._turn = threading.Lock()
        self._held: dict[Place, Hold] = {}

    def take(self, place: Place, page: str, by_force: bool = False) -> bool:
        """Hold a sheet, or hold it longer; False if another page has it and it is not taken by force."""
        with self._turn:
            if not by_force and not self._free(place, page):
                return False
            self._held[place] = Hold(page, self._clock() + self._lease)
            return True

    def check(self, place: Place, page: str) -> None:
        """Raise ``Locked`` unless the page may change the sheet, which it then holds."""
        if not self.take(place, page):
            raise Locked(f"{place[1]} has this document open in another page, which may change it now")

    def release(self, page: str, but: Place | None = None) -> None:
        """Let go of all that a page holds, but for one sheet."""
        with self._turn:
            self._held = {place: hold for place, hold in self._held.items() if hold.page != page or place == but}

    def busy(self) -> dict[int, list[str]]:
        """Return who works on which document now."""
        with self._turn:
            now = self._clock()
            found: dict[int, list[str]] = {}
            for (document, annotator), hold in sorted(self._held.items()):
                if hold.until > now:
                    found.setdefault(document, []).append(annotator)
            return found

    def _free(self, place: Place, page: str) -> bool:
        hold = self._held.get(place)
        return hold is None or hold.page == page or hold.until <= self._clock()
