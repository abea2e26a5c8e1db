"""``spanloom compact``: a smaller model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanloom.cli.console import make_console
from spanloom.cli.options import ModelArgument
from spanloom.cli.outputs import check_model_output
from spanloom.cli.tables import plain_table

if TYPE_CHECKING:
    from spanloom.evaluation import Evaluation
    from spanloom.recognizer import Recognizer

LEAST = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0)
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
    weights: Annotated[str, typer.Option(help="How the others are stored: int16, int8, float16 or float32.")] = "int16",
    within: Annotated[float, typer.Option(min=0, metavar="F1", help="With --dev: F1 that may be lost.")] = 0.1,
) -> None:
    """Make a model smaller: weights near zero go, features without weight go, numbers are stored in one or two bytes.

    With --dev, the smallest model is taken that loses no more F1 there than --within, and whose mentions there are
    those of MODEL: as F1 against these, no more than --within is missing. F1 on other text then moves as little.

    [bold]Example:[/bold] spanloom compact gene.loom -o small.loom --dev dev.jsonl
    """
    from spanloom.base.packing import check_precision
    from spanloom.bundled import model_path
    from spanloom.formats import read
    from spanloom.recognizer import Recognizer

    check_precision(weights)
    check_model_output(output)
    model = model_path(model)
    ner = Recognizer.load(model)
    documents = None if dev is None else list(read(dev))
    table = plain_table("")
    for heading in ("", "MB", "features", "F1", "against MODEL"):
        table.add_column(heading, justify="left" if not heading else "right")

    def row(name: str, one: Recognizer, path: Path, *f1: float) -> None:
        features = sum(part.extractor.size for part in one.parts_)
        figures = [f"{100 * value:.2f}" for value in f1] or ["", ""]
        table.add_row(name, f"{path.stat().st_size / 1e6:.1f}", f"{features:,}", *figures)

    own = None if documents is None else ner.predict(documents)
    f1 = [] if documents is None else [ner.score(documents).f1, 1.0]
    row(str(model), ner, model, *f1)
    choices = [least] if least is not None else [0.02] if documents is None else list(LEAST)
    for value in choices:
        smaller = ner.compact(value)
        smaller.save(output, weights=weights)
        small = Recognizer.load(output)
        after = [] if documents is None or own is None else [small.score(documents).f1, _kept(small.score(own))]
        row(f"{output}, least {value:g}", smaller, output, *after)
        lost = max((100 * (one - other) for one, other in zip(f1, after, strict=True)), default=0.0)
        if lost <= within:
            break
    make_console().print(table)
    if lost > within:
        make_console(stderr=True).print(
            f"{output} loses {lost:.2f} F1, or of the mentions of {model}, more than {within:g}; try --weights float32"
        )


def _kept(score: Evaluation) -> float:
    """How much of what a model found another finds too, as F1; all of it where there is nothing."""
    return score.f1 if score.micro.gold or score.micro.predicted else 1.0
