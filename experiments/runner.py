"""Run the runs of an experiment, once each, and keep a table of all results.

A run is a name with settings. Its result is kept in one JSON file under ``experiments/work/`` whose name holds a digest
of the settings; a run whose file exists is not done again, so that an interrupted or failed experiment goes on where it
stopped, and a changed setting makes a new run. After every run the table is written anew; lines that it has already,
made elsewhere with the same settings, count as done.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from spanloom.base.files import whole_file

ROOT = Path(__file__).resolve().parent
Result = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One line of a table.

    Parameters
    ----------
    name
        Unique within the experiment; the first column.
    settings
        Everything that the result depends on, as plain JSON values.
    paper
        What the paper reports for this line, by column.
    """

    name: str
    settings: dict[str, Any]
    paper: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """Where a run finds things.

    Parameters
    ----------
    data
        The folder of the corpora.
    quick
        Whether a small part of the data is enough, to see that everything works.
    work
        A folder for what the run wants to keep (models, predictions).
    """

    data: Path
    quick: bool
    work: Path


@dataclass(frozen=True)
class Experiment:
    """What a module of ``experiments`` defines as ``EXPERIMENT``.

    Parameters
    ----------
    title
        The heading of the table.
    runs
        The lines, in order.
    execute
        Does one run and returns its figures, plain JSON values by column.
    columns
        The figures to show, in order. ``seconds`` is always there.
    percent
        The columns that are fractions and are shown in percent.
    about
        A paragraph above the table: what is measured, on which data, how it differs from the paper.
    finish
        Called with the results by name and the folder of the table, to draw pictures.
    quick_about
        What a quick run is. Where this is said, its table is worth keeping, as ``NAME.quick`` beside the full one.
    """

    title: str
    runs: Sequence[Run]
    execute: Callable[[Run, Context], Result]
    columns: Sequence[str]
    percent: Sequence[str] = ("precision", "recall", "f1")
    about: str = ""
    finish: Callable[[dict[str, Result], Path], None] | None = None
    quick_about: str = ""


