"""Fuzz every target for some time, count, and say what was found: ``python tests/fuzz/all.py SECONDS``.

The seconds are for all targets together and for each job; a target that fails stops the run at its end with exit code 1
and leaves its input in the folder ``--found``. ``--write`` adds the counts to ``benchmarks/results/fuzzing.json``, from
which ``fuzzing.md`` is made. Inputs that reached something new are kept between runs in ``--corpora``, if it is given.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "fuzzing.json"
NATIVE = {"native.cut": "fuzz_cut", "native.terms": "fuzz_terms"}
"""Harnesses of the native core, by target."""
SAID = 25
"""Lines of what a failed target said that are shown."""
STARTING = 30
"""Seconds that a process may take before its first input and after its last."""


def names() -> list[str]:
    """Return the targets of Python whose packages are here."""
    code = (
        "import importlib.util as u, os, sys; sys.path.insert(0, 'tests'); from fuzz.targets import names, target\n"
        "print(*(n for n in names() if not target(n).needs or u.find_spec(target(n).needs)), flush=True); os._exit(0)"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()


def fuzz(
    name: str, command: list[str], seconds: int, found: Path, corpora: Path | None, most: int | None = None
) -> dict[str, Any]:
    """Fuzz one target and return what came of it."""
    options = [f"-max_total_time={seconds}", f"-artifact_prefix={found}/{name}-"]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    if most is not None:
        options += [f"-runs={most}", "-seed=1"]
        env["PYTHONHASHSEED"] = "0"  # sets have one order, so that the same inputs come
    if corpora is not None:
        (corpora / name).mkdir(parents=True, exist_ok=True)
        options.append(str(corpora / name))
    began = time.monotonic()
    try:
        done = subprocess.run(
            [*command, *options],
            capture_output=True,
            timeout=seconds + 10 * STARTING,
            cwd=found,
            env=env,
        )
        said, code = (done.stdout + done.stderr).decode("utf-8", "replace"), done.returncode
    except subprocess.TimeoutExpired as late:
        said, code = ((late.stdout or b"") + (late.stderr or b"")).decode("utf-8", "replace"), -1
    counted = re.search(r"stat::number_of_executed_units:\s*(\d+)", said)
    seen = re.findall(r"^#(\d+)\s.*?cov: (\d+) ft: (\d+)", said, re.MULTILINE)
    executed = int(counted[1]) if counted else int(seen[-1][0]) if seen else 0
    if code or not counted:
        (found / f"{name}.log").write_text(said)
    return {
        "executions": executed,
        "branches": int(seen[-1][1]) if seen else 0,
        "seconds": round(time.monotonic() - began),
        "failed": int(bool(code) or not counted),
    }


def commands(wanted: list[str], native: Path | None) -> dict[str, list[str]]:
    """Return how each target is started."""
    made = {name: [sys.executable, str(HERE / "run.py"), name] for name in names()}
    if native is not None:
        for name, program in NATIVE.items():
            seeds = native / "seeds" / name
            seeds.mkdir(parents=True, exist_ok=True)
            for file in (HERE / "native" / "seeds" / name).glob("*"):
                (seeds / file.name).write_bytes(file.read_bytes())
            made[name] = [str(native / program), "-timeout=10", "-max_len=4096", "-print_final_stats=1", str(seeds)]
    return {name: made[name] for name in wanted} if wanted else made


def commit() -> str:
    """The commit that is fuzzed, with ``+`` if files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + (
        "+" if git("status", "--porcelain", "src", "native", "tests/fuzz") else ""
    )


def added(
    runs: list[dict[str, Any]], made_by: str, seconds: int, results: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the runs with one more; one of the same commit as the last is added to it."""
    if not runs or runs[-1]["commit"] != made_by:
        return [*runs, {"commit": made_by, "seconds": seconds, "targets": results}]
    last = runs[-1]
    for name, more in results.items():
        known = last["targets"].get(name, {"executions": 0, "seconds": 0, "branches": 0, "failed": 0})
        last["targets"][name] = {
            "executions": known["executions"] + more["executions"],
            "branches": max(known["branches"], more["branches"]),
            "seconds": known["seconds"] + more["seconds"],
            "failed": int(known["failed"]) + int(more["failed"]),
        }
    last["seconds"] += seconds
    return runs


def page(runs: list[dict[str, Any]]) -> str:
    """The results of all runs as a page: one line for each target."""
    every = sorted({name for run in runs for name in run["targets"]})
    lines = [
        "# Fuzzing",
        "",
        "`tools/fuzz.sh SECONDS --write`, all runs added up. Branches are those that the last run reached: of our",
        "Python code by atheris, of the native core by libFuzzer. A run that ends with a fault counts as a failure.",
        "",
        "| target | executions | branches | hours | failures |",
        "|---|---:|---:|---:|---:|",
    ]
    total: list[float] = [0, 0, 0]
    for name in every:
        own = [run["targets"][name] for run in runs if name in run["targets"]]
        executed, spent = sum(r["executions"] for r in own), sum(r["seconds"] for r in own) / 3600
        failed = sum(r["failed"] for r in own)
        total = [total[0] + executed, total[1] + spent, total[2] + failed]
        lines.append(f"| {name} | {executed:,} | {own[-1]['branches']:,} | {spent:.2f} | {failed} |")
    clean = [run for run in runs if not run["commit"].endswith("+")]
    lines += [
        f"| all | {total[0]:,.0f} | | {total[1]:.2f} | {total[2]:.0f} |",
        "",
        f"{len(runs)} runs, {len(clean)} of them from a clean commit, the last from {runs[-1]['commit']}.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("seconds", type=int)
    parser.add_argument("targets", nargs="*", help="some targets; all if none is named")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--native", type=Path, help="folder of the native harnesses, built by native/build.sh")
    parser.add_argument("--found", type=Path, default=Path("build/fuzz/found"), help="where inputs that fail go")
    parser.add_argument("--corpora", type=Path, help="where inputs that reach something new are kept")
    parser.add_argument("--runs", type=int, help="at most so many executions a target, the same ones each time")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    given.found.mkdir(parents=True, exist_ok=True)
    starts = commands(given.targets, given.native)
    share = max(1, given.seconds * given.jobs // len(starts))
    found, corpora = given.found.resolve(), given.corpora and given.corpora.resolve()

    def one(name: str) -> tuple[str, dict[str, Any]]:
        made = fuzz(name, starts[name], share, found, corpora, given.runs)
        print(f"{name:20} {made['executions']:>10,} executions {made['branches']:>7,} branches {made['seconds']:>5} s"
              f"{'  FAILED' if made['failed'] else ''}", flush=True)  # fmt: skip
        return name, made

    with ThreadPoolExecutor(given.jobs) as pool:
        results = dict(pool.map(one, starts))
    print(f"{sum(r['executions'] for r in results.values()):,} executions")
    if given.write:
        runs = added(json.loads(RESULTS.read_text()) if RESULTS.exists() else [], commit(), given.seconds, results)
        RESULTS.write_text(json.dumps(runs, indent=1) + "\n")
        RESULTS.with_suffix(".md").write_text(page(runs))
    failed = [name for name, made in results.items() if made["failed"]]
    for name in failed:
        lines = (found / f"{name}.log").read_text().splitlines()[-SAID:]
        print(f"\n{name}, the last it said:", *(line[:500] for line in lines), sep="\n  ", file=sys.stderr)
    if failed:
        print(f"failed: {', '.join(failed)}; inputs and what was said are in {found}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
