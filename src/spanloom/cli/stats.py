"""``spanloom stats``: what is in a corpus, and what each model could hold of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from spanloom.base.counted import counted
from spanloom.cli.console import make_console
from spanloom.cli.options import CorporaArgument
from spanloom.cli.problems import show_unread
from spanloom.cli.tables import count_table, percent, plain_table

if TYPE_CHECKING:
    from spanloom.corpus.statistics import Statistics


def stats(
    refs: CorporaArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object (a list for several corpora).")
    ] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a picture: .png, .svg or .pdf.")] = None,
    patterns: Annotated[int, typer.Option(metavar="N", help="So many nesting patterns.")] = 10,
    with_ceilings: Annotated[
        bool, typer.Option("--ceilings/--no-ceilings", help="Encode and decode the mentions with every model.")
    ] = True,
) -> None:
    """Count documents, mentions, kinds of mentions, depth, nesting, overlap, trees, and the ceilings of all models.

    [bold]Example:[/bold] spanloom stats "genia:data/genia?split=train" --plot genia.png
    """
    from spanloom.corpus.statistics import statistics
    from spanloom.drawing.pictures import check_picture
    from spanloom.formats import read
    from spanloom.formats.validation import EMPTY
    from spanloom.models.ceilings import Ceilings

    if plot is not None:
        check_picture(plot)
    found: list[tuple[str, Statistics, dict[str, float]]] = []
    for ref, corpus in [(ref, read(ref)) for ref in refs]:
        measured = Ceilings()
        counts = statistics(measured.watch(corpus) if with_ceilings else corpus)
        # Without mentions there is nothing that a model could hold, or not.
        found.append((ref, counts, measured.shares() if with_ceilings and counts.mentions else {}))
        show_unread(corpus.report)
        if not counts.tokens:
            make_console(stderr=True, soft_wrap=True).print(f"{ref}: {EMPTY}")
    if plot is not None:
        from spanloom.drawing.statistics import draw_statistics

        shares_of = [shares for _, _, shares in found] if with_ceilings else []
        draw_statistics([(ref, counts) for ref, counts, _ in found], plot, shares_of)
    if as_json:
        rows = [{"ref": ref, **counts.to_json(patterns), "ceilings": shares} for ref, counts, shares in found]
        print(json.dumps(rows[0] if len(rows) == 1 else rows, ensure_ascii=False))
        return
    console = make_console()
    for ref, counts, shares in found:
        console.rule(ref, align="left")
        _print(console, counts, shares, patterns)


def _print(console: Console, counts: Statistics, shares: dict[str, float], patterns: int) -> None:
    sizes = {name: getattr(counts, name) for name in ("documents", "sentences", "tokens", "mentions")}
    console.print(", ".join(counted(size, name[:-1]) for name, size in sizes.items()))
    labels = dict(counts.by_label.most_common())
    console.print(count_table("Labels", "label", labels, counts.mentions))
    lengths = {str(n): counts.by_length[n] for n in sorted(counts.by_length) if n <= 8}
    longer = sum(n for length, n in counts.by_length.items() if length > 8)
    console.print(
        count_table(
            "Length in tokens", "tokens", {**lengths, **({"9 or more": longer} if longer else {})}, counts.mentions
        )
    )
    kinds = plain_table("Kinds of mentions")
    kinds.add_column("kind")
    for name in ("mentions", "%", "sentences with", "% of sentences"):
        kinds.add_column(name, justify="right")
    for kind, n in counts.kinds.items():
        inside = counts.sentences_with[kind]
        kinds.add_row(
            kind.replace("_", " "),
            str(n),
            percent(n / counts.mentions if counts.mentions else 0.0),
            str(inside),
            percent(inside / counts.sentences if counts.sentences else 0.0),
        )
    console.print(kinds)
    console.print(
        count_table("Depth", "depth", {str(d): counts.depth[d] for d in sorted(counts.depth)}, counts.mentions)
    )
    if counts.patterns:
        total = sum(counts.patterns.values())
        most = dict(sorted(counts.patterns.items(), key=lambda item: (-item[1], item[0]))[:patterns])
        console.print(count_table("Nesting (Alex et al., table 1)", "pattern", most, total))
    overlap = plain_table("Overlap (Muis & Lu, table 1)")
    overlap.add_column("")
    overlap.add_column("count", justify="right")
    overlap.add_column("%", justify="right")
    for name, (n, share) in counts.muis_lu().items():
        overlap.add_row(name, str(n), percent(share, 0))
    console.print(overlap)
    if of := counts.trees["mentions"]:
        trees = {"valid span": counts.trees["valid_span"], "single word or arc": counts.trees["single_arc"]}
        console.print(count_table("Mentions in trees (Jie et al., table 1)", "", trees, of))
    if shares:
        table = plain_table("What each model can hold at best")
        table.add_column("model")
        table.add_column("% of mentions", justify="right")
        for name, share in shares.items():
            table.add_row(name, percent(share))
        console.print(table)
