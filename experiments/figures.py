"""Figures of the documentation, written from result files: ``python -m experiments docs``.

Three marks, all of them HTML comments, which a reader of the page does not see::

    <!-- figure: separators["genia, edge, rich"].f1; % -->72.6<!-- /figure -->

is one figure: an expression over result files, and how to write it.

::

    <!-- table: separators
    GENIA, five types | paper = paper.f1; .1 | F1 = f1; %
    `edge` <- genia, edge, paper's features
    -->
    (made)
    <!-- /table -->

is a table: a line of headings, each with an expression for its column and how to write it, then a line for each row
with the name of its run. ``{}`` in a name stands for the heading of the column, without backticks; where there is no
such run, the cell is blank. A heading without an expression is a further cell of the label. ``line["F1 x"]`` is a
column whose name is no single word.

::

    <!-- older -->(made)<!-- /older -->

tells how many figures of the page are of older lines; a page that has such figures must have it.

In expressions, ``NAME["run"].column`` is a value of ``experiments/results/NAME.json`` (``NAME.quick["run"]`` of its
quick table), ``.paper.column`` what the paper has, and ``bench.NAME["cell", "cell"]["column"]`` a cell of a table in
``benchmarks/results/NAME.md``: of the one row that has these cells. ``+ - * /``, ``min``, ``max``, ``abs``, ``sum``,
and ``len`` are there. How to write: ``%`` in percent with one digit, ``%2`` with two, ``.1`` one
digit, ``+.1`` with sign, ``,`` whole with commas; ``,-3`` the same, rounded to thousands.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
RESULTS = ROOT / "results"
BENCHMARKS = ROOT.parent / "benchmarks" / "results"
PAGES = ("README.md", "docs/*.md")


class FigureError(ValueError):
    """A mark that says nothing that there is."""


class Line:
    """A run of a table: its figures by name, ``paper``, and whether it is older."""

    def __init__(self, record: Mapping[str, Any], name: str) -> None:
        self.record, self.name = record, name
        self.older = bool(record.get("older"))

    def get(self, column: str) -> Any:
        """Return a figure; None for a run that was not run."""
        if column == "paper":
            return defaultdict(lambda: None, self.record.get("paper", {}))  # it has no figure for many lines
        result = self.record["result"]
        if result is None:
            return None
        if column not in result:
            raise FigureError(f"{self.name} has no column {column!r}; it has {', '.join(sorted(result))}")
        return result[column]


class Table:
    """The runs of a result file of an experiment."""

    def __init__(self, path: Path) -> None:
        self.path = path
        runs = _json(path)["runs"] if path.exists() else []
        self.lines = {r["run"]: Line(r, f"{path.name}, run {r['run']!r}") for r in runs}

    def get(self, name: str) -> Any:
        """Return a run, or the quick table."""
        if name in self.lines:
            return self.lines[name]
        if name == "quick":
            return table(f"{self.path.stem}.quick")
        raise FigureError(f"{self.path.name} has no run {name!r}; it has {', '.join(self.lines)}")


class Bench:
    """The tables of a result file of a benchmark."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[tuple[list[str], dict[str, str]]] = []
        heads: list[str] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
            if not cells:
                heads = []
            elif not heads:
                heads = cells
            elif set(line) - set("|-: "):
                self.rows.append((cells, dict(zip(heads, cells, strict=False))))

    def get(self, cells: str | tuple[str, ...]) -> Any:
        """Return the one row that has these cells."""
        wanted = (cells,) if isinstance(cells, str) else cells
        found = [row for own, row in self.rows if all(cell in own for cell in wanted)]
        if len(found) != 1:
            raise FigureError(f"{self.path.name} has {len(found)} rows with the cells {', '.join(wanted)}")
        return found[0]


@cache
def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def table(name: str) -> Table:
    """Return the table of an experiment."""
    path = RESULTS / f"{name}.json"
    if not path.exists() and not (RESULTS / f"{name}.quick.json").exists():
        raise FigureError(f"there is no result file {name}.json in experiments/results")
    return Table(path)


@cache
def bench(name: str) -> Any:
    """Return the tables of a benchmark's page; ``_`` stands for ``-`` in its name."""
    path = BENCHMARKS / f"{name}.md"
    path = path if path.exists() else BENCHMARKS / f"{name.replace('_', '-')}.md"
    if not path.exists():
        raise FigureError(f"there is no result file {name}.md in benchmarks/results")
    return Bench(path)


@dataclass
class Used:
    """What expressions have used so far: lines by name, and whether each is older."""

    lines: dict[str, bool]

    def see(self, value: Any) -> Any:
        """Remember a line."""
        if isinstance(value, Line):
            self.lines[value.name] = value.older
        return value


OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs, "sum": sum, "len": len}


def evaluate(text: str, used: Used | None = None, line: Line | None = None) -> Any:
    """Return the value of an expression; with a line, plain names are its columns.

    Examples
    --------
    >>> evaluate("max(1, 2.5) * 2")
    5.0
    """
    used = Used({}) if used is None else used
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, used, line)
    except (SyntaxError, TypeError) as error:
        raise FigureError(f"{text.strip()!r}: {error}") from None


