"""What was lost or survived, on standard error: what the commands that read and write corpora share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spanloom.cli.console import make_console

if TYPE_CHECKING:
    from spanloom.formats import Report
    from spanloom.formats.report import Problem


def show_problems(problems: Sequence[Problem], more: str = "") -> None:
    """Print the first twenty problems; ``more`` says where the others are to be had."""
    out = make_console(stderr=True, soft_wrap=True)
    for problem in problems[:20]:
        out.print(f"{problem.kind}: {problem}")
    if len(problems) > 20:
        out.print(f"… and {len(problems) - 20:,} more{more}")


def show_report(report: Report) -> None:
    """Print the problems of a report."""
    show_problems(report.problems)


def show_unread(report: Report) -> None:
    """Print what a reader left unread and could have read, and what it took as annotated though it may not be."""
    show_problems([p for p in report.problems if p.kind in ("tags-unread", "without-ann")])
