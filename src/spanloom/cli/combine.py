"""``spanloom combine``: one prediction out of several."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from spanloom.cli.console import make_console
from spanloom.cli.options import JsonOption, ThreadsOption
from spanloom.cli.outputs import Lossy, Overwrite, output_reference
from spanloom.cli.problems import show_report
from spanloom.cli.sources import ParserOption, is_model, predictions

if TYPE_CHECKING:
    from spanloom.corpus import Document


def combine(
    systems: Annotated[
        list[str], typer.Argument(metavar="SYSTEM...", help="Model files, or corpora with predictions.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="REF", help="Where the combination goes.")],
    text: Annotated[
        str | None, typer.Option(metavar="REF", help="What models are to tag; by default the first corpus given.")
    ] = None,
    how: Annotated[str, typer.Option(help="union, intersection or vote.")] = "union",
    least: Annotated[
        int | None, typer.Option(help="How many must agree in a vote; more than half if left out.")
    ] = None,
    lossy: Lossy = None,
    overwrite: Overwrite = False,
    parser: ParserOption = None,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Unite, intersect or put to the vote what systems found in the same text, and report where they conflict.

    [bold]Example:[/bold] spanloom combine a.loom b.loom c.jsonl --how vote --text test.jsonl -o voted.jsonl
    """
    from spanloom.decisions.combine import combine
    from spanloom.formats import read, write

    corpora = [text] if text is not None else [system for system in systems if not is_model(system)]
    if not corpora:
        raise typer.BadParameter("models alone need a text to tag", param_hint="--text")
    target = output_reference(output, overwrite=overwrite, lossy=lossy)
    documents: list[Document] = list(read(corpora[0]))
    made = [predictions(system, documents, threads, parser) for system in systems]
    found, conflicts = combine(made, how, least=least)
    show_report(write(found, target))
    mentions = sum(len(doc.mentions) for doc in found)
    if as_json:
        lines = [str(conflict) for conflict in conflicts]
        print(json.dumps({"output": output, "mentions": mentions, "conflicts": lines}, ensure_ascii=False))
        return
    console = make_console()
    console.print(Text(output, "bold"), f" {mentions:,} mentions, {len(conflicts):,} conflicts")
    for conflict in conflicts[:10]:
        console.print(f"  {conflict}")
    if len(conflicts) > 10:
        console.print(f"  … and {len(conflicts) - 10:,} more; --json lists all")