def _value(node: ast.expr, used: Used, line: Line | None) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, used, line)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_value(left, used, line), _value(right, used, line))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return tuple(_value(item, used, line) for item in items)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(argument, used, line) for argument in arguments))
        case ast.Attribute(value=ast.Name(id="bench"), attr=name):
            return bench(name)
        case ast.Name(id="line") if line is not None:
            return used.see(line)
        case ast.Name(id=name):
            return used.see(line).get(name) if line is not None else table(name)
        case ast.Attribute(value=inner, attr=name):
            return _part(_value(inner, used, line), name, used)
        case ast.Subscript(value=inner, slice=index):
            return _part(_value(inner, used, line), _value(index, used, line), used)
    raise FigureError(f"what {ast.unparse(node)!r} means is not known here")


def _part(value: Any, key: Any, used: Used) -> Any:
    if isinstance(value, Table | Line | Bench):
        return used.see(value.get(key))
    try:
        found = value[key]
    except (KeyError, IndexError):
        raise FigureError(f"there is no {key!r}; there are {', '.join(map(str, value))}") from None
    return _number(found) if isinstance(found, str) else found


def _number(cell: str) -> Any:
    """Read the number that a cell begins with, without its unit; a cell of words stays as it is."""
    found = re.match(r"[-+]?\d+(\.\d+)?(?![\w.])", cell.replace("*", "").replace(",", ""))
    return cell if found is None else float(found[0]) if found[1] else int(found[0])


def written(value: Any, how: str) -> str:
    """Write a value.

    Examples
    --------
    >>> written(0.7264, "%"), written(-0.5, "+.1"), written(262193.2, ",-3"), written(None, "%")
    ('72.6', '−0.5', '262,000', '')
    """
    how = how.strip()
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if how.startswith("%"):
        return f"{100 * value:.{how[1:] or 1}f}"
    if how.startswith(","):
        return f"{round(value, int(how[1:] or 0)):,.0f}"
    if re.fullmatch(r"\+?\.\d", how):
        return f"{value:{how}f}".replace("-", "−")
    if how:
        raise FigureError(f"there is no way to write {how!r}; there are %, %2, .1, +.1, and a comma")
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"


CODE = r"```.*?```|`[^`\n]*`|"
"""What stands in code is no mark."""
FIGURE = re.compile(CODE + r"(<!-- figure: (.*?) -->)(.*?)(<!-- /figure -->)", re.DOTALL)
TABLE = re.compile(CODE + r"(<!-- table: (.*?)-->\n)(.*?)(<!-- /table -->)", re.DOTALL)
OLDER = re.compile(r"(<!-- older -->)(.*?)(<!-- /older -->)", re.DOTALL)


def made(page: str, name: str = "page") -> str:
    """Return a page with its figures and tables written anew.

    Raises
    ------
    FigureError
        If a mark names what is not there, or figures of older lines are not told.
    """
    used = Used({})

    def figure(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        expression, _, how = found[2].rpartition(";") if ";" in found[2] else (found[2], "", "")
        return found[1] + written(evaluate(expression, used), how) + found[4]

    def whole(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        return found[1] + "\n".join(rows(found[2], used)) + "\n" + found[4]

    try:
        page = TABLE.sub(whole, FIGURE.sub(figure, page))
    except FigureError as error:
        raise FigureError(f"{name}: {error}") from None
    older = sum(used.lines.values())
    if older and not OLDER.search(page):
        raise FigureError(
            f"{name} has figures of {older} older lines and does not say so: add <!-- older --><!-- /older -->"
        )
    return OLDER.sub(lambda found: found[1] + about_older(older, len(used.lines)) + found[3], page)


def about_older(older: int, lines: int) -> str:
    """Say how many of the lines that a page shows are older."""
    if not older:
        return ""
    which = f"All {lines} lines" if older == lines else f"{older} of the {lines} lines"
    return (
        f"{which} of result files whose figures stand on this page are *older*: made by commits that are not in this "
        "history, by trees with changes, with native code of another build, or without a word on whether training "
        "converged. They stand until they are run again."
    )


def rows(text: str, used: Used) -> list[str]:
    """Return the lines of a table from what its mark says."""
    source, *given = [line for line in text.splitlines() if line.strip()]
    heads, *lines = given
    columns = [[part.strip() for part in _split(cell)] for cell in heads.split(" | ")]
    labels = sum(expression == "" for _, expression, _ in columns)
    out = [
        "| " + " | ".join(head for head, _, _ in columns) + " |",
        "|" + "---|" * labels + "---:|" * (len(columns) - labels),
    ]
    runs = evaluate(source)
    for one in lines:
        label, _, name = one.rpartition(" <- ")
        cells = [cell.strip() for cell in label.split(" | ")]
        for head, expression, how in columns[labels:]:
            run = name.strip().replace("{}", head.strip("`* "))
            if "{}" in name and run not in runs.lines:
                cells.append("")
            else:
                cells.append(written(evaluate(expression, used, runs.get(run)), how))
        if len(cells) != len(columns):
            raise FigureError(f"the row {one!r} has {len(cells)} cells for {len(columns)} columns")
        out.append("| " + " | ".join(cells) + " |")
    return out


def _split(cell: str) -> tuple[str, str, str]:
    head, _, rest = cell.partition(" = ")
    expression, _, how = rest.partition(";")
    return head, expression, how


def pages(root: Path = ROOT.parent) -> list[Path]:
    """Return the pages that may have figures."""
    return [path for pattern in PAGES for path in sorted(root.glob(pattern))]


def write(root: Path = ROOT.parent) -> list[Path]:
    """Write all pages anew; return those that have changed."""
    changed = []
    for path in pages(root):
        before = path.read_text(encoding="utf-8")
        after = made(before, path.name)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    return changed
