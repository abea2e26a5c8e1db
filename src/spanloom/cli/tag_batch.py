"""``spanloom tag … -o out/``: files into a folder, in shards that survive what happens to a long job."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from spanloom.base.counted import counted
from spanloom.base.errors import CorpusError, SpanloomError
from spanloom.base.files import whole_file
from spanloom.cli.console import make_console
from spanloom.cli.dask_client import dask_client
from spanloom.cli.settings import parse_value
from spanloom.cli.skipping import SKIPPED, skipped_line

if TYPE_CHECKING:
    from spanloom.scale.batches import BatchReport
    from spanloom.scale.shards import Shard

EVERY_SECONDS = 10.0
SLOWEST = 3
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30}


class BatchOptions(NamedTuple):
    """What the command line says of a batch."""

    model: Path
    files: list[str]
    output: str | None
    form: str
    jobs: int | None
    threads: int | None
    resume: bool
    overwrite: bool
    shard_size: str
    engine: str
    scheduler: str | None


def tag_batch(options: BatchOptions, *, penalty: str | None, threshold: str | None, **settings: Any) -> None:
    """Tag files into a folder; the other settings are those of ``TagSettings``."""
    from spanloom.scale.batches import tag_files
    from spanloom.scale.work import FORMATS, TagSettings

    if options.output in (None, "-"):
        raise typer.BadParameter("a batch is written to a folder; add -o FOLDER/", param_hint="--output")
    if not options.files:
        raise typer.BadParameter("a batch reads files; name them, or a pattern such as 'in/*.jsonl.gz'")
    if options.form not in ("auto", *FORMATS):
        raise typer.BadParameter(f"a batch writes {', '.join(FORMATS)}, not {options.form!r}", param_hint="--format")
    if settings["k"] is not None and options.form not in ("auto", "jsonl"):
        raise typer.BadParameter("the best sets are written as JSON lines; add --format jsonl", param_hint="--k")
    if options.engine not in ("local", "dask"):
        raise typer.BadParameter(f"{options.engine!r} is none of local, dask", param_hint="--engine")
    if options.scheduler is not None and options.engine != "dask":
        raise typer.BadParameter("only Dask has a scheduler; add --engine dask", param_hint="--scheduler")
    decoding: dict[str, Any] = {
        "penalty": _as_json("--penalty", penalty),
        "threshold": _as_json("--threshold", threshold),
    }
    out = _folder(str(options.output))
    wanted = TagSettings(
        "jsonl" if settings["k"] is not None else "" if options.form == "auto" else options.form,
        **decoding, **settings,
    )  # fmt: skip
    console = make_console(stderr=True, soft_wrap=True)
    shards: list[int] = []

    def lost(shard: Shard, attempt: int) -> None:
        console.print(f"the worker of {shard.name} died (attempt {attempt}); trying again")

    with _told_when_stopped(out, shards, skip=settings["skip"]), _progress(shards) as progress, ExitStack() as stack:
        given: dict[str, Any] = {
            "settings": wanted, "resume": options.resume, "overwrite": options.overwrite, "progress": progress,
            "shard_bytes": _bytes(options.shard_size), "lost": lost,
        }  # fmt: skip
        jobs = options.jobs or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else options.jobs or 1
        if options.engine == "dask":
            from spanloom.scale.dask import engine

            given["engine"] = engine(stack.enter_context(dask_client(options.scheduler, jobs)))
        report = tag_files(options.model, options.files, out, jobs=jobs, threads=options.threads or 1, **given)
    _tell(report, out)
    _finish(report, out)


def _folder(output: str) -> str:
    """Return the folder to write to; a name that looks like a file's would surprise."""
    from spanloom.formats.reference import bare, ending_format

    if not output.endswith("/") and not os.path.isdir(output) and ending_format(output) is not None:
        raise typer.BadParameter(
            f"a batch is written to a folder, and {output} is the name of a file; write -o {Path(bare(output)).stem}/, "
            "or leave out --jobs, --resume and --engine for one file",
            param_hint="--output",
        )
    return output.rstrip("/") or "/"


@contextmanager
def _told_when_stopped(out: str, shards: list[int], *, skip: bool) -> Iterator[None]:
    """Say what is done of a batch that ends early, and how it goes on; ``shards`` has the shards done and all."""
    try:
        yield
    except KeyboardInterrupt:
        kept = f"; {_done(*shards)}, kept in {out}" if shards else ""
        raise KeyboardInterrupt(f"interrupted{kept}; go on with --resume") from None
    except CorpusError as error:
        if not shards:  # nothing was tagged yet
            raise
        way = "" if skip else "; --resume --on-error skip leaves out records that cannot be read"
        raise SpanloomError(f"{error}\n{_done(*shards)}, kept in {out}{way}") from error


