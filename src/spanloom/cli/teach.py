"""``spanloom teach``: what a model believes of text, for another model to learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from spanloom.base.counted import counted
from spanloom.cli.console import make_console
from spanloom.cli.counting import watched
from spanloom.cli.interrupting import unbroken
from spanloom.cli.options import ModelArgument, ThreadsOption
from spanloom.cli.outputs import Overwrite, output_reference
from spanloom.cli.problems import show_report
from spanloom.cli.sources import ParserOption

if TYPE_CHECKING:
    from spanloom.corpus import Document


def teach(
    model: ModelArgument,
    corpus: Annotated[list[str], typer.Argument(metavar="REF...", help="Text without annotation.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="OUT", help="JSON lines; - prints.")] = "-",
    samples: Annotated[int, typer.Option(metavar="N", help="Mention sets that are drawn for each sentence.")] = 8,
    weight: Annotated[
        float, typer.Option(help="How much a sentence counts beside one that somebody has annotated.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 1,
    parser: ParserOption = None,
    overwrite: Overwrite = False,
    threads: ThreadsOption = None,
) -> None:
    """Write text with what a model believes of it, for a smaller and faster model to learn from.

    The output is a corpus for spanloom train, beside annotated ones. A model learns from it to believe what its teacher
    believes, also where the teacher is not sure. See docs/distilling.md.

    [bold]Example:[/bold] spanloom teach big.loom abstracts.txt -o taught.jsonl && spanloom train train.jsonl
    taught.jsonl -o small.loom
    """
    from spanloom.formats import Report, read, write
    from spanloom.recognizer import Recognizer

    target = output_reference(f"jsonl:{output}" if output == "-" else output, overwrite=overwrite)
    if target.format not in ("jsonl", "parquet"):
        raise typer.BadParameter("what is believed is written as JSON lines; name a file .jsonl", param_hint="--output")
    ner = Recognizer.load(model, threads=threads, annotators=[] if parser is None else [parser])
    how = Report(tokenizer=ner.token_rules_, replaced=True)
    corpora = [read(ref) for ref in corpus]  # what is not there is said before any work
    texts = chain.from_iterable(one.stream(how) for one in corpora)
    counts: Counter[str] = Counter()
    taught = ner.teach(texts, samples=samples, weight=weight, seed=seed)
    with unbroken(watched(_counted(taught, counts), quiet=target.path == "-"), target.path) as docs:
        report = write(docs, target)
    show_report(report)
    if target.path != "-":
        told = f"what {model} believes of {counted(counts['sentences'], 'sentence')} written to {target.path}"
        make_console(stderr=True, soft_wrap=True).print(told)


def _counted(docs: Iterable[Document], counts: Counter[str]) -> Iterator[Document]:
    for doc in docs:
        counts["sentences"] += len(doc.sentences)
        yield doc
