"""Two versions of spanloom on the same work, by turns: training and tagging times as ratios.

    python benchmarks/before_after.py --data ../shared/data --before OTHER_ENVIRONMENT/bin/python --write

The other interpreter has the other version installed. Each runs this file with --one; times are processor time, the
least of the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

WORK: dict[str, dict[str, Any]] = {
    "chain": {"model": "chain", "max_iter": 40},
    "edge": {"model": "edge", "max_iter": 25},
    "state": {"model": "state", "max_iter": 25},
    "semimarkov": {"model": "semimarkov", "max_iter": 20, "longest": 8},
    "multilabel": {"model": "multilabel", "max_iter": 2},
}


def make(settings: dict[str, Any]) -> Any:
    """Make a recogniser in this version, whether its settings are flat or nested."""
    try:
        from spanloom.configuration import configure
    except ImportError:
        from spanloom import Recognizer

        return Recognizer(**settings, overlap="longest", threads=1)
    return configure({**settings, "keep": "longest", "threads": 1})


def one(data: Path, sentences: int) -> None:
    """Print the times of this version as JSON."""
    from spanloom import read

    docs = [s for doc in read(f"genia:{data}/genia?classes=5&split=train") for s in doc.sentences][:sentences]
    times: dict[str, float] = {}
    for name, settings in WORK.items():
        ner = make(settings)
        start = time.process_time()
        ner.fit(docs)
        times[f"{name}, training"] = time.process_time() - start
        bare = [s.with_mentions([]) for s in docs]
        rounds = []
        for _ in range(3):
            start = time.process_time()
            ner.predict(bare)
            rounds.append(time.process_time() - start)
        times[f"{name}, tagging"] = min(rounds)
    print(json.dumps(times))


def main() -> None:
    """Run both by turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--before", help="the interpreter that has the other version")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/before_after.md")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.data, given.sentences)
        return
    if given.before is None:
        parser.error("--before says which interpreter has the other version")
    found: dict[str, list[dict[str, float]]] = {given.before: [], sys.executable: []}
    for _ in range(given.rounds):
        for python, rounds in found.items():
            command = [
                python,
                __file__,
                "--one",
                "--data",
                str(given.data.resolve()),
                "--sentences",
                str(given.sentences),
            ]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=os.sep)
            rounds.append(json.loads(done.stdout.splitlines()[-1]))
    before, after = ({name: min(r[name] for r in rounds) for name in rounds[0]} for rounds in found.values())
    lines = ["| | before, s | after, s | after / before |", "|---|---:|---:|---:|"]
    lines += [f"| {name} | {t:.2f} | {after[name]:.2f} | {after[name] / t:.2f} |" for name, t in before.items()]
    iterations = ", ".join(f"{name} {settings['max_iter']}" for name, settings in WORK.items())
    about = (
        f"{given.sentences:,} sentences of GENIA, five types, default features, one thread; processor time, the least "
        f"of {given.rounds} rounds by turns. Iterations: {iterations}."
    )
    text = "\n".join(["# Before and after, in one run", "", about, "", *lines, ""])
    print(text)
    if given.write:
        (Path(__file__).parent / "results" / "before_after.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
