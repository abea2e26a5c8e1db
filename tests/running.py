"""The command line, run in this process."""

from __future__ import annotations

import contextlib
import io
import sys
from types import SimpleNamespace

import pytest

from spanloom.cli import main


def run(*args: object, stdin: str = "", columns: int = 100) -> SimpleNamespace:
    """Run ``spanloom`` with these arguments, and return its exit code and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["spanloom", *map(str, args)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        patch.setenv("COLUMNS", str(columns))
        try:
            main()
        except SystemExit as leave:
            code = leave.code or 0
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())
