"""``spanloom watch``: tag a file anew whenever it is saved."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from spanloom.cli.console import make_console
from spanloom.cli.options import ModelArgument
from spanloom.cli.sources import ParserOption


def watch(
    model: ModelArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A text file that is being edited.")],
    above: Annotated[
        float | None, typer.Option(metavar="P", help="Every mention with at least this probability, e.g. 0.2.")
    ] = None,
    probabilities: Annotated[
        bool | None, typer.Option("--probabilities/--no-probabilities", help="Show the probability of every mention.")
    ] = None,
    every: Annotated[float, typer.Option(min=0.05, metavar="SECONDS", help="How often to look at the file.")] = 0.3,
    parser: ParserOption = None,
) -> None:
    """Draw the mentions of a text file, and again whenever it is saved; Ctrl-C ends it.

    [bold]Example:[/bold] spanloom watch gene.loom notes.txt
    """
    from spanloom.drawing import draw
    from spanloom.recognizer import Recognizer

    ner = Recognizer.load(model, annotators=[] if parser is None else [parser])
    out = make_console()
    try:
        for text in saved(file, every):
            start = time.perf_counter()
            doc = ner.predict(text, probabilities=probabilities, above=above)
            took = time.perf_counter() - start
            if out.is_terminal:
                out.clear()
            for sentence in doc.sentences:
                out.print(draw(sentence, width=out.width))
                out.print()
            clock = time.strftime("%H:%M:%S")
            found = f"{len(doc.mentions):,} mentions in {1000 * took:,.0f} ms"
            out.print(f"{clock}  {file}: {found}; Ctrl-C ends", style="dim", soft_wrap=True)
            out.file.flush()
    except KeyboardInterrupt:
        out.print()


def saved(path: Path, every: float, sleep: Callable[[float], None] = time.sleep) -> Iterator[str]:
    """Yield the text of a file, and again whenever it has changed.

    A file that is away for a moment, as editors that write a new one leave it, is waited for; one that is not there at
    the beginning is an error. What is no text is said once for each save.
    """
    seen: tuple[int, int, int] | None = None
    path.stat()
    while True:
        try:
            now = os.stat(path)
            version = (now.st_mtime_ns, now.st_size, now.st_ino)
            if version != seen:
                text = path.read_bytes().decode("utf-8-sig")
                seen = version
                yield text
        except FileNotFoundError:
            pass
        except UnicodeDecodeError as error:
            seen = version
            what = f"{path} is not UTF-8 at byte {error.start}; waiting for the next save"
            make_console(stderr=True).print(f"spanloom: {what}")
        sleep(every)
