"""``spanloom tag``: find mentions in text."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from spanloom.corpus import Document


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
        typer.Option("--format", help="auto, jsonl, draw (in the terminal), or a corpus format such as conll or brat."),
    ] = "auto",
    mention_penalty: Annotated[
        float | None, typer.Option(help="Above 0 for more mentions, below 0 for fewer; else the model's own.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Of multilabel: take mentions that score above this; else the model's own.")
    ] = None,
    parser: Annotated[
        str | None, typer.Option(help="Makes dependency trees where there are none: udpipe:MODEL or spacy:PIPELINE.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores if not given.")] = None,
) -> None:
    """Find the mentions of text, one document after the other.

    Without --output, a terminal gets drawings and a pipe gets JSON lines.

    [bold]Example:[/bold] echo "IL-2 gene expression requires NF-kappa B." | spanloom tag gene.loom
    """
    from spanloom.corpus import Reference, read, write
    from spanloom.recognizer import Recognizer

    ner = Recognizer.load(model, threads=threads, parser=parser)
    if mention_penalty is not None:
        ner.set_mention_penalty(mention_penalty)
    if threshold is not None:
        ner.set_threshold(threshold)
    refs = ["text:-" if name == "-" else name for name in files or ["-"]]
    streaming = "text:-" in refs
    tagged: Iterator[Document] = ner.stream(
        chain.from_iterable(read(ref) for ref in refs), batch=1 if streaming else 64
    )
    if output is not None and output != "-":
        target = output if form == "auto" else f"{form}:{output}"
        report = write(tagged, Reference.parse(target))
        for problem in report.problems:
            print(f"spanloom: {problem}", file=sys.stderr)
        return
    if form == "auto":
        form = "draw" if sys.stdout.isatty() else "jsonl"
    if form == "jsonl":
        _print_jsonl(tagged)
    elif form == "draw":
        _draw(tagged)
    else:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "tagged"
            write(tagged, Reference.parse(f"{form}:{file}"))
            if file.is_dir():
                raise typer.BadParameter(f"{form} is more than one file; give --output", param_hint="--format")
            with file.open(encoding="utf-8") as text:
                shutil.copyfileobj(text, sys.stdout)


def _print_jsonl(docs: Iterable[Document]) -> None:
    from spanloom.corpus.formats.jsonl import to_dict

    for doc in docs:
        print(json.dumps(to_dict(doc), ensure_ascii=False), flush=True)


def _draw(docs: Iterable[Document]) -> None:
    from spanloom.drawing import draw

    console = Console()
    for doc in docs:
        for sentence in doc.sentences:
            console.print(draw(sentence, width=console.width))
            console.print()
