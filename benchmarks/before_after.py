"""Two versions of spanloom on the same work, by turns: training and tagging times as ratios.

    python benchmarks/before_after.py --data ../shared/data --before OTHER_ENVIRONMENT/bin/python --name COMMIT --write

The other interpreter has the other version installed. Each runs this file with --one; times are processor time, the
least of the rounds. How far the rounds of one version lie apart says what is noise.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import tables

WORK: dict[str, dict[str, Any]] = {
    "chain": {"model": "chain", "max_iter": 40},
    "edge": {"model": "edge", "max_iter": 25},
    "state": {"model": "state", "max_iter": 25},
    "semimarkov": {"model": "semimarkov", "max_iter": 20, "longest": 8},
    "multilabel": {"model": "multilabel", "max_iter": 2},
}


RULES = "rules that cut text"
TRAINED, TAGGED = 3, 20
"""So often models are trained and sentences tagged in a round; the least time counts."""
WITHIN = 0.03
"""What one version may be slower than the other."""


def make(settings: dict[str, Any]) -> Any:
    """Make a recogniser in this version, whether its settings are flat or nested; by templates, not the name of a set.

    What a name stands for has changed: at gaps, ``default`` looks at both sides since.
    """
    from spanloom.features import FeatureSet

    settings = {**settings, "features": list(FeatureSet.named("default").templates), "l2": 0.1}
    if settings["model"] == "multilabel":
        del settings["l2"]  # it has none
    try:
        from spanloom.configuration import configure
    except ImportError:
        from spanloom import Recognizer

        return Recognizer(**settings, overlap="longest", threads=1)
    ner = configure({**settings, "keep": "longest", "threads": 1})
    return ner.set_params(tokenizer=str.split)  # which is never asked: no search for the rules that cut text


def one(data: Path, sentences: int, only: str | None) -> None:
    """Print the times of this version as JSON."""
    from spanloom import read

    docs = [s for doc in read(f"genia:{data}/genia?classes=5&split=train") for s in doc.sentences][:sentences]
    times: dict[str, float] = {}
    for name, settings in WORK.items() if only is None else [(only, WORK[only])]:
        rounds = []
        for _ in range(TRAINED):
            ner = make(settings)
            start = time.process_time()
            ner.fit(docs)
            rounds.append(time.process_time() - start)
        times[f"{name}, training"] = min(rounds)
        bare = [s.with_mentions([]) for s in docs]
        # Earlier versions have no such switch, and give none.
        plain = {"probabilities": False} if "probabilities" in inspect.signature(ner.predict).parameters else {}
        rounds = []
        for _ in range(TAGGED):
            start = time.process_time()
            ner.predict(bare, **plain)
            rounds.append(time.process_time() - start)
        times[f"{name}, tagging"] = min(rounds)
    print(json.dumps(times | _rules(docs)))


def _rules(docs: list[Any]) -> dict[str, float]:
    """The time that a training takes to choose rules that cut text, if this version does so."""
    try:
        from spanloom.corpus.retokenizing import choose_rules
    except ImportError:
        return {}
    start = time.process_time()
    choose_rules(docs, 1)
    return {RULES: time.process_time() - start}


def _spread(rounds: list[dict[str, float]], name: str) -> float:
    """How much longer the slowest round took than the quickest."""
    times = [r[name] for r in rounds]
    return max(times) / min(times) - 1


def main() -> None:
    """Run both by turns and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--before", help="the interpreter that has the other version")
    parser.add_argument("--name", default="the other version", help="of the version before, such as its commit")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/before_after.md")
    parser.add_argument("--only", choices=WORK, help="this model alone; its table is not written")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.data, given.sentences, given.only)
        return
    if given.before is None:
        parser.error("--before says which interpreter has the other version")
    found: dict[str, list[dict[str, float]]] = {given.before: [], sys.executable: []}
    for number in range(given.rounds):
        turns = list(found.items())
        for python, rounds in reversed(turns) if number % 2 else turns:  # what comes first finds a cooler machine
            command = [
                python,
                __file__,
                "--one",
                "--data",
                str(given.data.resolve()),
                "--sentences",
                str(given.sentences),
                *(["--only", given.only] if given.only else []),
            ]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=os.sep)
            rounds.append(json.loads(done.stdout.splitlines()[-1]))
    rules = min(taken for rounds in found.values() for r in rounds if (taken := r.pop(RULES, 0.0)))
    before, after = ({name: min(r[name] for r in rounds) for name in rounds[0]} for rounds in found.values())
    noise = {name: max(_spread(rounds, name) for rounds in found.values()) for name in before}
    lines = ["| | before, s | after, s | after / before | rounds lie apart by |", "|---|---:|---:|---:|---:|"]
    lines += [
        f"| {name} | {t:.2f} | {after[name]:.2f} | {after[name] / t:.2f} | {100 * noise[name]:.0f} % |"
        for name, t in before.items()
    ]
    slower = [name for name, t in before.items() if after[name] / t > 1 + WITHIN]
    sure = [name for name in slower if after[name] / before[name] > 1 + noise[name]]
    verdict = (
        f"Before: {given.name}; after: {tables.commit()}. "
        f"Slower by more than {100 * WITHIN:.0f} %: {', '.join(slower) or 'nothing'}; "
        f"of these, by more than rounds of one version lie apart: {', '.join(sure) or 'nothing'}. "
        f"Each training after chooses rules that cut text, too, which takes {rules:.2f} s here and is left out."
    )
    iterations = ", ".join(f"{name} {settings['max_iter']}" for name, settings in WORK.items())
    about = (
        f"{given.sentences:,} sentences of GENIA, five types, default features, one thread; processor time, the least "
        f"of {given.rounds} rounds by turns. Iterations: {iterations}."
    )
    text = "\n".join(["# Before and after, in one run", "", about, "", *lines, "", verdict, ""])
    print(text)
    if given.write and given.only is None:
        (Path(__file__).parent / "results" / "before_after.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
