"""Where results go: checked before long work, and said after it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanloom.base.counted import counted
from spanloom.cli.console import make_console

if TYPE_CHECKING:
    from spanloom.formats import Reference, Report

Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace files that are there already, where the output is several files."),
]
Lossy = Annotated[
    str | None,
    typer.Option(
        metavar="WAY",
        help="How to leave out mentions that the format cannot hold: outermost, innermost, longest; "
        "contiguous fills gaps. Several are joined by a comma. Without it, such mentions are an error.",
    ),
]


def check_output(output: Path, start: re.Pattern[bytes] | None = None, kind: str = "") -> None:
    """Fail before long work, not after it, if its result cannot be written.

    Parameters
    ----------
    start, kind
        How files of the result's kind begin, and what they are called: a file of another kind is not replaced.
    """
    from spanloom.base.errors import ParameterError
    from spanloom.base.files import check_place

    check_place(output)
    if start is None or not output.is_file():
        return
    with output.open("rb") as file:
        head = file.read(256)
    if head and start.match(head) is None:
        raise ParameterError(
            f"{output} is there already and is no {kind}, which would replace it; write to another name, or remove "
            "the file first"
        )


def check_model_output(output: Path) -> None:
    """Fail before long work if a model cannot be written, or would replace a file that is no model."""
    from spanloom.base.model_file import START

    check_output(output, START, "model of spanloom")


def output_reference(
    output: str, *, overwrite: bool = False, lossy: str | None = None, options: dict[str, str] | None = None
) -> Reference:
    """Return the reference of an output with the options that its format takes; fails if nothing can be written there.

    Parameters
    ----------
    options
        Further ones, which those of the reference replace.
    """
    from spanloom.formats import Reference
    from spanloom.formats.reading import check_target, takes_option

    ref = Reference.parse(output, "write")
    wanted = {**(options or {}), **({"lossy": lossy} if lossy is not None else {})}
    wanted |= {"overwrite": "yes"} if overwrite else {}
    taken = {name: value for name, value in wanted.items() if takes_option(ref, "write", name)}
    ref = Reference(ref.format, ref.path, {**taken, **ref.options})
    check_target(ref)
    return ref


def tell_written(report: Report) -> None:
    """Say in one line what was written where; nothing of standard output, which the user sees."""
    if report.ref is not None and report.ref.path != "-":
        mentions = report.mentions - report.counts["lost"]
        make_console(stderr=True, soft_wrap=True).print(
            f"{counted(report.documents, 'document')}, {counted(mentions, 'mention')} written to {report.ref.path}"
        )
