"""Importing the package is quick: what is not needed by everybody is imported where it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import spanloom
from spanloom.cli.commands import COMMANDS

HEAVY = ["numpy", "scipy", "sklearn", "matplotlib", "hypothesis", "pycrfsuite", "asyncio", "spanloom._native"]
"""Needed by few; the command line has rich and typer besides."""


def modules_after(code: str) -> set[str]:
    """Return the names of the modules that a fresh interpreter has imported after some lines."""
    code += "\nimport sys\nprint('modules:', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("modules:")[2].split())


@pytest.mark.parametrize("code", ["import spanloom", "from spanloom import Corpus, Document, Mention, read, write"])
def test_import_brings_nothing_heavy(code: str) -> None:
    modules = modules_after(code)
    assert "spanloom" in modules
    assert not modules & {*HEAVY, "rich", "typer"}


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"]])
def test_help_brings_nothing_heavy(arguments: list[str]) -> None:
    modules = modules_after(f"""
import sys
from spanloom.cli import main
sys.argv[1:] = {arguments}
try:
    main()
except SystemExit as end:
    assert not end.code""")
    assert "typer" in modules
    assert not modules & set(HEAVY)
    # Of the commands, only the one that is called.
    files = {entry.place.split(":")[0] for entry in COMMANDS.values()}
    assert {f for f in files if f"spanloom.cli.{f}" in modules} == set(arguments) - {"--help"}


@pytest.mark.parametrize("name", ["corpus", "formats"])
def test_modules_need_no_import_of_their_own(name: str) -> None:
    assert f"spanloom.{name}" in modules_after(f"import spanloom\nspanloom.{name}.__doc__")


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'spanloom' has no attribute 'raed'"):
        spanloom.raed  # noqa: B018


def test_dir_lists_what_is_imported_on_first_use() -> None:
    assert set(spanloom.__all__) <= set(dir(spanloom))


@pytest.mark.parametrize("name", spanloom.__all__)
def test_every_exported_name_is_there_and_documented(name: str) -> None:
    assert getattr(spanloom, name).__doc__


def test_exported_names_are_sorted_and_unique() -> None:
    assert list(spanloom.__all__) == sorted(set(spanloom.__all__))
