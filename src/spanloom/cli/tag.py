"""``spanloom tag``: find mentions in text."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spanloom.cli.console import make_console
from spanloom.cli.counting import watched
from spanloom.cli.cutting import TokenizerOption, tell_if_cut_badly
from spanloom.cli.interrupting import resumable, unbroken
from spanloom.cli.options import ModelArgument, OutputOption
from spanloom.cli.outputs import Overwrite, output_reference, tell_written
from spanloom.cli.problems import show_report, show_unread
from spanloom.cli.settings import parse_value
from spanloom.cli.skipping import OnError, OnErrorOption, SkippingReader, error_last
from spanloom.cli.sources import ParserOption

_PREFIX = re.compile(r"[a-z]+:\S")
"""A reference with a format."""

if TYPE_CHECKING:
    from spanloom.corpus import Document
    from spanloom.formats import Reference, Report
    from spanloom.recognizer import Recognizer


BATCH: dict[str, Any] = {"rich_help_panel": "Batches of files"}


def tag(
    model: ModelArgument,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE...|TEXT|-]",
            help="Text files or corpora, or a text in quotes; - (the default) is standard input, line by line.",
        ),
    ] = None,
    output: OutputOption = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="auto, jsonl, mentions (JSON lines of ids and mentions only), draw (in the terminal), html, svg, or a "
            "corpus format such as conll or brat.",
        ),
    ] = "auto",
    penalty: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|JSON",
            help="Mention penalty: above 0 for more mentions, below 0 for fewer; one number, or by label.",
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
    probabilities: Annotated[
        bool | None,
        typer.Option(
            "--probabilities/--no-probabilities",
            help="Write the probability of every mention; if not said, where that is quick and the format holds it.",
            show_default=False,
        ),
    ] = None,
    above: Annotated[
        float | None,
        typer.Option(metavar="P", help="Every mention with at least this probability, e.g. 0.2, best answer or not."),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="K", help="Also the K most probable mention sets of each sentence, as JSON lines."),
    ] = None,
    parser: ParserOption = None,
    tokenizer: TokenizerOption = None,
    overwrite: Overwrite = False,
    on_error: OnErrorOption = OnError.stop,
    threads: Annotated[
        int | None, typer.Option(help="Threads; all cores if not given, one for each job of a batch.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Tag files into a folder, in so many processes.", **BATCH)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Do what is missing in the folder, and redo what changed.", **BATCH)
    ] = False,
    shard_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Cut files that are larger, at record borders.", **BATCH)
    ] = "64M",
    engine: Annotated[
        str, typer.Option(metavar="local|dask", help="Who tags: processes here, or a Dask cluster.", **BATCH)
    ] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of the Dask cluster; a cluster on this machine if left out.", **BATCH),
    ] = None,
) -> None:
    """Find the mentions of text, one document after the other.

    Without --output, a terminal gets drawings and a pipe gets JSON lines, in which mentions have their tokens
    (parts), their characters (chars) and their text. A name that ends in .html or .svg gets a picture of the text.

    A folder as output (-o out/) makes a batch: files are tagged in shards, each output is written whole or not at all,
    and an interrupted run goes on with --resume. See docs/scale.md.

    [bold]Example:[/bold] spanloom tag genia "IL-2 gene expression requires NF-kappa B."
    """
    if above is not None and probabilities is False:
        raise typer.BadParameter(
            "--above goes by probabilities, and mentions get theirs; leave one of the two out",
            param_hint="--no-probabilities",
        )
    if jobs is not None or resume or engine != "local" or scheduler is not None or (output or "").endswith("/"):
        from spanloom.cli.tag_batch import BatchOptions, tag_batch

        tag_batch(
            BatchOptions(
                model, files or [], output, form, jobs, threads, resume, overwrite, shard_size, engine, scheduler
            ),
            penalty=penalty, threshold=threshold, probabilities=probabilities, above=above, k=k, parser=parser,
            tokenizer=tokenizer, skip=on_error is OnError.skip,
        )  # fmt: skip
        return
    from spanloom.formats import write
    from spanloom.formats.reading import keeps_probabilities
    from spanloom.recognizer import Recognizer
    from spanloom.tagging_files import is_short

    if form == "auto" and output in (None, "-"):
        form = "draw" if sys.stdout.isatty() else "jsonl"
    target = _target(form, output or "-", overwrite)
    if k is not None and (target is None or target.format != "jsonl"):
        raise typer.BadParameter("the best sets are written as JSON lines; add --format jsonl", param_hint="--k")
    refs = ["text:-" if name == "-" else _reference(name) for name in files or ["-"]]
    ner = Recognizer.load(model, threads=threads, annotators=[] if parser is None else [parser], tokenizer=tokenizer)
    source = SkippingReader(refs, on_error, "-" if target is None else target.path)
    source.report.tokenizer, source.report.replaced = ner.token_rules_, True
    if penalty is not None:
        ner.set_mention_penalty(parse_value(penalty))
    conflicts: Counter[str] = Counter()
    if threshold is not None:
        ner.set_threshold(parse_value(threshold))
    if probabilities is None and above is None and target is not None and not keeps_probabilities(target.format):
        probabilities = False
    probable = ner.gives_probabilities(probabilities, above)
    with source, resumable(_resumed(refs, target)):
        batch = 1 if "text:-" in refs else 64
        tagged = source.through(
            lambda docs: ner.stream(docs, batch, conflicts, probabilities=probabilities, above=above)
        )
        if target is None:
            _draw(tagged)
        elif k is not None:
            tell_written(_k_best(ner, tagged, k, target))
        elif is_short(ner, source.corpora, target, probable=probable):
            tell_written(_tag_texts(ner, source, target, probable, above))
        else:
            if target.path == "-" and isinstance(sys.stdout, TextIOWrapper):
                sys.stdout.reconfigure(line_buffering=True)  # whoever reads the pipe gets every line at once
            with unbroken(watched(tagged, quiet=target.path == "-"), target.path) as docs:
                report = write(docs, target)
            show_report(report)
            tell_written(report)
    show_unread(source.report)
    _tell_conflicts(conflicts)
    if source.report.cut and tokenizer is None:
        tell_if_cut_badly(ner)
    source.finish()


def _reference(name: str) -> str | Reference:
    """Return what to read: words with spaces between them that are no file's name are a text themselves."""
    from spanloom.base.errors import ParameterError
    from spanloom.formats import Reference

    is_file = os.path.exists(name) or _PREFIX.match(name)
    if not name.strip():
        raise ParameterError("the text is empty; give a text in quotes, the names of files, or - for standard input")
    if not is_file and name.isalnum():
        raise ParameterError(
            f"{name}: no such file or folder; a text of one word goes through a pipe: echo {name} | spanloom tag …"
        )
    is_text = " " in name.strip() and not is_file
    return Reference("given", name, {}) if is_text else name


