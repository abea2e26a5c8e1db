"""Run every journey with a fault at every system call: ``python tests/faults/inject.py``.

Starts itself again under the shim (``shim.c``, built with the system's compiler), loads everything once, and forks for
each fault. A fault is a kind of call, which one it is, and what happens: an error number, fewer bytes than asked for,
or a signal. Afterwards every output must be the old or the new one, whole; what ends with an error says so in one line;
nothing else may be left in the folder, unless the process was killed, and then the next run removes it.

    --every K     only every K-th point of each kind of call
    --journey N   only one journey
    --write       write benchmarks/results/injected_faults.md
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS = 60
KEPT = (".interrupted", ".partial", "-wal", "-shm", "-journal")
"""Endings of what a run that fails leaves on purpose."""


@dataclass(frozen=True)
class Fault:
    """What happens at a call; exactly one of the three."""

    name: str
    calls: tuple[str, ...]
    error: int = 0
    signal: int = 0
    shorter: bool = False


FAULTS = (
    Fault("short", ("read", "write"), shorter=True),
    Fault("ENOSPC", ("open", "write", "fsync", "rename", "close"), error=errno.ENOSPC),
    Fault("EIO", ("open", "read", "write", "fsync", "rename", "close", "unlink"), error=errno.EIO),
    Fault("EINTR", ("open", "read", "write", "fsync"), error=errno.EINTR),
    Fault("SIGTERM", ("open", "read", "write", "fsync", "rename", "close"), signal=signal.SIGTERM),
    Fault("SIGKILL", ("open", "read", "write", "fsync", "rename", "unlink", "close"), signal=signal.SIGKILL),
)
CALLS = ("open", "read", "write", "rename", "fsync", "unlink", "close")


def build(place: Path) -> Path:
    """Compile the shim."""
    made = place / "shim.so"
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", "-o", str(made), str(HERE / "shim.c"), "-ldl"], check=True)
    return made


class Shim:
    """The loaded shim."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(os.environ["SPANLOOM_SHIM"])
        self.library.fault_count.restype = ctypes.c_long

    def arm(self, folder: Path, call: str = "", place: int = 0, fault: Fault | None = None) -> None:
        """Watch a folder, and let a fault happen."""
        none = Fault("none", ())
        fault = none if fault is None else fault
        self.library.fault_arm(
            str(folder).encode(), call.encode(), ctypes.c_long(place), fault.error, fault.signal, int(fault.shorter)
        )

    def counts(self) -> dict[str, int]:
        """How often each call was made since."""
        return {call: int(self.library.fault_count(call.encode())) for call in CALLS}


