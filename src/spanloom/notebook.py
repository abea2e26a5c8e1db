"""Notebooks: the progress of training as a bar."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any

from spanloom.base.extras import need
from spanloom.learning import Iteration, Watched

EVERY_SECONDS = 0.2


def in_notebook() -> bool:
    """Whether this runs under a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class Progress:
    """A bar below the cell that grows while a recogniser learns: ``ner.fit(train, listener=Progress())``.

    One display is updated, and stays in the notebook as it was last. Widgets are not needed. Outside of notebooks,
    lines go to standard error.

    Parameters
    ----------
    max_iter
        At most so many iterations for each part, if that is known.
    """

    def __init__(self, max_iter: int | None = None) -> None:
        self._watched = Watched(max_iter)
        self._display: Any = None
        self._told = 0.0

    def __call__(self, record: Iteration) -> None:
        share, line = self._watched.take(record)
        now = time.monotonic()
        if now - self._told < EVERY_SECONDS and record.number > 1:
            return
        self._told = now
        self._show(share, f"{line}  {record.seconds:.1f} s")

    def _show(self, share: float, line: str) -> None:
        if not in_notebook():
            sys.stderr.write(f"{line}\n")
            return
        display = need("IPython.display", "notebooks")
        shown = display.HTML(
            f'<div style="font:14px system-ui,sans-serif"><progress max="1" value="{share:.3f}"></progress> '
            f"{escape(line)}</div>"
        )
        if self._display is None:
            self._display = display.display(shown, display_id=True)
        else:
            self._display.update(shown)
