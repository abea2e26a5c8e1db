"""Run the runs of an experiment, once each, and keep a table of all results.

A run is a name with settings. Its result is kept in one JSON file under ``experiments/work/`` whose name holds a digest
of the settings; a run whose file exists is not done again, so that an interrupted or failed experiment goes on where it
stopped, and a changed setting makes a new run. After every run the table is written anew; lines that it has already,
made elsewhere with the same settings, count as done; those with other settings are older, and stand until they are run
again.

A line made from a tree with changes is a draft: nobody could make it again. It stands in a table of drafts under
``experiments/work/`` only, and is made anew when the tree is clean. Every line tells how its trainings ended. Lines
that were made before that, or by commits that are not in this history, are marked ``older`` in the result file by hand.
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

import numpy

import spanloom
from experiments.ends import told, watched
from spanloom.base.files import whole_file

ROOT = Path(__file__).resolve().parent
OTHER_SETTINGS = "other settings than today's"
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
    differs
        How this line differs from the paper's, in words, one thing each.
    needs
        What must be in the folder of the corpora, where it is licensed and may not be there; a line without it stands
        in the table with the paper's figures, and is passed over.
    """

    name: str
    settings: dict[str, Any]
    paper: dict[str, float] = field(default_factory=dict)
    differs: Sequence[str] = ()
    needs: str = ""


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
        Does one run and returns its figures, plain JSON values by column. How its trainings ended is noticed; where
        they go on in other processes, they are under ``trainings``, as ``experiments.ends.ends`` gives them.
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
    at
        Returns the commit that lines are made by; see ``commit``.
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
        at: Callable[[], str | None] | None = None,
    ) -> None:
        names = [run.name for run in experiment.runs]
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise ValueError(f"experiment {name} has more than one run named {', '.join(sorted(twice))}")
        self.name, self.experiment, self.data, self.quick, self.say = name, experiment, data, quick, say
        self.call = call
        self.at = at or commit
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

    def record(self, run: Run, *, drafts: bool = False) -> Result | None:
        """Return what is known about a run that is done, or None; a draft only if it may be one."""
        path = self.record_path(run)
        if path.exists():
            found: Result = json.loads(path.read_text(encoding="utf-8"))
            if drafts or not is_draft(found):
                return found
        # Done elsewhere: the table keeps what it has where the work folder is gone or another's.
        for line in self.kept:
            if line["run"] == run.name and line["result"] is not None:
                kept = {name: value for name, value in line.items() if name not in ("paper", "differs")}
                if line.get("settings") != run.settings:  # it stands until it is run again
                    kept["older"] = line.get("older") or OTHER_SETTINGS
                return kept
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
        changed = (self.at() or "+").endswith("+")
        if changed:
            self.say("this tree has changes: lines are drafts, and are kept in the work folder only")
        for run in self.experiment.runs:
            if only and run.name not in only:
                continue
            record = self.record(run, drafts=changed)
            if run.needs and not (self.data / run.needs).exists():
                self.say(f"{run.name}: licensed; with the corpus in {self.data / run.needs} it is run")
            elif record and not record.get("older") and not again:
                self.say(f"{run.name}: done before")
            elif not self._execute(run):
                failed.append(run.name)
            self.write_tables()
        if self.experiment.finish and not failed:
            results = {run.name: r["result"] for run in self.experiment.runs if (r := self.record(run, drafts=changed))}
            self.experiment.finish(results, self.work if changed else self.results)
        return failed

    def _execute(self, run: Run) -> bool:
        self.say(f"{run.name}: …")
        path = self.record_path(run)
        trouble = path.with_suffix(".error.txt")
        trouble.unlink(missing_ok=True)
        start, made_by = time.perf_counter(), self.at()
        try:
            result = self.call(_watched, self.experiment.execute, run, Context(self.data, self.quick, self.work))
        except Exception:  # one failed line must not lose the others
            trouble.write_text(traceback.format_exc(), encoding="utf-8")
            self.say(f"{run.name}: failed, see {trouble}")
            return False
        seconds = time.perf_counter() - start
        trainings = result.pop("trainings", [])
        record = {
            "experiment": self.name,
            "run": run.name,
            "settings": run.settings,
            "seeds": sorted(
                {end["seed"] for end in trainings} | {run.settings[n] for n in ("seed",) if n in run.settings}
            ),
            "quick": self.quick,
            "result": result,
            "trainings": trainings,
            "seconds": round(seconds, 3),
            "commit": made_by if made_by == self.at() else f"{(made_by or '').rstrip('+')}+",
            "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.machine()},
            "versions": {"spanloom": spanloom.__version__, "numpy": numpy.__version__},
        }
        _write_json(path, record)
        self.say(f"{run.name}: {seconds:.1f} s")
        return True

    def write_tables(self) -> None:
        """Write ``NAME.json`` and ``NAME.md`` from what is done so far, and those of drafts if there are any."""
        rows = [(run, self.record(run)) for run in self.experiment.runs]
        self._write(self.results / self.table, rows)
        rows = [(run, self.record(run, drafts=True)) for run in self.experiment.runs]
        if any(record and is_draft(record) for _, record in rows):
            self._write(self.work / f"{self.table}.draft", rows)

    def _write(self, path: Path, rows: list[tuple[Run, Result | None]]) -> None:
        lines = [
            {**(record or {"run": run.name, "result": None}), "paper": run.paper, "differs": list(run.differs)}
            for run, record in rows
        ]
        made = {"title": self.experiment.title, "commits": commits(lines), "runs": lines}
        _write_json(path.with_name(f"{path.name}.json"), made)
        with whole_file(path.with_name(f"{path.name}.md")) as out:
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
        lines += [f"*{line}*" for line in remarks([record for _, record in rows if record])]
        lines += [""] * bool(lines[-1])
        lines += _row(["", *heads, "seconds", "trainings"]), _row(["---", *["---:"] * (len(heads) + 1), "---"])
        for run, record in rows:
            cells = [run.name]
            for column in e.columns:
                cells.append(self._cell(column, record["result"].get(column) if record else None))
                if f"{_heading(column)} (paper)" in heads:
                    cells.append(_number(run.paper.get(column), 1))
            cells.append(_number(record["seconds"], 1) if record else "licensed" if run.needs else "not run")
            lines.append(_row([*cells, state(record) if record else ""]))
        lines += ["", "Settings:", ""]
        for run, record in rows:
            made = f" ({record['commit']}, {record['finished']})" if record else ""
            lines.append(f"- **{run.name}**{made}: `{json.dumps(run.settings, ensure_ascii=False, sort_keys=True)}`")
            if run.differs:
                lines[-1] += f". Unlike the paper: {'; '.join(run.differs)}."
        again = f"python -m experiments {self.name}{' --quick' if self.quick else ''}"
        return [*lines, "", f"Made by `{again}`."]

    def _cell(self, column: str, value: Any) -> str:
        if isinstance(value, (int, float)) and column in self.experiment.percent:
            return _number(100 * value, 2)
        return _number(value, 1)


