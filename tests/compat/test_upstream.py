"""sklearn-crfsuite's own tests, fetched from the registry, on our class under its name; and its tutorial's script."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from extras import needs

pytestmark = pytest.mark.extras
needs("sklearn_crfsuite", "sklearn", "seqeval")

from benchmarks.crfsuite_dropin import SIDES, Sentence, measure  # noqa: E402
from spanloom import read  # noqa: E402
from spanloom.corpus.tags import to_tags  # noqa: E402

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


def outermost(split: str) -> list[tuple[Sentence, list[str]]]:
    """Words, parts of speech and labels of the longest mentions."""
    out = []
    for s in read(f"sample:{split}").sentences():
        kept: list[tuple[str, int, int]] = []
        for m in sorted((m for m in s.mentions if not m.discontinuous), key=lambda m: m.start - m.end):
            if all(m.end <= start or end <= m.start for _, start, end in kept):
                kept.append((m.label, m.start, m.end))
        out.append((list(zip(s.tokens, s.columns["pos"], strict=True)), to_tags(kept, len(s), "IOB2")))
    return out


def test_the_tutorials_script_runs_with_one_changed_line(tmp_path):
    """The script of the benchmark on the sample corpus: F1 within 0.3, and the same with one thread as with all."""
    (tmp_path / "sentences.json").write_text(json.dumps([outermost("train"), outermost("dev") + outermost("test")]))
    theirs, ours, single = (measure(side, tmp_path / "sentences.json") for side in SIDES)
    assert theirs["f1"] > 0.5
    assert ours["f1"] == pytest.approx(theirs["f1"], abs=0.003)
    assert ours["loss"] < 1.005 * theirs["loss"]
    assert ours["labels"] == single["labels"]
