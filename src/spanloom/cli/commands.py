"""The list of commands. The module of a command is imported when it is called, not to print the list."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_group

from spanloom.base.wording import of_options
from spanloom.cli.apart import apart
from spanloom.cli.console import make_console

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


class Entry(NamedTuple):
    """Where a command is, and what the list says of it."""

    place: str
    """``module:name``, where the name is that of a function, or of an app with commands of its own."""
    line: str
    """The first paragraph of the command's own help, so that the list needs no import."""


COMMANDS = {
    "demo": Entry(
        "demo:demo", "Train on the bundled sample corpus, score on held-out sentences, and tag two sentences."
    ),
    "train": Entry("train:train", "Learn a recogniser from annotated text."),
    "tag": Entry("tag:tag", "Find the mentions of text, one document after the other."),
    "watch": Entry("watch:watch", "Draw the mentions of a text file, and again whenever it is saved; Ctrl-C ends it."),
    "serve": Entry(
        "serve:serve", "Answer requests for mentions over HTTP, also those of Label Studio, INCEpTION and doccano."
    ),
    "info": Entry(
        "info:info", "Say what a model is, how it was trained, how large it is, and which features weigh most."
    ),
    "card": Entry(
        "card:card",
        "Write a folder to be shared on a hub: the model, and a README with data, figures and licence.",
    ),
    "compact": Entry(
        "compact:compact",
        "Make a model smaller: weights near zero go, features without weight go, numbers are stored in one or two "
        "bytes.",
    ),
    "explain": Entry(
        "explain:explain",
        "Say why the model finds a mention, or does not: its log-odds, and the features that make the difference.",
    ),
    "suggest": Entry(
        "suggest:suggest",
        "Choose the sentences whose annotation would help the model most, without near-duplicates.",
    ),
    "teach": Entry(
        "teach:teach", "Write text with what a model believes of it, for a smaller and faster model to learn from."
    ),
    "audit": Entry(
        "audit:audit",
        "Find annotation errors: where a model that has not seen the document is sure that its annotation is wrong.",
    ),
    "workbench": Entry(
        "workbench:workbench", "Annotate text in a page, with a recogniser that learns from it in seconds."
    ),
    "evaluate": Entry(
        "evaluate:evaluate",
        "Score predicted mentions, all levels of nesting alike, and by label, kind, length and more.",
    ),
    "compare": Entry(
        "compare:compare", "Compare two systems: difference, confidence interval, significance, and who is right where."
    ),
    "combine": Entry(
        "combine:combine",
        "Unite, intersect or put to the vote what systems found in the same text, and report where they conflict.",
    ),
    "tune": Entry("tune:tune", "Try settings on held-out text and show what each gives."),
    "crossval": Entry(
        "crossval:crossval",
        "Train on all folds but one and score on that one, for each fold; documents are never parted.",
    ),
    "convert": Entry(
        "convert:convert",
        "Convert a corpus. Nothing is lost silently: what has no place in the target is an error, or is reported.",
    ),
    "convert-model": Entry(
        "convert_model:convert_model",
        "Convert a CRFsuite model to a .loom file, or back. It finds the same labels, with the same probabilities.",
    ),
    "split": Entry("split:split", "Divide a corpus into parts. The same seed gives the same parts."),
    "cluster": Entry("cluster:cluster", "Cluster the words of raw text by their neighbours (Brown et al. 1992)."),
    "vectors": Entry(
        "vectors:vectors",
        "Learn word vectors from raw text, and cut them into clusters of clusters, which features use.",
    ),
    "sample": Entry(
        "split:sample",
        "Draw documents or sentences at random, in the order of the corpus. The same seed draws the same ones.",
    ),
    "stats": Entry(
        "stats:stats",
        "Count documents, mentions, kinds of mentions, depth, nesting, overlap, trees, and the ceilings of all models.",
    ),
    "validate": Entry(
        "validate:validate",
        "List what is wrong: bad ranges, surfaces, brackets, tags, encodings, duplicates, each with its place.",
    ),
    "parse": Entry("parse:parse", "Give every sentence a dependency tree."),
    "parser": Entry("parse:parser_app", "Learn dependency parsers and taggers."),
}
"""In the order of ``spanloom --help``."""


def add_commands(app: typer.Typer) -> None:
    """Add a placeholder for every command to an app whose class is :class:`LazyGroup`."""
    for name, entry in COMMANDS.items():
        app.command(name, help=entry.line)(_placeholder)


class LazyGroup(TyperGroup):
    """Lists placeholders; puts the command itself in the place of the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name of the command that is called, the command, and the arguments that are left for it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in COMMANDS else command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what an interruption has to say is one line."""
        try:
            with of_options():
                return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            if str(stop):
                make_console(stderr=True, soft_wrap=True).print(str(stop), markup=False)
            raise typer.Exit(INTERRUPTED) from None


def load(name: str) -> Any:
    """Import a command and return it as typer makes it."""
    module, attribute = COMMANDS[name].place.split(":")
    target = getattr(import_module(f"spanloom.cli.{module}"), attribute)
    holder = typer.Typer(rich_markup_mode="rich")
    if isinstance(target, typer.Typer):
        holder.add_typer(target)
    else:
        holder.command()(apart(target))
    return get_group(holder).commands[name]


def _placeholder() -> None:
    """Stand in the list for a command that is not imported yet."""