def _resumed(refs: Sequence[str | Reference], target: Reference | None) -> str:
    """Return how tagging could be resumed after Ctrl-C, where what is read and written can be cut into shards."""
    from spanloom.formats import Reference
    from spanloom.scale.shards import is_cut

    if target is None or target.path == "-" or target.format not in ("jsonl", "parquet"):
        return ""
    if any(isinstance(ref, Reference) or not is_cut(Reference.parse(ref)) for ref in refs):
        return ""
    return "; tagging into a folder (-o FOLDER/) can be resumed (--resume)"


def _tag_texts(
    ner: Recognizer, source: SkippingReader, target: Reference, probabilities: bool, above: float | None
) -> Report:
    """Tag texts without an object for each token and mention, and write them."""
    from spanloom.tagging import tag_lines
    from spanloom.tagging_files import has_documents, texts_of, write_lines

    counts: Counter[str] = Counter()
    texts = texts_of(source.corpora, source.report)
    whole = has_documents(target)
    pieces = error_last(
        texts,
        lambda items: tag_lines(ner, items, whole=whole, counts=counts, probabilities=probabilities, above=above),
    )
    shown = watched(pieces, quiet=target.path == "-", count=lambda: counts["documents"])
    with unbroken(shown, target.path, lambda: counts["documents"]) as lines:
        return write_lines(lines, target, counts)


def _k_best(ner: Recognizer, tagged: Iterable[Document], k: int, target: Reference) -> Report:
    """Write documents with the ``k`` best mention sets of each sentence."""
    from spanloom.tagging_files import k_best_lines, write_lines

    counts: Counter[str] = Counter()
    made = k_best_lines(ner, watched(tagged, quiet=target.path == "-"), k, counts)
    with unbroken(made, target.path) as lines:
        return write_lines(lines, target, counts)


def _tell_conflicts(conflicts: Counter[str]) -> None:
    """Say how often the parts of a reduction found conflicting mentions."""
    if conflicts:
        make_console(stderr=True).print(
            f"The parts of the model disagree: {conflicts['crossing']:,} pairs of mentions cross, "
            f"{conflicts['labels']:,} have the same tokens under two labels; all of them are kept."
        )


def _target(form: str, output: str, overwrite: bool) -> Reference | None:
    """Return where to write, checked before any work; None for drawings.

    JSON lines get mentions' characters; in brat, where people read them, probabilities have few digits.
    """
    from spanloom.formats.reference import formats_for, is_format

    if form == "draw" and output == "-":
        return None
    if form == "draw":
        raise typer.BadParameter("drawings go to the screen; leave --output out", param_hint="--format")
    if form == "mentions":
        _check_ending(form, "jsonl", output)
        return output_reference(f"jsonl:{output}", overwrite=overwrite, options={"fields": "mentions"})
    if form != "auto" and not is_format(form):
        known = ", ".join(["auto", "draw", "mentions", *formats_for("write")])
        raise typer.BadParameter(f"{form!r} is none of {known}", param_hint="--format")
    if form != "auto":
        _check_ending(form, form, output)
    ref = output if form == "auto" else f"{form}:{output}"
    return output_reference(ref, overwrite=overwrite, options={"chars": "yes", "digits": "6"})


def _check_ending(form: str, written: str, output: str) -> None:
    """Refuse a name that says another format than ``--format`` does."""
    from spanloom.formats.reference import ending_format

    if output != "-" and (meant := ending_format(output, written)) is not None:
        raise typer.BadParameter(
            f"{output} is the name of a {meant} file, and --format {form} writes {written}; give the file another "
            "name, or leave out --format",
            param_hint="--output",
        )


def _draw(docs: Iterable[Document]) -> None:
    from spanloom.drawing import draw

    out = make_console()
    for doc in docs:
        for sentence in doc.sentences:
            out.print(draw(sentence, width=out.width))
            out.print()
