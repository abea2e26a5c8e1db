"""``spanloom evaluate``: how good are the mentions of a model, or of a file that any tool made?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from spanloom.base.errors import ParameterError
from spanloom.cli.console import make_console
from spanloom.cli.options import JsonFractions
from spanloom.cli.outputs import check_output
from spanloom.cli.sources import ParserOption, gold_documents, run_model
from spanloom.cli.tables import count_table, percent, score_table

if TYPE_CHECKING:
    from spanloom.evaluation import Evaluation


def evaluate(
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Model file, to be run on REF.")] = None,
    corpus: Annotated[str | None, typer.Argument(metavar="[REF]", help="Gold corpus for MODEL.")] = None,
    gold: Annotated[str | None, typer.Option("--gold", metavar="REF", help="Gold corpus.")] = None,
    predicted: Annotated[
        str | None, typer.Option("--pred", metavar="REF", help="The same documents with any tool's predictions.")
    ] = None,
    train: Annotated[str | None, typer.Option(metavar="REF", help="Training corpus: tell seen from unseen.")] = None,
    as_json: JsonFractions = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with tables and mistakes.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture: .png, .svg or .pdf.")] = None,
    show: Annotated[int, typer.Option(metavar="N", help="Draw the first N sentences with mistakes.")] = 0,
    everything: Annotated[bool, typer.Option("--all", help="Print every table.")] = False,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples for the intervals.")] = 1000,
    by: Annotated[str, typer.Option(help="What the bootstrap draws: sentence or document.")] = "sentence",
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    parser: ParserOption = None,
    probabilities: Annotated[
        bool | None,
        typer.Option(
            "--probabilities/--no-probabilities",
            help="Ask the model for probabilities: whether they can be believed, and what a threshold would do; if not "
            "said, where that is quick.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of the model; all cores if left out.")] = None,
) -> None:
    """Score predicted mentions, all levels of nesting alike, and by label, kind, length and more.

    Either of a model, or of a file with predictions.

    [bold]Examples:[/bold] spanloom evaluate gene.loom dev.jsonl --show 5

    spanloom evaluate --gold dev.jsonl --pred tagged.jsonl --html report.html
    """
    from spanloom.evaluation import evaluate
    from spanloom.evaluation.page import write_page
    from spanloom.evaluation.plots import check_picture, plot_report, save
    from spanloom.formats import read

    if plot is not None:
        check_picture(plot)
    if html is not None:
        check_output(html)
    gold, predicted = _sources(model, corpus, gold, predicted)
    documents = gold_documents(gold)
    seconds = None
    if model is None:
        found = list(read(predicted))
    else:
        found, seconds = run_model(model, documents, threads, parser, probabilities=probabilities)
    report = evaluate(documents, found, train=None if train is None else read(train), seconds=seconds)
    if plot is not None:
        save(plot_report(report), plot)
    intervals = report.interval(by=by, resamples=resamples, seed=seed)
    if html is not None:
        write_page(report, html, title=f"{predicted} against {gold}", intervals=intervals)
    if as_json:
        data = {**report.to_json(), "intervals": {name: value.to_json() for name, value in intervals.items()}}
        print(json.dumps(data, ensure_ascii=False))
    else:
        console = make_console()
        low, high = percent(intervals["f1"].low), percent(intervals["f1"].high)
        micro = report.micro
        console.print(
            Text(f"F1 {percent(micro.f1)}", "bold"),
            f" (95 %: {low} to {high})   "
            f"P {percent(micro.precision)}  R {percent(micro.recall)}   "
            f"{micro.correct:g} right of {micro.predicted} predicted, {micro.gold} gold, "
            f"{report.counts['sentences']} sentences",
        )
        if report.throughput:
            console.print(f"{report.throughput['words_per_second']:,.0f} words per second")
        if report.calibration is not None:
            _print_calibration(console, report.calibration, everything)
        _print_tables(console, report, everything)
        _print_mistakes(console, report, show)


def _sources(model: str | None, corpus: str | None, gold: str | None, predicted: str | None) -> tuple[str, str]:
    """Return the gold and where predictions come from; say which two ways there are if it is neither."""
    if model is not None and corpus is not None and gold is None and predicted is None:
        return corpus, model
    if model is None and corpus is None and gold is not None and predicted is not None:
        return gold, predicted
    raise ParameterError("evaluate takes either MODEL and REF, or --gold REF and --pred REF")


def _print_calibration(console: Console, found: Mapping[str, Any], everything: bool) -> None:
    low, high = (percent(found["interval"][name]) for name in ("low", "high"))
    console.print(
        f"calibration error {percent(found['expected_calibration_error'])} (95 %: {low} to {high}): how far "
        f"probabilities are from the share that is right; {percent(found['by_chance'])} if they were perfect, by "
        f"chance; without chance {percent(found['debiased'])} (root mean square)"
    )
    if everything:
        for label, own in found["by_label"].items():
            console.print(f"  {label}: {percent(own['expected_calibration_error'])}", markup=False)


def _print_tables(console: Console, report: Evaluation, everything: bool) -> None:
    console.print(score_table("By label", "label", report.by_label))
    console.print(score_table("By kind of mention", "kind", report.by_kind))
    if report.by_novelty:
        console.print(score_table("Seen in training?", "mention", report.by_novelty))
    console.print(score_table("More forgiving", "rule", report.relaxed))
    if not everything:
        return
    console.print(score_table("Sentences that have such mentions", "kind", report.by_sentence_kind))
    console.print(score_table("By length", "tokens", report.by_length))
    console.print(score_table("By depth", "depth", {str(d): s for d, s in report.by_depth.items()}))
    for key, table in report.by_group.items():
        console.print(score_table(f"By {key}", key, table))
    if report.by_document:
        console.print(score_table("By document", "document", report.by_document))
    macro = report.macro
    console.print(
        f"macro P {percent(macro['precision'])}  R {percent(macro['recall'])}  F1 {percent(macro['f1'])}   "
        f"token accuracy {percent(report.token_accuracy)}"
    )


def _print_mistakes(console: Console, report: Evaluation, show: int) -> None:
    from spanloom.drawing import draw_pair
    from spanloom.evaluation.mistakes import MISTAKES

    found = report.mistakes
    kinds = Counter(m.kind for m in found)
    console.print(count_table("Mistakes", "kind", {kind: kinds[kind] for kind in MISTAKES}, len(found)))
    pairs = Counter((m.gold.label, m.predicted.label) for m in found if m.gold and m.predicted)
    confused = {f"{g} → {p}": n for (g, p), n in pairs.most_common(8) if g != p}
    if confused:
        console.print(count_table("Labels most often confused", "gold → predicted", confused, len(found)))
    for i in list(dict.fromkeys(m.sentence for m in found))[:show]:
        sentence = report.aligned.sentences[i]
        console.rule(report.aligned.name(i), align="left", style="dim")
        console.print(draw_pair(sentence, sentence.mentions, report.aligned.predicted[i], width=console.width))
