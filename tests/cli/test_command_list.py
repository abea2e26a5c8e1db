"""The list of commands, which is printed without importing them, is that of the commands."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import spanloom.cli
from spanloom.cli.app import app
from spanloom.cli.commands import COMMANDS, load


def output(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "250"})
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_name_and_line_are_the_command_s_own(name: str) -> None:
    command = load(name)
    assert command.name == name
    assert COMMANDS[name].line == " ".join(command.help.split("\n\n")[0].split())


def test_every_module_with_a_command_is_listed() -> None:
    # The docstring of such a module begins with ``spanloom NAME``, of two commands with both.
    docstrings = [ast.get_docstring(ast.parse(f.read_text())) for f in Path(spanloom.cli.__file__).parent.glob("*.py")]
    first_lines = [(text or "").split(":")[0] for text in docstrings]
    assert {name for line in first_lines for name in re.findall(r"``spanloom ([a-z-]+)", line)} == set(COMMANDS)


def test_help_lists_all_in_order() -> None:
    rows = [line.strip("│ \n") for line in output("--help").splitlines()]
    width = max(map(len, COMMANDS))
    expected = [f"{name:{width}}  {entry.line}" for name, entry in COMMANDS.items()]
    assert [row for row in rows if row.split(" ")[0] in COMMANDS] == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_shows_all_its_options(name: str) -> None:
    text = output(name, "--help")
    options = [option for parameter in load(name).params for option in parameter.opts if option.startswith("--")]
    assert [option for option in options if not re.search(rf"{option}(?![\w-])", text)] == []
    assert options or name == "parser"  # which has commands instead


def test_commands_below_a_command() -> None:
    assert "--jackknife" in output("parser", "train", "--help")


def test_unknown_command_says_which_are_near() -> None:
    done = CliRunner().invoke(app, ["trian"])
    assert done.exit_code == 2
    assert "'trian'" in done.output
