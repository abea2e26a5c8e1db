"""``spanloom convert``: from one format to another, and what could not come along."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from spanloom.cli.problems import Lossy, loss_options, show_problems

if TYPE_CHECKING:
    from spanloom.corpus import Document


def convert(
    source: Annotated[str, typer.Argument(metavar="REF", help="Corpus to read: a path, or format:path?option=value.")],
    target: Annotated[str, typer.Argument(metavar="REF", help="Corpus to write.")],
    lossy: Lossy = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object about what was lost.")] = False,
) -> None:
    """Convert a corpus. Nothing is lost silently: what has no place in the target is an error, or is reported.

    [bold]Example:[/bold] spanloom convert brat:corpus/ train.jsonl
    """
    from spanloom.formats import Report, read, write

    corpus = read(source)
    count = 0
    read_report = Report()

    def counted() -> Iterator[Document]:
        nonlocal count
        for doc in corpus.stream(read_report):
            count += 1
            yield doc

    report = write(counted(), target, **loss_options(target, lossy))
    problems = [*read_report.problems, *report.problems]
    if as_json:
        rows = [{"kind": p.kind, "where": p.where, "message": p.message} for p in problems]
        print(json.dumps({"documents": count, "counts": dict(read_report.counts + report.counts), "problems": rows}))
        return
    show_problems(problems, "; --json has them all")
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"{count} documents written to {target}", markup=False)
