"""``spanloom compare``: is A better than B, and where?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from spanloom.cli.console import make_console
from spanloom.cli.options import JsonFractions, ThreadsOption
from spanloom.cli.sources import ParserOption, gold_documents, predictions
from spanloom.cli.tables import percent, plain_table

if TYPE_CHECKING:
    from spanloom.evaluation import Comparison

_OUTCOMES = {"gold": "gold mentions (right: found)", "false": "false mentions (right: not given)"}


def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="The first system: a model file, or a corpus with predictions.")
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The second system.")],
    gold: Annotated[str, typer.Option("--gold", metavar="REF", help="Gold corpus.")],
    third: Annotated[str | None, typer.Option(metavar="C", help="A third system: right where A or B is?")] = None,
    as_json: JsonFractions = False,
    show: Annotated[int, typer.Option(metavar="N", help="Draw the first N sentences where A and B differ.")] = 0,
    resamples: Annotated[int, typer.Option(help="Draws of each significance test.")] = 10_000,
    by: Annotated[str, typer.Option(help="What the tests draw: sentence or document.")] = "sentence",
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    parser: ParserOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Compare two systems: difference, confidence interval, significance, and who is right where.

    [bold]Example:[/bold] spanloom compare chain.loom tagged.jsonl --gold dev.jsonl --show 5
    """
    from spanloom.evaluation import compare

    documents = gold_documents(gold)
    comparison = compare(
        documents,
        predictions(a, documents, threads, parser),
        predictions(b, documents, threads, parser),
        third=None if third is None else predictions(third, documents, threads, parser),
        by=by,
        resamples=resamples,
        seed=seed,
    )
    if as_json:
        print(json.dumps(comparison.to_json(), ensure_ascii=False))
        return
    console = make_console()
    _print_scores(console, comparison)
    _print_changes(console, comparison)
    _print_sentences(console, comparison, show)


def _print_scores(console: Console, comparison: Comparison) -> None:
    test = comparison.bootstrap
    table = plain_table("Scores")
    table.add_column("measure")
    for name in ("A", "B", "A − B", "95 % interval", "p (bootstrap)", "p (randomisation)"):
        table.add_column(name, justify="right")
    for measure, difference in test.difference.items():
        table.add_row(
            measure,
            percent(test.a[measure].value),
            percent(test.b[measure].value),
            f"{100 * difference.value:+.2f}",
            f"{100 * difference.low:+.2f} to {100 * difference.high:+.2f}",
            f"{test.p[measure]:.4f}",
            f"{comparison.randomisation[measure]:.4f}",
        )
    console.print(table)
    console.print(
        f"{test.resamples} draws of {test.units} {comparison.by}s, seed {test.seed}. Bootstrap p: how often the better "
        "system is not better in a draw (one-sided). Randomisation p: two-sided.",
        style="dim",
    )
    labels = sorted(set(comparison.a.by_label) | set(comparison.b.by_label))
    table = plain_table("F1 by label")
    table.add_column("label")
    for name in ("A", "B", "A − B"):
        table.add_column(name, justify="right")
    for label in labels:
        f1 = [r.by_label[label].f1 if label in r.by_label else 0.0 for r in (comparison.a, comparison.b)]
        table.add_row(label, percent(f1[0]), percent(f1[1]), f"{100 * (f1[0] - f1[1]):+.2f}")
    console.print(table)


def _print_changes(console: Console, comparison: Comparison) -> None:
    from spanloom.evaluation.comparison import CHANGES

    table = plain_table("Who is right")
    table.add_column("")
    for change in CHANGES:
        table.add_column(change, justify="right")
    for side, counts in comparison.changes().items():
        table.add_row(_OUTCOMES[side], *(str(counts[c]) for c in CHANGES))
    for side, thirds in comparison.third_way().items():
        shares = (f"{n['right']} of {n['right'] + n['wrong']}" for n in thirds.values())
        table.add_row(f"  of these {side} ones, C is right about", *shares, style="dim")
    console.print(table)


def _print_sentences(console: Console, comparison: Comparison, show: int) -> None:
    from spanloom.drawing import draw_pair

    differ = dict.fromkeys(item.sentence for item in comparison.items if item.right[0] != item.right[1])
    for i in list(differ)[:show]:
        aligned = comparison.a.aligned
        sentence = aligned.sentences[i]
        console.rule(aligned.name(i), align="left", style="dim")
        for name, report in (("A", comparison.a), ("B", comparison.b)):
            console.print(Text(name, "bold"))
            console.print(draw_pair(sentence, sentence.mentions, report.aligned.predicted[i], width=console.width))
