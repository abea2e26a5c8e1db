"""How long somebody waits for the first model: ``spanloom train`` with nothing set, with and without ``--dev``.

    python benchmarks/first_training.py --data ../shared/data --name after --write
    python benchmarks/first_training.py --data ../shared/data --name before --python OTHER/bin/python --write

Each line is a command as a user types it, on the first sentences of GENIA with five types, timed from its start to its
end on all cores. ``--write`` keeps the lines under the name of a version and writes the table of all versions; the
commit is that of the source tree that the other interpreter imports.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import tables

from spanloom import Document, read, write

SIZES = (200, 500, 1500)
DEV = 400


def first(documents: list[Document], sentences: int) -> list[Document]:
    """Return whole documents until there are so many sentences; the last one is cut."""
    taken: list[Document] = []
    for document in documents:
        left = sentences - sum(len(one.sentences) for one in taken)
        if left <= 0:
            break
        taken.append(Document(document.sentences[:left], document.id))
    return taken


def timed(python: str, folder: Path, size: int, *, dev: bool) -> dict[str, Any]:
    """Train once; return seconds by the clock and of the processor."""
    command = [python, "-m", "spanloom", "train", f"{folder}/{size}.jsonl", "-o", f"{folder}/m.loom", "--json"]
    before, start = _processor(), time.perf_counter()
    done = subprocess.run(
        [*command, *(["--dev", f"{folder}/dev.jsonl"] if dev else [])], capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - start
    facts = json.loads(done.stdout)
    return {"seconds": seconds, "processor": _processor() - before, "iterations": facts["iterations"]}


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def commit_of(python: str) -> str:
    """Return the commit that an interpreter's spanloom comes from, with a plus if its code differs from it."""
    code = "import spanloom, pathlib; print(pathlib.Path(spanloom.__file__).parents[2])"
    where = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    head = ["git", "-C", where, "rev-parse", "--short=12", "HEAD"]
    changes = ["git", "-C", where, "status", "--porcelain", "--untracked-files=no", "--", "src", "native"]
    found, changed = (subprocess.run(c, capture_output=True, text=True, check=True).stdout for c in (head, changes))
    return found.strip() + "+" * bool(changed.strip())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--name", default="now", help="of the version")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", choices=("dev", "alone"), help="lines with --dev, or without")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    path = tables.RESULTS / "first_training.json"
    kept: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    ref = f"genia:{options.data}/genia?classes=5&split="
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train = list(read(f"{ref}train"))
        write(first(list(read(f"{ref}dev")), DEV), folder / "dev.jsonl")
        for size in options.sizes:
            write(first(train, size), folder / f"{size}.jsonl")
            for dev in [dev for dev in (True, False) if options.only in (None, "dev" if dev else "alone")]:
                found = timed(options.python, folder, size, dev=dev)
                line = {"version": options.name, "commit": commit_of(options.python), "sentences": size, "dev": dev}
                print(json.dumps({**line, **found}), flush=True)
                same = [(k["version"], k["sentences"], k["dev"]) == (options.name, size, dev) for k in kept]
                kept = [k for k, again in zip(kept, same, strict=True) if not again] + [{**line, **found}]
    if options.write:
        kept.sort(key=lambda k: (k["sentences"], not k["dev"], k["version"] != "before", k["version"]))
        path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        (tables.RESULTS / "first_training.md").write_text("\n".join(table(kept)) + "\n", encoding="utf-8")


def table(kept: list[dict[str, Any]]) -> list[str]:
    """Return the table of all versions."""
    lines = [
        "# The first training",
        "",
        "`python benchmarks/first_training.py --data FOLDER --name VERSION --write`; "
        f"{platform.machine()}, Python {platform.python_version()}, two cores beside other work, so that the "
        "processor's seconds are to be compared. `spanloom train` "
        f"with nothing set on the first sentences of GENIA, five types, alone or with {DEV} sentences as `--dev`; "
        "seconds from the start of the command to its end, and of the processor. `iterations` are those of the last "
        "training; without `--dev` others come before it, to choose a mention penalty.",
        "",
        "| sentences | | version | commit | seconds | processor | iterations |",
        "|---:|---|---|---|---:|---:|---:|",
    ]
    for k in kept:
        lines.append(
            f"| {k['sentences']:,} | {'`--dev`' if k['dev'] else ''} | {k['version']} | {k['commit']} "
            f"| {k['seconds']:.1f} | {k['processor']:.1f} | {k['iterations']} |"
        )
    return lines


if __name__ == "__main__":
    main()
