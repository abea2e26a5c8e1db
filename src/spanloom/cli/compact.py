"""``spanloom compact``: a smaller model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanloom.cli.console import make_console
from spanloom.cli.options import ModelArgument
from spanloom.cli.outputs import check_output
from spanloom.cli.tables import plain_table

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer

LEAST = (0.1, 0.05, 0.02, 0.01, 0.005, 0.0)
"""What is tried with development data, from the smallest file to the largest."""


def compact(
    model: ModelArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="SMALL", help="Where the smaller model goes.")],
    dev: Annotated[
        str | None, typer.Option(metavar="CORPUS", help="Annotated text, to see what it costs and to choose --least.")
    ] = None,
    least: Annotated[
        float | None, typer.Option(min=0, metavar="W", help="Smaller weights go. [0.02; with --dev: chosen]")
    ] = None,
    weights: Annotated[str, typer.Option(help="How the others are stored: int8, float16 or float32.")] = "int8",
    within: Annotated[float, typer.Option(min=0, metavar="F1", help="With --dev: so much F1 may be lost.")] = 0.1,
) -> None:
    """Make a model smaller: weights near zero go, features without weight go, numbers are stored in one byte.

    With --dev, the smallest model is taken that loses no more F1 there than --within.

    [bold]Example:[/bold] spanloom compact gene.loom -o small.loom --dev dev.jsonl
    """
    from spanloom.base.packing import check_precision
    from spanloom.bundled import model_path
    from spanloom.formats import read
    from spanloom.recognizer import Recognizer

    check_precision(weights)
    check_output(output)
    model = model_path(model)
    ner = Recognizer.load(model)
    documents = None if dev is None else list(read(dev))
    table = plain_table("")
    for heading in ("", "MB", "features", "F1"):
        table.add_column(heading, justify="left" if not heading else "right")

    def row(name: str, one: Recognizer, path: Path, f1: float | None) -> None:
        features = sum(part.extractor.size for part in one.parts_)
        table.add_row(
            name, f"{path.stat().st_size / 1e6:.1f}", f"{features:,}", "" if f1 is None else f"{100 * f1:.2f}"
        )

    before = None if documents is None else ner.score(documents).f1
    row(str(model), ner, model, before)
    choices = [least] if least is not None else [0.02] if documents is None else list(LEAST)
    for value in choices:
        smaller = ner.compact(value)
        smaller.save(output, weights=weights)
        after = None if documents is None else Recognizer.load(output).score(documents).f1
        row(f"{output}, least {value:g}", smaller, output, after)
        if before is None or after is None or 100 * (before - after) <= within:
            break
    make_console().print(table)
    if before is not None and after is not None and 100 * (before - after) > within:
        make_console(stderr=True).print(
            f"{output} loses {100 * (before - after):.2f} F1, more than {within:g}; try --weights float16"
        )
