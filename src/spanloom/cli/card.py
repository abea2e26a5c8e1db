"""``spanloom card``: a model as a folder to be shared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spanloom.cli.apart import check_output_apart
from spanloom.cli.console import make_console
from spanloom.cli.options import ModelArgument


def card(
    model: ModelArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where model and README go.")],
    test: Annotated[str | None, typer.Option(metavar="CORPUS", help="Annotated text that the figures are of.")] = None,
    name: Annotated[str, typer.Option(help="The heading. [the folder's name]")] = "",
    license: Annotated[str, typer.Option(metavar="ID", help="As hubs write it, e.g. apache-2.0.")] = "",
    language: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="E.g. en; several times for several.")
    ] = None,
    data: Annotated[str, typer.Option(metavar="TEXT", help="What it was trained on, in Markdown.")] = "",
    notes: Annotated[str, typer.Option(metavar="TEXT", help="For what it is meant, and for what not.")] = "",
) -> None:
    """Write a folder to be shared on a hub: the model, and a README with data, figures and licence.

    Recognizer.load and every command take the folder as they take the file.

    [bold]Example:[/bold] spanloom card gene.loom -o gene/ --test test.jsonl --license cc-by-4.0 --data "GENIA 3.02"
    """
    from spanloom.card import README, Card, write_folder
    from spanloom.cli.sources import gold_documents
    from spanloom.keeping import IN_FOLDER
    from spanloom.recognizer import Recognizer

    for written in (IN_FOLDER, README):
        check_output_apart(output / written)
    ner = Recognizer.load(model)
    evaluation = None if test is None else ner.score(gold_documents(test))
    given = Card(name, license, tuple(language or ()), data, test or "", notes)
    write_folder(ner, output, given, evaluation)
    make_console(stderr=True).print(f"Written: {output}/model.loom and {output}/README.md.")
