"""How long ``import spanloom`` and ``spanloom --help`` take, and what takes it.

    python benchmarks/imports.py [--rounds 10] [--top 10]

The least processor time of the rounds, each in a fresh interpreter, beside an empty interpreter's and numpy's; then
the modules that take longest by themselves, from ``python -X importtime``. The goals are 0.15 s and 0.3 s.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

WHAT = {
    "python": ["-c", ""],
    "import numpy": ["-c", "import numpy"],
    "import spanloom": ["-c", "import spanloom"],
    "spanloom.read": ["-c", "import spanloom; spanloom.read"],
    "spanloom --help": ["-m", "spanloom", "--help"],
}


def least(arguments: list[str], rounds: int) -> float:
    """Return the least seconds of some rounds."""
    seconds = []
    for _ in range(rounds):
        before = used()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        seconds.append(used() - before)
    return min(seconds)


def used() -> float:
    """Return the processor time of the processes that ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def slowest(arguments: list[str], top: int) -> list[tuple[int, str]]:
    """Return the modules that take longest by themselves, in microseconds."""
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True)
    rows = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines()[1:] if "|" in line]
    return sorted(((int(own), name.strip()) for own, _, name in rows if own.strip().isdigit()), reverse=True)[:top]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--top", type=int, default=10)
    given = parser.parse_args()
    for name, arguments in WHAT.items():
        print(f"{name}: {least(arguments, given.rounds):.3f} s")
    for name, arguments in WHAT.items():
        print(f"\n{name}, ms by module:")
        for microseconds, module in slowest(arguments, given.top):
            print(f"  {microseconds / 1000:6.1f}  {module}")


if __name__ == "__main__":
    main()