class Runner:
    """Runs one experiment.

    Parameters
    ----------
    name, experiment
        The module's name and its ``EXPERIMENT``.
    data
        The folder of the corpora.
    quick
        Passed on to the runs. Quick results are kept apart and never become the table in ``results``; see
        ``Experiment.quick_about``.
    root
        Where ``work`` and ``results`` are.
    say
        Called with a line about what goes on.
    call
        How a run is called; ``experiments.apart.apart`` does it in a process of its own.
    """

    def __init__(
        self,
        name: str,
        experiment: Experiment,
        data: Path,
        *,
        quick: bool = False,
        root: Path = ROOT,
        say: Callable[[str], None] = lambda line: None,
        call: Callable[..., Any] = lambda function, *arguments: function(*arguments),
    ) -> None:
        names = [run.name for run in experiment.runs]
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise ValueError(f"experiment {name} has more than one run named {', '.join(sorted(twice))}")
        self.name, self.experiment, self.data, self.quick, self.say = name, experiment, data, quick, say
        self.call = call
        self.work = root / "work" / (f"{name}.quick" if quick else name)
        self.results = self.work if quick and not experiment.quick_about else root / "results"
        self.table = f"{name}.quick" if quick and experiment.quick_about else name
        table = self.results / f"{self.table}.json"
        self.kept: list[Result] = json.loads(table.read_text(encoding="utf-8"))["runs"] if table.exists() else []

    def record_path(self, run: Run) -> Path:
        """Return where the result of a run is kept."""
        text = json.dumps(run.settings, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        slug = re.sub(r"[^A-Za-z0-9]+", "-", run.name).strip("-").lower()
        return self.work / f"{slug}.{digest}.json"

    def record(self, run: Run) -> Result | None:
        """Return what is known about a run that is done, or None."""
        path = self.record_path(run)
        if path.exists():
            found: Result = json.loads(path.read_text(encoding="utf-8"))
            return found
        # Done elsewhere: the table keeps what it has where the work folder is gone or another's.
        for line in self.kept:
            if (line["run"], line.get("settings")) == (run.name, run.settings) and line["result"] is not None:
                return {name: value for name, value in line.items() if name != "paper"}
        return None

    def run(self, only: Sequence[str] = (), *, again: bool = False) -> list[str]:
        """Do what is not done yet; return the names of the runs that failed.

        Parameters
        ----------
        only
            Names of runs; all if empty.
        again
            Do them even if they are done.
        """
        known = [run.name for run in self.experiment.runs]
        for name in only:
            if name not in known:
                raise ValueError(f"experiment {self.name} has no run {name!r}; it has {', '.join(known)}")
        self.work.mkdir(parents=True, exist_ok=True)
        self.results.mkdir(parents=True, exist_ok=True)
        failed = []
        for run in self.experiment.runs:
            if only and run.name not in only:
                continue
            if self.record(run) and not again:
                self.say(f"{run.name}: done before")
            elif not self._execute(run):
                failed.append(run.name)
            self.write_tables()
        if self.experiment.finish and not failed:
            results = {run.name: record["result"] for run in self.experiment.runs if (record := self.record(run))}
            self.experiment.finish(results, self.results)
        return failed

    def _execute(self, run: Run) -> bool:
        self.say(f"{run.name}: …")
        path = self.record_path(run)
        trouble = path.with_suffix(".error.txt")
        trouble.unlink(missing_ok=True)
        start = time.perf_counter()
        try:
            result = self.call(self.experiment.execute, run, Context(self.data, self.quick, self.work))
        except Exception:  # one failed line must not lose the others
            trouble.write_text(traceback.format_exc(), encoding="utf-8")
            self.say(f"{run.name}: failed, see {trouble}")
            return False
        seconds = time.perf_counter() - start
        record = {
            "experiment": self.name,
            "run": run.name,
            "settings": run.settings,
            "quick": self.quick,
            "result": result,
            "seconds": round(seconds, 3),
            "commit": commit(),
            "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.machine()},
        }
        _write_json(path, record)
        self.say(f"{run.name}: {seconds:.1f} s")
        return True

    def write_tables(self) -> None:
        """Write ``NAME.json`` and ``NAME.md`` from what is done so far."""
        rows = [(run, self.record(run)) for run in self.experiment.runs]
        lines = [{**(record or {"run": run.name, "result": None}), "paper": run.paper} for run, record in rows]
        _write_json(self.results / f"{self.table}.json", {"title": self.experiment.title, "runs": lines})
        with whole_file(self.results / f"{self.table}.md") as out:
            out.write("\n".join(self._markdown(rows)) + "\n")

    def _markdown(self, rows: list[tuple[Run, Result | None]]) -> list[str]:
        e = self.experiment
        heads: list[str] = []
        for column in e.columns:
            heads.append(_heading(column))
            if any(column in run.paper for run, _ in rows):
                heads.append(f"{_heading(column)} (paper)")
        lines = [f"# {e.title}", ""]
        if e.about:
            lines += [e.about, ""]
        if self.quick:
            quick = "A quick run on a part of the data: it shows that everything works, not how well."
            lines += [e.quick_about or quick, ""]
        lines += _row(["", *heads, "seconds"]), _row(["---", *["---:"] * (len(heads) + 1)])
        for run, record in rows:
            cells = [run.name]
            for column in e.columns:
                cells.append(self._cell(column, record["result"].get(column) if record else None))
                if f"{_heading(column)} (paper)" in heads:
                    cells.append(_number(run.paper.get(column), 1))
            cells.append(_number(record["seconds"], 1) if record else "not run")
            lines.append(_row(cells))
        lines += ["", "Settings:", ""]
        for run, record in rows:
            made = f" ({record['commit']}, {record['finished']})" if record else ""
            lines.append(f"- **{run.name}**{made}: `{json.dumps(run.settings, ensure_ascii=False, sort_keys=True)}`")
        again = f"python -m experiments {self.name}{' --quick' if self.quick else ''}"
        return [*lines, "", f"Made by `{again}`."]

    def _cell(self, column: str, value: Any) -> str:
        if isinstance(value, (int, float)) and column in self.experiment.percent:
            return _number(100 * value, 2)
        return _number(value, 1)


def commit() -> str | None:
    """Return the commit of the working tree, with a ``+`` if tracked files differ from it; None outside of git."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no", ":!experiments/results") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()


_NUMBERS = re.compile(r'\[\n\s+([^\[\]{}"]*?)\n\s*\]')


def _write_json(path: Path, value: Any) -> None:
    """Write a value, a key a line; lists of numbers stay on one."""
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
    with whole_file(path) as out:
        out.write(_NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n")


def _heading(column: str) -> str:
    return {"precision": "P", "recall": "R", "f1": "F1", "words_per_second": "words/s"}.get(column, column)


def _number(value: Any, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.{digits}f}" if abs(value) >= 1 or value == 0 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
