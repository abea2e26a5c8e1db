"""``spanloom split`` and ``spanloom sample``: parts of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spanloom.cli.apart import check_output_apart
from spanloom.cli.console import make_console
from spanloom.cli.options import CorpusArgument
from spanloom.cli.outputs import Lossy, Overwrite, output_reference
from spanloom.cli.problems import show_report, show_unread

NAMES = {1: ["train"], 2: ["train", "test"], 3: ["train", "dev", "test"]}


def split(
    ref: CorpusArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for train, dev and test.")],
    parts: Annotated[str, typer.Option(help="Sizes of the parts, in proportion: 80/10/10.")] = "80/10/10",
    by: Annotated[str, typer.Option(help="What is divided: document or sentence.")] = "document",
    seed: Annotated[int, typer.Option(help="Seed of the shuffle.")] = 0,
    shuffle: Annotated[bool, typer.Option(help="Draw at random; --no-shuffle keeps the order of the corpus.")] = True,
    format: Annotated[str, typer.Option(help="Format of the parts.")] = "jsonl",
    lossy: Lossy = None,
    overwrite: Overwrite = False,
) -> None:
    """Divide a corpus into parts. The same seed gives the same parts.

    [bold]Example:[/bold] spanloom split brat:corpus/ --parts 80/10/10 --by document -o parts/
    """
    from spanloom.corpus.parts import part, split_places
    from spanloom.formats import read, write
    from spanloom.formats.reference import formats_for, is_format

    if not is_format(format):
        raise typer.BadParameter(f"{format!r} is none of {', '.join(formats_for('write'))}", param_hint="--format")
    corpus = read(ref)
    count = parts.count("/") + 1
    names = NAMES.get(count, [f"part{k + 1}" for k in range(count)])
    targets = [_part(output, name, format, lossy, overwrite) for name in names]
    places = split_places(corpus, parts, by, seed if shuffle else None)
    console = make_console(stderr=True, soft_wrap=True)
    show_unread(corpus.report)
    for target, chosen in zip(targets, places, strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        written = output_reference(f"{format}:{target}", overwrite=overwrite, lossy=lossy)
        show_report(write(part(corpus, chosen, by), written))
        console.print(f"{format}:{target}: {len(chosen)} {by}s")


def _part(folder: Path, name: str, format: str, lossy: str | None, overwrite: bool) -> Path:
    """Return where a part goes; fails if it cannot go there, or if there is one already."""
    from spanloom.base.errors import CorpusError
    from spanloom.base.files import check_place
    from spanloom.formats.reading import takes_folders

    several = takes_folders(format)
    target = folder / (name if several else f"{name}.{format}")
    if several:
        check_output_apart(f"{format}:{target}", overwrite=overwrite)
        output_reference(f"{format}:{target}", overwrite=overwrite, lossy=lossy)
        return target
    check_place(folder, folder=True)
    check_output_apart(target)
    if target.exists() and not overwrite:
        raise CorpusError(f"there is {target} already; write elsewhere, or replace the parts with --overwrite")
    return target


def sample(
    ref: CorpusArgument,
    size: Annotated[int, typer.Option("--size", "-n", help="How many.")] = 100,
    by: Annotated[str, typer.Option(help="What is drawn: document or sentence.")] = "document",
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="REF", help="Where to; - is JSONL to the screen.")
    ] = "-",
    lossy: Lossy = None,
    overwrite: Overwrite = False,
) -> None:
    """Draw documents or sentences at random, in the order of the corpus. The same seed draws the same ones.

    [bold]Example:[/bold] spanloom sample big.jsonl -n 200 --by sentence -o small.jsonl
    """
    from spanloom.corpus.parts import part, sample_places
    from spanloom.formats import read, write

    corpus = read(ref)
    target = output_reference("jsonl:-" if output == "-" else output, overwrite=overwrite, lossy=lossy)
    chosen = sample_places(corpus, size, by, seed)
    show_unread(corpus.report)
    show_report(write(part(corpus, chosen, by), target))