def _watched(execute: Callable[[Run, Context], Result], run: Run, context: Context) -> Result:
    with watched() as found:
        result = execute(run, context)
    return {"trainings": found, **result}


def is_draft(record: Result) -> bool:
    """Whether a line was made from a tree with changes, or outside of git, and is not marked as older."""
    return (record.get("commit") or "+").endswith("+") and not record.get("older")


def state(record: Result) -> str:
    """Say how the trainings of a line ended, or why it is an older one."""
    ended = told(record.get("trainings", []))
    older = f"older: {record['older']}" if record.get("older") else ""
    return ", ".join(part for part in (ended, older) if part)


def commits(lines: Sequence[Result]) -> list[str]:
    """Return the commits that the lines of a table were made by, older ones apart."""
    return sorted({line["commit"] for line in lines if line.get("commit") and not line.get("older")})


def remarks(lines: Sequence[Result]) -> list[str]:
    """Say what a reader must know of the lines of a table together."""
    said = []
    older, capped = sum(bool(r.get("older")) for r in lines), sum("cap" in told(r.get("trainings", [])) for r in lines)
    several = commits(lines)
    if len(several) > 1:
        said.append(f"The lines were made by {len(several)} commits: {', '.join(several)}.")
    if capped:
        said.append(f"{capped} of {len(lines)} lines have trainings that ended at the cap of their iterations.")
    if older:
        said.append(
            f"{older} of {len(lines)} lines are older, for the reason in the last column, and wait to be run again."
        )
    return said


def commit() -> str | None:
    """Return the commit of the working tree, with a ``+`` if code differs from it; None outside of git."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        ignored = (":!experiments/results", ":!*.md", ":!tests")  # no result depends on them
        return head + ("+" if _git("status", "--porcelain", "--untracked-files=no", "--", ".", *ignored) else "")
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
