"""One row for every table and figure of the five papers: ``experiments/results/INDEX.md``, written by ``docs``.

Rows are in ``index.toml``: what the paper reports, the expressions (see ``experiments.figures``) of our figure by the
paper's protocol and of our best, where their significance is, which command makes them, and what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.figures import RESULTS, FigureError, Used, evaluate, table, written

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROWS = Path(__file__).resolve().parent / "index.toml"
INDEX = RESULTS / "INDEX.md"
HEADS = (
    "what",
    "the paper",
    "ours, by its protocol",
    "ours, best",
    "significance",
    "lines made by",
    "command",
    "what is missing or differs",
)
HEAD = """# The tables and figures of the five papers

Written by `python -m experiments docs` from `experiments/index.toml` and the result files. F1 unless it is said
otherwise. *Older* lines were made by commits that are not in this history, by trees with changes or with native code of
another build, or do not say whether training converged; no such line counts as run by the paper's protocol. What
follows from it is on [reproduction.md](../../docs/reproduction.md)."""


@dataclass(frozen=True)
class Row:
    """A table or a figure of a paper.

    Parameters
    ----------
    item, what
        Its name in the paper, and what it shows.
    paper
        The paper's main figure, in words.
    ours, best
        Expressions with a way to write each (``expression; %``), by label: by the paper's protocol, and our best.
    tested
        Where significance is told.
    command
        What makes it.
    missing
        What differs from the paper, or why it cannot be run.
    """

    item: str
    what: str
    paper: str = ""
    ours: dict[str, str] = field(default_factory=dict)
    best: dict[str, str] = field(default_factory=dict)
    tested: str = ""
    command: str = ""
    missing: str = ""

    def cells(self) -> list[str]:
        """Return the cells of its row."""
        used = Used({})
        values = [_values(given, used) for given in (self.ours, self.best)]
        command = f"`python -m experiments {self.command}`" if self.command else ""
        return [f"{self.item}: {self.what}", self.paper, *values, self.tested, made_by(used), command, self.missing]


def _values(given: dict[str, str], used: Used) -> str:
    shown = []
    for label, text in given.items():
        expression, _, how = text.rpartition(";")
        value = evaluate(expression, used)
        shown.append(f"{label} {'not run' if value is None else written(value, how)}")
    return "; ".join(shown)


def made_by(used: Used) -> str:
    """Say which commits made the lines that were used."""
    commits = {line: _commit(line) for line, older in used.lines.items() if not older}
    older = sum(used.lines.values())
    parts = sorted({commit for commit in commits.values() if commit})
    return ", ".join([*parts, *([f"{older} older" if parts else "older"] if older else [])])


def _commit(name: str) -> str:
    file, _, run = name.partition(".json, run ")
    record = table(file).lines[run[1:-1]].record
    return str(record.get("commit") or "")


def rows() -> dict[str, list[Row]]:
    """Return the rows by paper."""
    with ROWS.open("rb") as file:
        papers: dict[str, Any] = tomllib.load(file)
    return {paper["title"]: [Row(**row) for row in paper["row"]] for paper in papers.values()}


def made() -> str:
    """Return the page.

    Raises
    ------
    FigureError
        If a row names what is not there.
    """
    lines = HEAD.splitlines()
    for title, some in rows().items():
        lines += ["", f"## {title}", "", _line(HEADS), _line(["---"] * len(HEADS))]
        for row in some:
            try:
                lines.append(_line(row.cells()))
            except FigureError as error:
                raise FigureError(f"index.toml, {title}, {row.item}: {error}") from None
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
