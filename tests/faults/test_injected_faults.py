"""Faults of the system while files are written: the old file or the new one, whole, and a message.

A sample of the system calls of each journey gets a fault; ``python tests/faults/inject.py`` takes all of them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

INJECT = Path(__file__).parent / "inject.py"
pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="faults are injected by LD_PRELOAD"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler for the shim"),
]
EVERY = {"train": 2, "tag": 2, "convert": 2, "convert to brat": 7, "workbench": 7}


@pytest.mark.slow
@pytest.mark.parametrize("journey", EVERY)
def test_outputs_are_whole_after_a_fault(journey: str) -> None:
    words = [sys.executable, str(INJECT), "--journey", journey, "--every", str(EVERY[journey])]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert ", 0 with a bad end" in done.stdout


@pytest.mark.slow
def test_a_fault_that_does_harm_is_noticed(tmp_path: Path) -> None:
    """A journey that writes in place: with an error in the middle, its output is neither the old nor the new one."""
    (tmp_path / "journeys.py").write_text(
        "from pathlib import Path\nfrom types import SimpleNamespace\n"
        "def run(folder):\n"
        "    try:\n"
        "        with open(folder / 'a', 'wb', buffering=0) as out:\n"
        "            out.write(b'new '); out.write(b'words')\n"
        "    except OSError as error:\n"
        "        raise SystemExit(str(error))\n"
        "JOURNEYS = [SimpleNamespace(name='in place', prepare=lambda f: (f / 'a').write_text('old'), run=run,\n"
        "                            outputs=('a',), whole=lambda folder, done: '')]\n"
    )
    for name in ("inject.py", "shim.c"):
        shutil.copy(INJECT.with_name(name), tmp_path / name)
    done = subprocess.run([sys.executable, str(tmp_path / "inject.py")], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert "in place, ENOSPC at write 2: a is neither the old nor the new one" in done.stdout
