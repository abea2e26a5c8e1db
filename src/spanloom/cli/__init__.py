"""The command line: ``spanloom COMMAND``."""

from spanloom.cli.app import main

__all__ = ["main"]
