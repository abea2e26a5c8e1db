"""Whether results and documentation hold together: ``python -m experiments check``, in CI.

Of every line of a result file: it comes from a clean commit of this history and says how its trainings ended, or it is
marked as older. Of every table: what its page says of caps, commits and older lines is so. Of every page of the
documentation: its figures are those of the result files, and no more are typed by hand than before.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments import figures, index, typed
from experiments.runner import commits, remarks, state

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Checked:
    """What was found."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lines: int = 0
    older: int = 0


def history(root: Path = ROOT) -> set[str] | str:
    """Return the commits that this one comes from, with twelve digits each, or why they are not known."""
    try:
        if _git(root, "rev-parse", "--is-shallow-repository") == "true":
            return "this clone is shallow"
        return {line[:12] for line in _git(root, "rev-list", "HEAD").splitlines()}
    except (OSError, subprocess.CalledProcessError):
        return "this is no git repository"


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def check(root: Path = ROOT) -> Checked:
    """Check everything."""
    found = Checked()
    known = history(root)
    if isinstance(known, str):
        found.notes.append(f"{known}: whether commits of result lines exist was not checked")
    for path in sorted((root / "experiments" / "results").glob("*.json")):
        table = json.loads(path.read_text(encoding="utf-8"))
        if "runs" in table:
            found.problems += check_table(path, table, known, found)
    pages = figures.pages(root)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        try:
            if figures.made(text, page.name) != text:
                found.problems.append(f"{page.name}: figures differ from the results; `python -m experiments docs`")
        except figures.FigureError as error:
            found.problems.append(str(error))
    try:
        if not index.INDEX.exists() or index.INDEX.read_text(encoding="utf-8") != index.made():
            found.problems.append("INDEX.md differs from the results; `python -m experiments docs`")
    except figures.FigureError as error:
        found.problems.append(str(error))
    found.problems += check_typed(pages, root)
    return found


def check_table(path: Path, table: dict[str, Any], known: set[str] | str, found: Checked) -> list[str]:
    """Check one result file and the page beside it."""
    lines = [line for line in table["runs"] if line["result"] is not None]
    page = path.with_suffix(".md").read_text(encoding="utf-8")
    problems = []
    for line in lines:
        found.lines += 1
        if line.get("older"):
            found.older += 1
        else:
            problems += [f"{path.name}, {line['run']!r}: {trouble}" for trouble in check_line(line, known)]
        if not any(
            row.startswith(f"| {_cell(line['run'])} |") and row.endswith(f" {state(line)} |")
            for row in page.split("\n")
        ):
            problems.append(f"{path.with_suffix('.md').name}: the row of {line['run']!r} does not say {state(line)!r}")
    if table.get("commits") != commits(lines):
        problems.append(f"{path.name}: `commits` is {table.get('commits')}, its lines were made by {commits(lines)}")
    problems += [f"{path.with_suffix('.md').name} does not say: {line}" for line in remarks(lines) if line not in page]
    return problems


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def check_line(line: dict[str, Any], known: set[str] | str) -> list[str]:
    """Say what is wrong with a line that is not an older one."""
    made_by = line.get("commit")
    if not made_by or made_by.endswith("+"):
        return [f"made by {made_by}, a tree with changes: a draft; commit, and run it again"]
    problems = []
    if not isinstance(known, str) and made_by not in known:
        problems.append(f"commit {made_by} is not in this history; run it again from one that is")
    if "trainings" not in line:
        problems.append("does not say how its trainings ended; run it again")
    return problems


def check_typed(pages: list[Path], root: Path) -> list[str]:
    """Say which pages have more typed figures than they may have, and name those of the first such page."""
    problems = []
    may = typed.allowed()
    for name, count in typed.counts(pages, root).items():
        if count > may.get(name, 0):
            places = [f"{n}: {text}" for n, text in typed.typed((root / name).read_text(encoding="utf-8"))]
            problems.append(
                f"{name} has {count} figures typed by hand, {may.get(name, 0)} are allowed; write new ones as "
                f"<!-- figure: … --> or <!-- given: … --> (experiments/figures.py). By line: {'; '.join(places)}"
            )
    return problems
