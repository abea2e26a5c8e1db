"""Where the benchmarks' tables go."""

from __future__ import annotations

import argparse
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


def rounds_and_write(description: str | None, rounds: int) -> argparse.Namespace:
    """Return ``--data``, ``--rounds`` and ``--write`` of the command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def commit() -> str:
    """Return the commit of this file's repository, with a plus if there are changes other than to results."""
    git = ["git", "-C", str(RESULTS.parent)]
    found = subprocess.run([*git, "describe", "--always", "--exclude=*"], capture_output=True, text=True, check=False)
    same = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ":/", ":(exclude,top)*/results/*"], check=False)
    return (found.stdout.strip() or "unknown") + ("+" if same.returncode else "")


def write(name: str, title: str, rounds: int, settings: str, lines: Sequence[str]) -> None:
    """Write a table with the command that makes it."""
    text = [
        f"# {title}",
        "",
        f"`python benchmarks/{name}.py --data FOLDER --rounds {rounds} --write`; {platform.machine()}, "
        f"Python {platform.python_version()}, commit {commit()}, one thread, {settings}.",
        "",
        *lines,
    ]
    (RESULTS / f"{name}.md").write_text("\n".join(text) + "\n", encoding="utf-8")
