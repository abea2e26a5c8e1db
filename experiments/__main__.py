"""``python -m experiments NAME --data FOLDER [--quick]``; without a name, say which there are.

``python -m experiments docs`` writes the figures of the documentation from the results, and ``python -m experiments
check`` says whether results and documentation hold together.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

import experiments
from experiments import figures, index, typed
from experiments.apart import apart
from experiments.check import ROOT, check
from experiments.runner import Experiment, Runner


def find() -> dict[str, Experiment]:
    """Return every experiment of this package by name."""
    found = {}
    for module in pkgutil.iter_modules(experiments.__path__):
        if not module.name.startswith("_"):
            value = getattr(importlib.import_module(f"experiments.{module.name}"), "EXPERIMENT", None)
            if isinstance(value, Experiment):
                found[module.name] = value
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run an experiment; the exit code is 1 if a run failed and 2 if the command was wrong."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=experiments.__doc__)
    parser.add_argument("name", nargs="?", help="the experiment, `docs` or `check`; left out, all are listed")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the corpora")
    parser.add_argument("--quick", action="store_true", help="on a small part of the data")
    parser.add_argument("--only", action="append", default=[], metavar="RUN", help="this run only; may be repeated")
    parser.add_argument("--again", action="store_true", help="also what is done")
    options = parser.parse_args(arguments)
    if options.name in COMMANDS:
        return COMMANDS[options.name]()
    known = find()
    if options.name is None:
        for name, experiment in known.items():
            print(f"{name:20} {experiment.title} ({len(experiment.runs)} runs)")
        return 0
    if options.name not in known:
        parser.error(f"no experiment {options.name!r}; there are {', '.join(known) or 'none'}")
    if not options.data.is_dir():
        parser.error(f"no folder {options.data}; --data says where the corpora are")
    runner = Runner(options.name, known[options.name], options.data, quick=options.quick, say=_say, call=apart)
    try:
        failed = runner.run(options.only, again=options.again)
    except ValueError as error:
        parser.error(str(error))
    _say(f"table: {runner.results / runner.table}.md")
    return 1 if failed else 0


def write_docs() -> int:
    """Write tables and figures of the documentation; 1 if a mark names what is not there."""
    try:
        for path in figures.write():
            _say(f"written: {path.relative_to(ROOT)}")
        index.INDEX.write_text(index.made(), encoding="utf-8")
    except figures.FigureError as error:
        _say(str(error))
        return 1
    typed.lower(typed.counts(figures.pages(), ROOT))
    return 0


def checked() -> int:
    """Check results and documentation; 1 if something is wrong."""
    found = check()
    for line in found.notes:
        _say(f"note: {line}")
    for line in found.problems:
        _say(line)
    more = sum(typed.allowed().values())
    _say(f"{found.lines} lines of results, {found.older} of them older; {more} figures typed by hand are still allowed")
    return 1 if found.problems else 0


COMMANDS = {"docs": write_docs, "check": checked}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
