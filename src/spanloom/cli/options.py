"""Arguments and options that several commands have, worded once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that spanloom train wrote.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonFractions = Annotated[bool, typer.Option("--json", help="Print one JSON object (fractions 0..1).")]
FoldsOption = Annotated[int, typer.Option(metavar="K", help="Folds, by document.")]
SettingsOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of train; may be repeated.")
]
JobsOption = Annotated[int | None, typer.Option(help="Trainings at a time; one per core if left out.")]
ThreadsOption = Annotated[int | None, typer.Option(help="Threads of models; all cores if left out.")]
OutputOption = Annotated[
    str | None, typer.Option("--output", "-o", metavar="OUT", help="A file or reference; - prints.")
]
CorpusArgument = Annotated[str, typer.Argument(metavar="REF", help="Corpus: a path, or format:path?option=value.")]
CorporaArgument = Annotated[
    list[str], typer.Argument(metavar="REF...", help="Corpora: paths, or format:path?option=value.")
]
SourceArgument = Annotated[
    str, typer.Argument(metavar="REF", help="Corpus to read: a path, or format:path?option=value.")
]
TextArgument = Annotated[
    Path,
    typer.Argument(metavar="TEXT", dir_okay=False, help="UTF-8, one sentence a line, words between spaces."),
]
