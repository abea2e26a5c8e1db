"""``spanloom compact``: a smaller model file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanloom.cli.console import make_console
from spanloom.cli.options import ModelArgument
from spanloom.cli.outputs import check_model_output
from spanloom.cli.tables import plain_table

if TYPE_CHECKING:
    from spanloom.corpus import Document
    from spanloom.evaluation import Evaluation
    from spanloom.recognizer import Recognizer

LEAST = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0)
"""What is tried with development data, from the smallest file to the largest."""

WITHIN = 0.1
"""F1 that may be lost if nobody says how much."""


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
    within: Annotated[
        float | None, typer.Option(min=0, metavar="F1", help="With --dev: F1 that may be lost. [0.1]")
    ] = None,
) -> None:
    """Make a model smaller: weights near zero go, features without weight go, numbers are stored in one or two bytes.

    With --dev, the smallest model is taken that loses no more F1 there than --within, and whose mentions there are
    those of MODEL: as F1 against these, no more than --within is missing. F1 on other text then moves as little.

    [bold]Example:[/bold] spanloom compact gene.loom -o small.loom --dev dev.jsonl
    """
    from spanloom.base.packing import check_precision
    from spanloom.base.parameters import check_number
    from spanloom.bundled import model_path
    from spanloom.formats import read
    from spanloom.recognizer import Recognizer

    check_precision(weights)
    for name, number in (("least", least), ("within", within)):
        if number is not None:
            check_number(name, number, low=0)
    if within is not None and dev is None:
        raise typer.BadParameter("what is lost is measured on annotated text; add --dev CORPUS", param_hint="--within")
    within = WITHIN if within is None else within
    check_model_output(output)
    documents = None if dev is None else _some(dev, list(read(dev)))
    model = model_path(model)
    ner = Recognizer.load(model)
    table = plain_table("")
    for heading in ("", "MB", "features", "F1", "against MODEL"):
        table.add_column(heading, justify="left" if not heading else "right")

    def row(name: str, one: Recognizer, path: Path, *f1: float) -> None:
        features = sum(part.extractor.size for part in one.parts_)
        figures = [f"{100 * value:.2f}" for value in f1] or ["", ""]
        table.add_row(name, f"{path.stat().st_size / 1e6:.1f}", f"{features:,}", *figures)

    own = None if documents is None else ner.predict(documents)
    f1 = []
    if documents is not None:
        score = ner.score(documents)
        f1 = [score.f1, 1.0]
        if not any(label in score.by_label and score.by_label[label].gold for label in ner.labels_):
            make_console(stderr=True, soft_wrap=True).print(
                f"{dev} has no mention of a label of {model} ({', '.join(ner.labels_)}), so that F1 there tells "
                f"nothing; what counts is what {model} finds",
                markup=False,
            )
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
    make_console(soft_wrap=True).print(f"{output}: {_cost(value, f1, after)}", markup=False)
    if lost > within:
        less = (
            "a smaller --least loses less, and without it the largest that is good enough is taken"
            if least
            else "try --weights float32, or allow more with --within"
        )
        make_console(stderr=True, soft_wrap=True).print(
            f"{output} loses {lost:.2f} F1, or of the mentions of {model}, more than {within:g}; {less}", markup=False
        )


def _some(ref: str, documents: list[Document]) -> list[Document]:
    """Return the documents; ``CorpusError`` if there is nothing in them."""
    from spanloom.base.errors import CorpusError

    if not any(len(sentence) for document in documents for sentence in document.sentences):
        raise CorpusError("there is no text to measure on; give another corpus, or leave out --dev", ref)
    return documents


def _cost(least: float, before: Sequence[float], after: Sequence[float]) -> str:
    """Which model was written, and what it costs."""
    gone = f"without weights below {least:g}" if least else "with all weights"
    if not before:
        return f"{gone}; --dev CORPUS tells what that costs"
    change = round(100 * (after[0] - before[0]), 2)
    return f"{gone}, F1 {100 * after[0]:.2f} ({f'{change:+.2f}' if change else 'as before'})"


def _kept(score: Evaluation) -> float:
    """How much of what a model found another finds too, as F1; all of it where there is nothing."""
    return score.f1 if score.micro.gold or score.micro.predicted else 1.0
