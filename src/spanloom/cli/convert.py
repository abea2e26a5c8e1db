"""``spanloom convert``: from one format to another, and what could not come along."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from spanloom.cli.counting import watched
from spanloom.cli.interrupting import unbroken
from spanloom.cli.options import SourceArgument
from spanloom.cli.outputs import Lossy, Overwrite, output_reference, tell_written
from spanloom.cli.problems import show_problems
from spanloom.cli.skipping import OnError, OnErrorOption, SkippingReader


def convert(
    source: SourceArgument,
    target: Annotated[str, typer.Argument(metavar="REF", help="Corpus to write.")],
    lossy: Lossy = None,
    overwrite: Overwrite = False,
    on_error: OnErrorOption = OnError.stop,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object about what was lost.")] = False,
) -> None:
    """Convert a corpus. Nothing is lost silently: what has no place in the target is an error, or is reported.

    [bold]Example:[/bold] spanloom convert brat:corpus/ train.jsonl
    """
    from spanloom.formats import write

    output = output_reference(target, overwrite=overwrite, lossy=lossy)
    docs = SkippingReader([source], on_error, output.path)
    with docs, unbroken(watched(docs, quiet=as_json), output.path) as items:
        report = write(items, output)
    problems = [*(p for p in docs.report.problems if p.severity == "warning"), *report.problems]
    if as_json:
        rows = [{"kind": p.kind, "where": p.where, "message": p.message} for p in problems]
        counts = dict(docs.report.counts + report.counts)
        print(json.dumps({"documents": report.documents, "counts": counts, "problems": rows}))
    else:
        show_problems(problems, "; --json has them all")
        tell_written(report)
    docs.finish()
