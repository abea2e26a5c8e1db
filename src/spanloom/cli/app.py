"""The command line, and what all commands share: errors are one line on standard error, with exit code 2."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Annotated

import typer

from spanloom import __version__
from spanloom.base.errors import SpanloomError
from spanloom.cli.commands import LazyGroup, add_commands

app = typer.Typer(
    name="spanloom",
    cls=LazyGroup,
    help="Find mentions that nest, overlap, cross or break into parts.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"spanloom {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find mentions that nest, overlap, cross or break into parts."""


add_commands(app)


def main() -> None:
    """Run the command line and turn expected failures into one clear line."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app()
    except SystemExit as end:
        # Whoever sends SIGTERM, such as a scheduler, expects its own code, not that of Ctrl-C.
        sys.exit(128 + signal.SIGTERM if _terminated and end.code == 128 + signal.SIGINT else end.code)
    except SpanloomError as error:
        _fail(str(error))
    except MemoryError:
        _fail(
            "there is not enough memory. For training: fewer features (--set min_count=2), a smaller corpus, or "
            "features in files (docs/scale.md); for tagging: shorter documents, or fewer --threads"
        )
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


_MAIN = os.getpid()
_terminated: list[int] = []
"""The signals that have ended the command."""


def _terminate(number: int, frame: FrameType | None) -> None:
    """Take SIGTERM as Ctrl-C, so that half-written files go and training keeps its best model."""
    if os.getpid() != _MAIN:  # a worker: it has nothing to clean up, and whoever ended it waits for its end
        os._exit(128 + number)
    _terminated.append(number)
    raise KeyboardInterrupt


def _fail(message: str) -> None:
    print(f"spanloom: {message}", file=sys.stderr)
    sys.exit(2)
