"""``spanloom vectors``: word vectors from raw text, and clusters of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from spanloom.base.counted import counted
from spanloom.base.parameters import check_count
from spanloom.cli.console import make_console
from spanloom.cli.counting import counting
from spanloom.cli.options import TextArgument
from spanloom.cli.outputs import check_output


def vectors(
    text: TextArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATHS", help="Where the clusters go, for train --clusters.")
    ],
    table: Annotated[
        Path | None, typer.Option("--vectors", metavar="FILE", help="Also write the vectors, in word2vec's text form.")
    ] = None,
    clusters: Annotated[int, typer.Option("--clusters", "-c", help="How many clusters, at most.")] = 1000,
    size: Annotated[int, typer.Option(help="Dimensions.")] = 100,
    window: Annotated[int, typer.Option(help="How far neighbours may be.")] = 5,
    min_count: Annotated[int, typer.Option(help="Rarer words get no vector.")] = 3,
    seed: Annotated[int, typer.Option(help="Of the first directions.")] = 1,
) -> None:
    """Learn word vectors from raw text, and cut them into clusters of clusters, which features use.

    Vectors are positive pointwise mutual information, reduced (Levy & Goldberg 2014); clusters come by cutting the
    words in two again and again. They look further than Brown clusters, which go by direct neighbours: take both.

    [bold]Example:[/bold] spanloom vectors abstracts.txt -o wide && spanloom cluster abstracts.txt -o paths &&
    spanloom train train.jsonl --clusters paths --clusters wide -o gene.loom
    """
    from spanloom.base.errors import CorpusError
    from spanloom.features.brown import START
    from spanloom.features.vectors import START as TABLE_START
    from spanloom.features.vectors import train_vectors

    check_output(output, START, "file of clusters")
    check_count("clusters", clusters)
    if table is not None:
        check_output(table, TABLE_START, "table of vectors")
        if table.resolve() == output.resolve():
            raise typer.BadParameter("clusters and vectors need files of their own", param_hint="--vectors")
    console = make_console(stderr=True)
    with counting("learning vectors") as progress, text.open(encoding="utf-8") as lines:
        try:
            found = train_vectors(lines, size, window=window, min_count=min_count, seed=seed, progress=progress)
        except UnicodeDecodeError as error:
            raise CorpusError(f"{text}: not UTF-8 at byte {error.start}") from None
    with counting("clustering") as progress:
        made = found.clusters(clusters, seed=seed, progress=progress)
    if table is not None:
        found.write(table)
    made.write(output)
    number = len(set(made.paths.values()))
    console.print(Text(str(output), "bold"), f" {len(found.words):,} words in {counted(number, 'cluster')}")
