"""``spanloom suggest``: what to annotate next."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from spanloom.base.counted import counted
from spanloom.cli.console import make_console
from spanloom.cli.options import ModelArgument
from spanloom.cli.outputs import Lossy, Overwrite, output_reference, tell_written
from spanloom.cli.problems import show_report
from spanloom.cli.sources import ParserOption


def suggest(
    model: ModelArgument,
    corpus: Annotated[list[str], typer.Argument(metavar="REF...", help="Text without annotation.")],
    number: Annotated[int, typer.Option("--number", "-n", metavar="N", help="How many sentences.")] = 100,
    by: Annotated[str, typer.Option(help="entropy (per token), margin, change, disagreement or random.")] = "entropy",
    other: Annotated[Path | None, typer.Option(metavar="MODEL", help="The second model for --by disagreement.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="A file or reference; - prints.")] = "-",
    seed: Annotated[int, typer.Option(help="Seed for --by random.")] = 1,
    lossy: Lossy = None,
    overwrite: Overwrite = False,
    parser: ParserOption = None,
) -> None:
    """Choose the sentences whose annotation would help the model most, without near-duplicates.

    They are written as documents of one sentence, with what the model finds, to be corrected.

    [bold]Example:[/bold] spanloom suggest gene.loom raw.txt -n 100 -o next.jsonl
    """
    from spanloom.corpus import Document
    from spanloom.formats import Report, read, write
    from spanloom.recognizer import Recognizer
    from spanloom.tuning import suggest as choose

    target = output_reference(f"jsonl:{output}" if output == "-" else output, overwrite=overwrite, lossy=lossy)
    annotators = [] if parser is None else [parser]
    ner = Recognizer.load(model, annotators=annotators)
    second = None if other is None else Recognizer.load(other, annotators=annotators)
    how = Report(tokenizer=ner.token_rules_, replaced=True)
    texts = chain.from_iterable(read(ref).stream(how) for ref in corpus)
    found = choose(ner, texts, number, by=by, other=second, seed=seed)
    documents = [
        Document(
            [one.sentence],
            f"{one.document or 'document'}-{one.number}-{rank}",
            meta={"document": one.document, "sentence": one.number, "rank": rank, by: round(one.score, 6)},
        )
        for rank, one in enumerate(found, 1)
    ]
    report = write(documents, target)
    show_report(report)
    tell_written(report)
    if len(found) < number:
        make_console(stderr=True, soft_wrap=True).print(
            f"Without near-duplicates there {'is' if len(found) == 1 else 'are'} {counted(len(found), 'sentence')}."
        )
