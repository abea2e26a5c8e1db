"""Importing the package is quick: what is not needed by everybody is imported where it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import spanloom

HEAVY = ["scipy", "typer", "rich", "sklearn", "matplotlib", "hypothesis", "pycrfsuite", "asyncio", "spanloom._native"]


def test_import_brings_nothing_heavy() -> None:
    code = f"import sys, spanloom; print(*sorted(set({HEAVY}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


@pytest.mark.parametrize("name", spanloom.__all__)
def test_every_exported_name_is_there_and_documented(name: str) -> None:
    assert getattr(spanloom, name).__doc__


def test_exported_names_are_sorted_and_unique() -> None:
    assert list(spanloom.__all__) == sorted(set(spanloom.__all__))
