"""``spanloom split`` and ``spanloom sample``: parts of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from spanloom.cli.problems import Lossy, loss_options, show_report

NAMES = {1: ["train"], 2: ["train", "test"], 3: ["train", "dev", "test"]}


def split(
    ref: Annotated[str, typer.Argument(metavar="REF", help="Corpus: a path, or format:path?option=value.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for train, dev and test.")],
    parts: Annotated[str, typer.Option(help="Sizes of the parts, in proportion: 80/10/10.")] = "80/10/10",
    by: Annotated[str, typer.Option(help="What is divided: document or sentence.")] = "document",
    seed: Annotated[int, typer.Option(help="Seed of the shuffle.")] = 0,
    shuffle: Annotated[bool, typer.Option(help="Draw at random; --no-shuffle keeps the order of the corpus.")] = True,
    format: Annotated[str, typer.Option(help="Format of the parts.")] = "jsonl",
    lossy: Lossy = None,
) -> None:
    """Divide a corpus into parts. The same seed gives the same parts.

    [bold]Example:[/bold] spanloom split brat:corpus/ --parts 80/10/10 --by document -o parts/
    """
    from spanloom.corpus.parts import part, split_places
    from spanloom.formats import read, write
    from spanloom.formats.reference import formats, is_format

    if not is_format(format):
        raise typer.BadParameter(f"{format!r} is none of {', '.join(formats())}", param_hint="--format")
    corpus = read(ref)
    places = split_places(corpus, parts, by, seed if shuffle else None)
    names = NAMES.get(len(places), [f"part{k + 1}" for k in range(len(places))])
    output.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for name, chosen in zip(names, places, strict=True):
        target = f"{format}:{output / name}" + ("" if format in ("brat", "biocreative") else f".{format}")
        show_report(write(part(corpus, chosen, by), target, **loss_options(target, lossy)))
        console.print(f"{target}: {len(chosen)} {by}s", markup=False)


def sample(
    ref: Annotated[str, typer.Argument(metavar="REF", help="Corpus: a path, or format:path?option=value.")],
    size: Annotated[int, typer.Option("--size", "-n", help="How many.")] = 100,
    by: Annotated[str, typer.Option(help="What is drawn: document or sentence.")] = "document",
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="REF", help="Where to; - is JSONL to the screen.")
    ] = "-",
    lossy: Lossy = None,
) -> None:
    """Draw documents or sentences at random, in the order of the corpus. The same seed draws the same ones.

    [bold]Example:[/bold] spanloom sample big.jsonl -n 200 --by sentence -o small.jsonl
    """
    from spanloom.corpus.parts import part, sample_places
    from spanloom.formats import read, write

    corpus = read(ref)
    chosen = sample_places(corpus, size, by, seed)
    target = "jsonl:-" if output == "-" else output
    show_report(write(part(corpus, chosen, by), target, **loss_options(target, lossy)))