def child(journey, folder: Path, shim: Shim, call: str = "", place: int = 0, fault: Fault | None = None) -> int:
    """Do the work of a journey in a process of its own; return how it ended, as ``os.waitstatus_to_exitcode`` says."""
    process = os.fork()
    if not process:
        code = 1
        try:
            for number, name in ((1, "said"), (2, "complained")):
                os.dup2(os.open(folder.parent / f"{folder.name}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            shim.arm(folder, call, place, fault)
            journey.run(folder)
            code = 0
        except SystemExit as end:
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
        except BaseException:
            traceback.print_exc()
        finally:
            counts = shim.counts()
            shim.library.fault_arm(b"", b"", 0, 0, 0, 0)
            sys.stdout.flush()
            sys.stderr.flush()
            Path(f"{folder}.counts").write_text(repr(counts))
            os._exit(code)
    until = time.monotonic() + SECONDS
    while True:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return -1000
        time.sleep(0.002)


def wrong(journey, folder: Path, before: Path, after: Path, code: int, fault: Fault) -> str:
    """Say what is wrong with the outcome of a run; nothing if all is well."""
    complained = Path(f"{folder}.complained").read_text(errors="replace")
    if code == -1000:
        return f"no end after {SECONDS} s"
    if "Traceback" in complained:
        return f"a traceback: {complained.strip().splitlines()[-1]}"
    if code not in (0, 1, 2, 128 + signal.SIGINT, 128 + signal.SIGTERM) and not (
        fault.signal and code == -fault.signal
    ):
        return f"exit code {code}"
    if code in (1, 2) and not complained.strip():
        return f"exit code {code} without a word"
    for name in journey.outputs:
        now = (folder / name).read_bytes() if (folder / name).exists() else None
        known = [place / name for place in (before, after)]
        if now not in [one.read_bytes() if one.exists() else None for one in known]:
            return f"{name} is neither the old nor the new one"
        if code == 0 and now != known[1].read_bytes():
            return f"{name} is not the new one, and nothing was said"
    if fault.signal != signal.SIGKILL:
        allowed = {p.relative_to(place) for place in (before, after) for p in place.rglob("*")}
        left = [p for p in folder.rglob("*") if p.relative_to(folder) not in allowed]
        left = [p for p in left if not any(part.endswith(KEPT) for part in p.relative_to(folder).parts)]
        if left:
            return f"{left[0].relative_to(folder)} is left over"
    shutil.copy(f"{folder}.said", folder / "said")
    return journey.whole(folder, code == 0)


def run(every: int, only: str, write: bool) -> int:
    """Run all faults; return the number of those that ended badly."""
    from tests_faults_journeys import JOURNEYS  # type: ignore[import-not-found]

    shim = Shim()
    table: Counter[tuple[str, str]] = Counter()
    bad: list[str] = []
    with tempfile.TemporaryDirectory(prefix="spanloom-faults-") as place:
        root = Path(os.path.realpath(place))
        for journey in JOURNEYS:
            if only not in ("", journey.name):
                continue
            before, after = root / "before", root / "after"
            for folder in (before, after):
                shutil.rmtree(folder, ignore_errors=True)
            before.mkdir()
            journey.prepare(before)
            shutil.copytree(before, after)
            code = child(journey, after, shim)
            if code:
                print(Path(f"{after}.complained").read_text(), file=sys.stderr)
                return 1
            counts = eval(Path(f"{after}.counts").read_text())
            for fault in FAULTS:
                for call in fault.calls:
                    for point in range(1, counts[call] + 1, every):
                        folder = root / "now"
                        shutil.rmtree(folder, ignore_errors=True)
                        shutil.copytree(before, folder)
                        code = child(journey, folder, shim, call, point, fault)
                        table[journey.name, fault.name] += 1
                        if what := wrong(journey, folder, before, after, code, fault):
                            bad.append(f"{journey.name}, {fault.name} at {call} {point}: {what}")
                            print(bad[-1], flush=True)
            print(f"{journey.name}: {counts}", flush=True)
    print(f"{sum(table.values())} faults, {len(bad)} with a bad end")
    if write:
        (ROOT / "benchmarks" / "results" / "injected_faults.md").write_text(page(table, bad, every))
    return len(bad)


def page(table: Counter[tuple[str, str]], bad: list[str], every: int) -> str:
    """The runs as a table: one line for each journey, how many faults of each kind, and how many ended badly."""
    names = list(dict.fromkeys(name for name, _ in table))
    kinds = [fault.name for fault in FAULTS]
    lines = [
        "# Injected faults",
        "",
        "`python tests/faults/inject.py --write`: how many system calls on files of a run got a fault, one a run"
        + (f", every {every}th" if every > 1 else "")
        + ".",
        "A bad end is an output that is neither the old nor the new one, a traceback, silence, or a file left over.",
        "",
        f"| | {' | '.join(kinds)} | all | bad ends |",
        f"|---{'|---:' * (len(kinds) + 2)}|",
    ]
    for name in [*names, "all"]:
        own = [sum(n for (j, k), n in table.items() if k == kind and name in (j, "all")) for kind in kinds]
        ends = sum(one.startswith(f"{name},") or name == "all" for one in bad)
        lines.append(f"| {name} | {' | '.join(map(str, own))} | {sum(own)} | {ends} |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Start under the shim, or run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--journey", default="")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if "SPANLOOM_SHIM" in os.environ:
        import importlib.util

        spec = importlib.util.spec_from_file_location("tests_faults_journeys", HERE / "journeys.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["tests_faults_journeys"] = module
        spec.loader.exec_module(module)
        return 1 if run(given.every, given.journey, given.write) else 0
    with tempfile.TemporaryDirectory() as place:
        shim = str(build(Path(place)))
        environment = {**os.environ, "LD_PRELOAD": shim, "SPANLOOM_SHIM": shim, "OMP_NUM_THREADS": "1"}
        return subprocess.run([sys.executable, *sys.argv], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
