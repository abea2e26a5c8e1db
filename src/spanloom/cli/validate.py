"""``spanloom validate``: everything that is wrong with a corpus."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated

import typer

from spanloom.base.counted import counted
from spanloom.cli.console import make_console
from spanloom.cli.options import CorporaArgument, JsonOption


def validate(
    refs: CorporaArgument,
    as_json: JsonOption = False,
    show: Annotated[int, typer.Option(metavar="N", help="Show so many problems of each kind; 0 for all.")] = 20,
) -> None:
    """List what is wrong: bad ranges, surfaces, brackets, tags, encodings, duplicates, each with its place.

    The exit code is 1 if there is any error; warnings alone leave it 0.

    [bold]Example:[/bold] spanloom validate "conll:news.conll?scheme=IOB2"
    """
    from spanloom.formats.validation import validate

    console = make_console(soft_wrap=True)
    failed = False
    results = []
    for ref in refs:
        report, documents = validate(ref)
        failed |= report.errors > 0
        if as_json:
            rows = [
                {"severity": p.severity, "kind": p.kind, "where": p.where, "message": p.message}
                for p in report.problems
            ]
            counts = {"documents": documents, "errors": report.errors, "counts": dict(report.counts)}
            results.append({"ref": ref, **counts, "problems": rows})
            continue
        shown: dict[str, int] = {}
        for problem in report.problems:
            shown[problem.kind] = shown.get(problem.kind, 0) + 1
            if not show or shown[problem.kind] <= show:
                console.print(f"{problem.severity} {problem.kind} {problem}")
        for kind, count in report.counts.items():
            if show and count > show:
                files = Counter(_file(problem.where) for problem in report.problems if problem.kind == kind)
                console.print(f"… and {count - show:,} more of {kind}{_most(files)}", markup=False)
        warnings = sum(report.counts.values()) - report.errors
        found = (documents, "document"), (report.errors, "error"), (warnings, "warning")
        console.print(f"{ref}: {', '.join(counted(number, what) for number, what in found)}")
    if as_json:
        print(json.dumps(results[0] if len(results) == 1 else results, ensure_ascii=False))
    if failed:
        raise typer.Exit(1)


FILES = 5


def _file(where: str) -> str:
    """The file of a place: what stands before the numbers of lines and documents.

    Examples
    --------
    >>> _file("a.ann:3"), _file("a.jsonl:2, document '7'")
    ('a.ann', 'a.jsonl')
    """
    return where.split(",")[0].rstrip("0123456789").removesuffix(":")


def _most(files: Counter[str]) -> str:
    """Say which files have most of something, if there are several."""
    if len(files) < 2:
        return ""
    shown = ", ".join(f"{name} {count:,}" for name, count in files.most_common(FILES))
    return f"; in {len(files):,} files, most in {shown}; --show 0 lists all"
