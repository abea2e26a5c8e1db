"""``spanloom crossval``: how good is a model on text that it did not see, when there is no other text?"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from spanloom.cli.console import make_console
from spanloom.cli.counting import counting
from spanloom.cli.dask_client import SchedulerOption, trainings_on
from spanloom.cli.options import FoldsOption, JobsOption, JsonFractions, SettingsOption
from spanloom.cli.outputs import Lossy, Overwrite, check_output, output_reference, tell_written
from spanloom.cli.problems import show_report
from spanloom.cli.settings import parse_settings
from spanloom.cli.tables import percent, score_table

if TYPE_CHECKING:
    from spanloom.tuning import CrossValidation


def crossval(
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS...", help="Annotated corpora.")],
    folds: FoldsOption = 5,
    settings: SettingsOption = None,
    jobs: JobsOption = None,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keeps finished folds; run again, it goes on from there.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="REF", help="Write the corpus with its predictions.")
    ] = None,
    lossy: Lossy = None,
    overwrite: Overwrite = False,
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 1,
    as_json: JsonFractions = False,
    scheduler: SchedulerOption = None,
) -> None:
    """Train on all folds but one and score on that one, for each fold; documents are never parted.

    The predictions that --output writes can be evaluated and compared like any others.

    [bold]Example:[/bold] spanloom crossval corpus.jsonl --folds 5 --set keep=outermost -o predicted.jsonl
    """
    from spanloom.corpus import Document
    from spanloom.formats import read, write
    from spanloom.tuning import cross_validate

    if state is not None:
        check_output(state)
    target = None if output is None else output_reference(output, overwrite=overwrite, lossy=lossy)
    documents = chain.from_iterable(read(ref) for ref in corpus)
    with trainings_on(scheduler) as trainings, counting("folds") as progress:
        found = cross_validate(
            documents,
            folds,
            settings=parse_settings(settings or []),
            seed=seed,
            processes=jobs,
            state=state,
            progress=progress,
            trainings=trainings,
        )
    if target is not None:
        report = write((d for d in found.predicted if isinstance(d, Document)), target)
        show_report(report)
        tell_written(report)
    if as_json:
        print(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        _print(make_console(), found)


def _print(console: Console, found: CrossValidation) -> None:
    report = found.report
    console.print(
        Text(f"F1 {percent(report.f1)}", "bold"),
        f" P {percent(report.precision)}  R {percent(report.recall)}   over all "
        f"folds; standard deviation of F1 between folds {percent(found.spread)}",
    )
    console.print(score_table("Folds", "fold", {str(i): s for i, s in enumerate(found.folds, 1)}))
    console.print(score_table("By label", "label", report.by_label))
    console.print(score_table("By kind of mention", "kind", report.by_kind))
