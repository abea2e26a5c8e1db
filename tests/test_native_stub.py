"""The committed types of the native module are those of the built one."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import spanloom


def test_the_stub_matches_the_built_module(tmp_path: Path) -> None:
    """Run ``tools/stubs.sh`` if this fails."""
    pytest.importorskip("nanobind", reason="the stub generator comes with nanobind")
    made = tmp_path / "made.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "spanloom._native", "-o", os.fspath(made)]
    subprocess.run(command, check=True)
    committed = Path(spanloom.__file__).with_name("_native.pyi")
    assert _shape(committed) == _shape(made)


def _shape(path: Path) -> str:
    return ast.dump(ast.parse(path.read_text(encoding="utf-8")), indent=1)