def _done(done: int, count: int) -> str:
    return f"{done:,} of {counted(count, 'shard')} done"


def _as_json(name: str, text: str | None) -> str | None:
    """Check a number or numbers by label, and return them as JSON."""
    if text is None:
        return None
    value = parse_value(text)
    if isinstance(value, str):
        raise typer.BadParameter(f"{text!r} is neither a number nor JSON", param_hint=name)
    return json.dumps(value, sort_keys=True)


def _bytes(text: str) -> int:
    """Read a size such as ``64M``."""
    match = re.fullmatch(r"(\d+)([KMG]?)B?", text.strip().upper())
    if match is None or int(match[1]) == 0:
        raise typer.BadParameter(f"{text!r} is no size such as 500K, 64M or 1G", param_hint="--shard-size")
    return int(match[1]) << _UNITS[match[2]]


@contextmanager
def _progress(shards: list[int]) -> Iterator[Any]:
    """Show words, words a second and the time that is left: a bar in a terminal, a line every ten seconds elsewhere.

    ``shards`` gets the number of shards that are done, and of all.
    """
    console = make_console(stderr=True, soft_wrap=True)
    columns = BarColumn(), TextColumn("{task.fields[text]}"), TimeElapsedColumn()
    begun = told = time.monotonic()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1, text="starting")

        def tell(words: int, size: int, total: int, done: int, count: int) -> None:
            nonlocal told
            shards[:] = done, count
            now = time.monotonic()
            text = progress_line(words, size, total, done, count, now - begun)
            bar.update(task, completed=size, total=max(total, 1), text=text)
            if not console.is_terminal and now - told >= EVERY_SECONDS:
                told = now
                console.print(text)

        yield tell


def progress_line(words: int, size: int, total: int, done: int, count: int, seconds: float) -> str:
    """Return how far a batch is.

    Examples
    --------
    >>> progress_line(3_000_000, 25, 100, 2, 8, 10.0)
    '2 of 8 shards, 3,000,000 words, 300,000 a second, 30 s left'
    """
    text = f"{done} of {counted(count, 'shard')}, {counted(words, 'word')}, {words / max(seconds, 1e-9):,.0f} a second"
    if not size or size >= total:
        return text
    left = seconds * (total - size) / size
    return f"{text}, {left:.0f} s left" if left < 120 else f"{text}, {left / 60:.0f} min left"


def _tell(report: BatchReport, out: str) -> None:
    console = make_console(stderr=True, soft_wrap=True)
    speed = sum(s["words"] for s in report.shards if s["seconds"]) / max(report.seconds, 1e-9)
    mentions = counted(sum(report.mentions.values()), "mention")
    console.print(
        f"{counted(report.documents, 'document')}, {counted(report.words, 'word')}, {mentions} written to {out}: "
        f"{counted(report.tagged, 'shard')} tagged, {report.kept:,} found done, {report.seconds:,.1f} s"
        + (f", {speed:,.0f} words a second" if report.tagged and not report.kept else "")
    )
    if report.mentions:
        console.print("mentions: " + ", ".join(f"{label} {count:,}" for label, count in report.mentions.items()))
    if report.removed:
        gone = f"{counted(len(report.removed), 'output')} of earlier runs, whose input is gone"
        console.print(f"{gone}, {'was' if len(report.removed) == 1 else 'were'} removed")
    slow = sorted((s for s in report.shards if s["seconds"]), key=lambda s: -s["seconds"])[:SLOWEST]
    if len(report.shards) > 1 and slow:
        times = ", ".join(f"{s['name']} {s['seconds']:,.1f} s" for s in slow)
        console.print(f"slowest shards: {times}; all are in {out}/_spanloom/report.json")


def _finish(report: BatchReport, out: str) -> None:
    """List what was skipped, and end with the exit code that says so."""
    path = Path(f"{out}.skipped.jsonl")
    if not report.skipped:
        path.unlink(missing_ok=True)  # of an earlier run; what it lists is mended
        return
    with whole_file(path) as log:
        log.writelines(skipped_line(one["where"], one["kind"], one["message"]) for one in report.problems)
    make_console(stderr=True, soft_wrap=True).print(f"{report.skipped:,} skipped; {path} has each with its place")
    raise typer.Exit(SKIPPED)
