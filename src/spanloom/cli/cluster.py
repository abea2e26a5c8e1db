"""``spanloom cluster``: Brown clusters from raw text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from spanloom.cli.console import make_console
from spanloom.cli.options import TextArgument
from spanloom.cli.outputs import check_output


def cluster(
    text: TextArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PATHS", help="Where the clusters go.")],
    clusters: Annotated[int, typer.Option("--clusters", "-c", help="How many clusters.")] = 1000,
    min_count: Annotated[int, typer.Option(help="Rarer words get no cluster.")] = 1,
    threads: Annotated[int | None, typer.Option(help="Threads; all cores if not given. Clusters are the same.")] = None,
) -> None:
    """Cluster the words of raw text by their neighbours (Brown et al. 1992).

    The file has the usual form of paths: bits, word, count. Features use it by prefixes of the bits.

    [bold]Example:[/bold] spanloom cluster abstracts.txt -c 1000 -o paths && spanloom train train.jsonl --clusters paths
    --model edge --features muis-lu-genia-gaps -o gene.loom
    """
    from spanloom.base.errors import CorpusError
    from spanloom.features.brown import START, train_clusters

    check_output(output, START, "file of clusters")
    console = make_console(stderr=True)
    bar = Progress(
        TextColumn("[bold]clustering[/bold]"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar, text.open(encoding="utf-8") as lines:
        task = bar.add_task("cluster", total=None)
        try:
            found = train_clusters(
                lines,
                clusters,
                min_count=min_count,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
                threads=threads,
            )
        except UnicodeDecodeError as error:
            raise CorpusError(f"{text}: not UTF-8 at byte {error.start}") from None
    found.write(output)
    words, number = len(found.paths), len(set(found.paths.values()))
    console.print(Text(str(output), "bold"), f" {words:,} words in {number:,} clusters")
