"""``spanloom tune``: which settings are best?"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from spanloom.cli.console import make_console
from spanloom.cli.counting import counting
from spanloom.cli.dask_client import SchedulerOption, trainings_on
from spanloom.cli.options import JobsOption
from spanloom.cli.outputs import check_model_output
from spanloom.cli.settings import parse_grid, parse_settings
from spanloom.cli.tables import percent, plain_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spanloom.tuning import Trial, Tuning


def tune(
    corpus: Annotated[list[str], typer.Argument(metavar="CORPUS...", help="What to learn from.")],
    dev: Annotated[str | None, typer.Option(metavar="REF", help="What to score on; or --folds.")] = None,
    folds: Annotated[int, typer.Option(metavar="K", help="Score by cross-validation in K folds of documents.")] = 0,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=V,V,…",
            help="Values to try; may be repeated. Any setting, e.g. trainer.l2 or l2; min_count (feature cut-off); "
            "penalty and threshold (tried without a new training); share (of the data). Default: ten values of l2.",
        ),
    ] = None,
    base: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of all trials; may be repeated.")
    ] = None,
    jobs: JobsOption = None,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keeps finished trials; run again, it goes on from there.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="MODEL", help="Train with the best settings, and save.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture of scores against the setting, or the learning curve.")
    ] = None,
    objective: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Picture of the objective against the iterations.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds and shares.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all trials.")] = False,
    scheduler: SchedulerOption = None,
) -> None:
    """Try settings on held-out text and show what each gives.

    [bold]Examples:[/bold] spanloom tune train.jsonl --dev dev.jsonl --grid l2=0.03,0.1,0.3 --state trials.jsonl

    spanloom tune all.jsonl --folds 5 --set scheme=IOB2 --grid min_count=1,2,3 -o best.loom
    """
    from spanloom.configuration import configure
    from spanloom.evaluation.plots import check_picture, save
    from spanloom.formats import read
    from spanloom.tuning import tune

    for picture in (plot, objective):
        if picture is not None:
            check_picture(picture)
    if output is not None:
        check_model_output(output)
    train = list(chain.from_iterable(read(ref) for ref in corpus))
    shared = parse_settings(base or [])
    with trainings_on(scheduler) as trainings, counting("trainings") as progress:
        found = tune(
            train,
            None if dev is None else read(dev),
            grid=parse_grid(grid or []) or None,
            base=shared,
            k=folds,
            seed=seed,
            processes=jobs,
            state=state,
            progress=progress,
            trainings=trainings,
        )
    if plot is not None:
        save(_figure(found), plot)
    if objective is not None:
        save(_objectives(found), objective)
    if output is not None:
        best = {name: value for name, value in found.best.settings.items() if name != "share"}
        configure({**shared, **best}).fit(train).save(output)
    if as_json:
        print(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        _print(make_console(), found)
        if output is not None:
            print(f"{output}: trained with the best settings")


def _print(console: Console, found: Tuning) -> None:
    table = plain_table("Trials")
    names = list(found.trials[0].settings)
    for name in (*names, "P", "R", "F1", "iterations", "seconds"):
        table.add_column(name, justify="left" if name in names else "right")
    for trial in found.trials:
        s = trial.score
        cells = [str(value) for value in trial.settings.values()]
        cells += [percent(s.precision), percent(s.recall), percent(s.f1), str(len(trial.objective))]
        table.add_row(*cells, f"{trial.seconds:.1f}", style="bold green" if trial is found.best else None)
    console.print(table)
    best = ", ".join(f"{name}={value}" for name, value in found.best.settings.items())
    console.print("best:", Text(best, "bold"), f"with F1 {percent(found.best.score.f1)}")


def _figure(found: Tuning) -> Figure:
    """Plot the learning curve if the grid is over the share of the data, and else scores against the one setting."""
    from spanloom.base.errors import ParameterError
    from spanloom.evaluation.calibration import Curve
    from spanloom.evaluation.plots import plot_curve, plot_learning_curve

    trials = found.trials
    if "share" in trials[0].settings:
        shares = sorted({t.settings["share"] for t in trials})
        lines: dict[str, dict[Any, float]] = {}
        for t in trials:
            lines.setdefault(_name(t, "share") or "F1", {})[t.settings["share"]] = t.score.f1
        return plot_learning_curve([100 * s for s in shares], {n: [v[s] for s in shares] for n, v in lines.items()})
    names = list(trials[0].settings)
    if len(names) != 1 or not all(isinstance(t.settings[names[0]], int | float) for t in trials):
        raise ParameterError(f"--plot needs a grid over one number, or over share; this one is over {', '.join(names)}")
    order = sorted(trials, key=lambda t: float(t.settings[names[0]]))
    values = [float(t.settings[names[0]]) for t in order]
    return plot_curve(Curve(names[0], values, [t.score for t in order], float(found.best.settings[names[0]])))


def _objectives(found: Tuning) -> Figure:
    from spanloom.evaluation.plots import plot_objective

    return plot_objective({_name(t) or "objective": t.objective for t in found.trials})


def _name(trial: Trial, *without: str) -> str:
    return ", ".join(f"{name}={value}" for name, value in trial.settings.items() if name not in without)
