"""``spanloom explain``: why a mention is found, or why not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanloom.cli.console import make_console
from spanloom.cli.options import ModelArgument
from spanloom.cli.outputs import check_output
from spanloom.cli.sources import ParserOption

if TYPE_CHECKING:
    from spanloom.corpus import Document, Mention

_PLACE = re.compile(r"(.+):(\d+)-(\d+)")


def explain(
    model: ModelArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text itself.")],
    mention: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL:START-END|SURFACE",
            help="What to explain, found or not: a label and half-open token numbers of the whole text, or the words "
            "of a found mention; may be repeated. Without it: every found mention.",
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(metavar="REF", help="The training data, to show which of its mentions speak most for this one."),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page.")] = None,
    top: Annotated[int, typer.Option(metavar="N", help="How many features to show.")] = 15,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each mention.")] = False,
    parser: ParserOption = None,
) -> None:
    """Say why the model finds a mention, or does not: its log-odds, and the features that make the difference.

    Numbers count tokens, from 0, without the one after the last: IL-2 gene are the four tokens 0-4 (IL, -, 2, gene).

    [bold]Example:[/bold] spanloom explain gene.loom "IL-2 gene expression" --mention DNA:0-4
    """
    from spanloom.drawing.explanation import as_html, as_text, page
    from spanloom.formats import read
    from spanloom.recognizer import Recognizer

    if html is not None:
        check_output(html)
    ner = Recognizer.load(model, annotators=[] if parser is None else [parser])
    document: Document = ner.predict(text)
    known = [item for ref in corpus or () for item in read(ref)]
    wanted = [_find(document, one) for one in mention] if mention else document.mentions
    found = [ner.explain(document, one, corpus=known) for one in wanted]
    if html is not None:
        from spanloom.base.files import whole_file

        with whole_file(html) as out:
            out.write(page("<hr>".join(as_html(one, top) for one in found), "Why"))
    if as_json:
        for one in found:
            print(json.dumps(one.to_json(top), ensure_ascii=False))
        return
    console = make_console(soft_wrap=True)
    if not found:
        console.print("The model finds nothing here; ask about a mention with --mention LABEL:START-END.")
    for one in found:
        console.print(as_text(one, top))
        console.print()


def _find(document: Document, wanted: str) -> Mention:
    """The mention that is meant: by place, or the first found one with these words."""
    from spanloom.corpus import Mention

    if match := _PLACE.fullmatch(wanted):
        label, start, end = match[1], int(match[2]), int(match[3])
        if not start < end <= len(document):
            raise typer.BadParameter(f"{wanted}: the text has tokens 0 to {len(document)}", param_hint="--mention")
        return Mention(label, ((start, end),))
    for found in document.mentions:
        if document.surface(found) == wanted:
            return found
    surfaces = ", ".join(repr(document.surface(m)) for m in document.mentions) or "nothing"
    raise typer.BadParameter(
        f"{wanted!r} is not found; the model finds {surfaces}. Ask why not by LABEL:START-END", param_hint="--mention"
    )
