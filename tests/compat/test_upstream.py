"""sklearn-crfsuite's own tests, fetched from the registry, on our class under its name. Nothing of them is kept."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from extras import needs

pytestmark = pytest.mark.extras
needs("sklearn_crfsuite", "sklearn")

ALIAS = """
import sys
import pytest
import spanloom.compat
sys.modules["sklearn_crfsuite"] = spanloom.compat
sys.modules["sklearn_crfsuite.metrics"] = spanloom.compat.metrics
sys.modules["sklearn_crfsuite.scorers"] = spanloom.compat.scorers
code = pytest.main(["-q", "-p", "no:cacheprovider", "tests"])
assert "pycrfsuite" not in sys.modules, "the other library was at work"
sys.exit(code)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """The newest release, unpacked."""
    folder = tmp_path_factory.mktemp("upstream")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation"]
    command += ["--no-binary", "sklearn-crfsuite", "-d", str(folder), "sklearn-crfsuite"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    archives = list(folder.glob("*.tar.gz"))
    if not archives:
        pytest.skip(f"the registry does not give the source: {done.stderr.strip()[-300:]}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    (found,) = (path for path in folder.iterdir() if path.is_dir())
    return found


def test_the_tests_of_sklearn_crfsuite_pass_unchanged(source):
    done = subprocess.run([sys.executable, "-c", ALIAS], cwd=source, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert "failed" not in done.stdout
