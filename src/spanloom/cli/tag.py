"""``spanloom tag``: find mentions in text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from spanloom.cli.problems import show_report
from spanloom.cli.settings import parse_value
from spanloom.cli.sources import ParserOption

if TYPE_CHECKING:
    from spanloom.corpus import Document
    from spanloom.formats import Reference
    from spanloom.recognizer import Recognizer


def tag(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that spanloom train wrote.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...|-]", help="Text files or corpora; - (the default) is standard input, line by line."
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="OUT", help="A file or reference; - prints.")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="auto, jsonl, mentions (JSON lines of ids and mentions only), draw (in the terminal), or a corpus "
            "format such as conll or brat.",
        ),
    ] = "auto",
    mention_penalty: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|JSON",
            help="Above 0 for more mentions, below 0 for fewer; one number, or by label. Else the model's own.",
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|JSON",
            help="Of multilabel: take mentions that score above this; one number, or by label: '{\"DNA\": 0.5}'. Else "
            "the model's own.",
        ),
    ] = None,
    parser: ParserOption = None,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores if not given.")] = None,
) -> None:
    """Find the mentions of text, one document after the other.

    Without --output, a terminal gets drawings and a pipe gets JSON lines, in which mentions have their tokens
    (parts), their characters (chars) and their text.

    [bold]Example:[/bold] echo "IL-2 gene expression requires NF-kappa B." | spanloom tag gene.loom
    """
    from spanloom.formats import Reference, read, write
    from spanloom.recognizer import Recognizer
    from spanloom.tagging import tag_files

    if form == "auto" and output in (None, "-"):
        form = "draw" if sys.stdout.isatty() else "jsonl"
    target = _target(form, output or "-")
    ner = Recognizer.load(model, threads=threads, parser=parser)
    if mention_penalty is not None:
        ner.set_mention_penalty(parse_value(mention_penalty))
    if threshold is not None:
        ner.set_threshold(parse_value(threshold))
    refs = ["text:-" if name == "-" else name for name in files or ["-"]]
    if target is not None and tag_files(ner, [Reference.parse(ref) for ref in refs], target):
        return
    streaming = "text:-" in refs
    tagged: Iterator[Document] = ner.stream(
        chain.from_iterable(read(ref) for ref in refs), batch=1 if streaming else 64
    )
    if target is None:
        _draw(tagged)
        _tell_conflicts(ner)
        return
    if target.path == "-" and isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # whoever reads the pipe gets every line at once
    show_report(write(tagged, target))
    _tell_conflicts(ner)


def _tell_conflicts(ner: Recognizer) -> None:
    """Say how often the parts of a reduction found mentions that hardly go together."""
    from spanloom.reductions import Reduction

    if isinstance(ner.model_, Reduction) and ner.model_.conflicts:
        crossing, labels = (ner.model_.conflicts[kind] for kind in ("crossing", "labels"))
        Console(stderr=True).print(
            f"The parts of the model disagree: {crossing:,} pairs of mentions cross, {labels:,} have the same tokens "
            "under two labels; all of them are kept."
        )


def _target(form: str, output: str) -> Reference | None:
    """Where to write, found wanting before any work is done; None for drawings. JSON lines get mentions' characters."""
    from spanloom.formats import Reference
    from spanloom.formats.reading import takes_option, writer
    from spanloom.formats.reference import EXTENSIONS

    if form == "draw" and output == "-":
        return None
    if form == "draw":
        raise typer.BadParameter("drawings go to the screen; leave --output out", param_hint="--format")
    if form == "mentions":
        return Reference("jsonl", output, {"fields": "mentions"})
    if form not in ("auto", *EXTENSIONS):
        raise typer.BadParameter(
            f"{form!r} is none of auto, draw, mentions, {', '.join(EXTENSIONS)}", param_hint="--format"
        )
    target = Reference.parse(output if form == "auto" else f"{form}:{output}")
    writer(target)
    if takes_option(target, "write", "chars"):
        return Reference(target.format, target.path, {"chars": "yes", **target.options})
    return target


def _draw(docs: Iterable[Document]) -> None:
    from spanloom.drawing import draw

    console = Console()
    for doc in docs:
        for sentence in doc.sentences:
            console.print(draw(sentence, width=console.width))
            console.print()
