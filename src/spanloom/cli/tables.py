"""Scores as tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

if TYPE_CHECKING:
    from spanloom.evaluation import Score


def score_table(title: str, first: str, scores: Mapping[str, Score]) -> Table:
    """Return a table with a row for each score that has anything to count; fractions in percent, 0/0 as a dash."""
    table = plain_table(title)
    table.add_column(first, no_wrap=True)
    for name in ("P", "R", "F1", "gold", "predicted"):
        table.add_column(name, justify="right", style="bold" if name == "F1" else None)
    for name, s in scores.items():
        if s.gold or s.predicted:
            p = percent(s.precision) if s.predicted else "—"
            r = percent(s.recall) if s.gold else "—"
            f = percent(s.f1) if s.gold and s.predicted else "—"
            shown = name if first in ("label", "document") else name.replace("_", " ")
            table.add_row(shown, p, r, f, str(s.gold), str(s.predicted))
    return table


def count_table(title: str, first: str, counts: Mapping[str, int], total: int) -> Table:
    """Return a table of counts with their shares of a total."""
    table = plain_table(title)
    table.add_column(first, no_wrap=True)
    table.add_column("count", justify="right")
    table.add_column("share", justify="right")
    for name, n in counts.items():
        table.add_row(name, str(n), f"{percent(n / total if total else 0.0)} %")
    return table


def plain_table(title: str) -> Table:
    """Return an empty table in the style of all commands."""
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)


def percent(fraction: float, digits: int = 2) -> str:
    """Return a fraction in percent.

    Examples
    --------
    >>> percent(0.7083)
    '70.83'
    """
    return f"{100 * fraction:.{digits}f}"
