"""``spanloom audit``: where is the annotation wrong?"""

from __future__ import annotations

import json
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanloom.cli.console import make_console
from spanloom.cli.options import FoldsOption, SettingsOption
from spanloom.cli.outputs import check_output
from spanloom.cli.settings import parse_settings
from spanloom.cli.tables import plain_table

if TYPE_CHECKING:
    from spanloom.corpus import Mention, Sentence


def audit(
    corpus: Annotated[list[str], typer.Argument(metavar="REF...", help="Annotated corpora.")],
    folds: FoldsOption = 5,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Kind of model, as in train; short for --set model=NAME.")
    ] = None,
    settings: SettingsOption = None,
    above: Annotated[float, typer.Option(help="The least probability of a mention that is not annotated.")] = 0.1,
    rate: Annotated[float, typer.Option(help="The share of errors among mentions that you expect.")] = 0.05,
    top: Annotated[int, typer.Option("--top", "-n", metavar="N", help="How many to show here and on the page.")] = 50,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write all of them as JSON lines.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page to go through.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores if not given.")] = None,
) -> None:
    """Find annotation errors: where a model that has not seen the document is sure that its annotation is wrong.

    A mention may be missing, have another label or other borders, or be none.

    [bold]Example:[/bold] spanloom audit corpus.jsonl --model edge --html errors.html -o errors.jsonl
    """
    from spanloom.base.files import whole_file
    from spanloom.drawing.audit import audit_page
    from spanloom.formats import read
    from spanloom.tuning import audit as judge

    for path in (output, html):
        if path is not None:
            check_output(path)
    documents = chain.from_iterable(read(ref) for ref in corpus)
    given = {**({} if model is None else {"model": model}), **parse_settings(settings or [])}
    found = judge(documents, settings=given, folds=folds, above=above, rate=rate, threads=threads)
    if output is not None:
        with whole_file(output) as out:
            out.writelines(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in found.suspects)
    if html is not None:
        with whole_file(html) as out:
            out.write(audit_page(found.suspects[:top], len(found.suspects)))
    table = plain_table("Where the annotation may be wrong")
    for heading in ("sure", "kind", "annotated", "the model", "sentence"):
        table.add_column(heading)
    for one in islice(found.suspects, top):
        gold, instead = (_shown(mention, one.sentence) for mention in (one.gold, one.instead))
        table.add_row(f"{one.suspicion:.3f}", one.kind, gold, instead, f"{one.document} {one.sentence.text}"[:90])
    console = make_console()
    console.print(table)
    console.print(f"{found.judged:,} annotated mentions were judged; {found.unheld:,} cannot be held by the models.")


def _shown(mention: Mention | None, sentence: Sentence) -> str:
    return "—" if mention is None else f"{mention.label} “{sentence.surface(mention)}”"
