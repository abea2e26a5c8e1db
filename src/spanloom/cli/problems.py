"""What was lost or survived, on standard error: what the commands that write corpora share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from spanloom.formats import Report
    from spanloom.formats.report import Problem

Lossy = Annotated[
    str | None,
    typer.Option(
        metavar="WAY",
        help="How to leave out mentions that the format cannot hold: outermost, innermost, longest; "
        "contiguous fills gaps. Several are joined by a comma. Without it, such mentions are an error.",
    ),
]


def loss_options(target: str, lossy: str | None) -> dict[str, str]:
    """Return the options of ``write`` for ``--lossy``; none where the format holds every mention."""
    from spanloom.formats.reading import takes_option

    return {"lossy": lossy} if lossy is not None and takes_option(target, "write", "lossy") else {}


def show_problems(problems: Sequence[Problem], more: str = "") -> None:
    """Print the first twenty problems; ``more`` says where the others are to be had."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for problem in problems[:20]:
        console.print(f"{problem.kind}: {problem}", markup=False)
    if len(problems) > 20:
        console.print(f"… and {len(problems) - 20} more{more}")


def show_report(report: Report) -> None:
    """Print the problems of a report."""
    show_problems(report.problems)
