"""``spanloom watch``: a file is drawn again when it is saved, and Ctrl-C ends it quietly."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spanloom import Mention, Recognizer, Sentence
from spanloom.cli.watch import saved


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("watch") / "dna.loom"
    train = [Sentence(["the", w, "gene"], [Mention("DNA", ((1, 3),))]) for w in ("lacZ", "sonic", "p53")]
    Recognizer("chain").fit(train).save(path)
    return path


def test_texts_come_when_they_change(tmp_path: Path) -> None:
    """Each save once; a file that is replaced or away for a moment is waited for; other encodings are said."""
    path = tmp_path / "a.txt"
    path.write_text("one")
    steps = iter(
        [
            lambda: None,
            lambda: path.write_text("two!"),
            path.unlink,
            lambda: path.write_text("three"),
            lambda: path.write_bytes(b"\xff\xfe broken"),
            lambda: path.write_bytes("\ufefffour".encode()),
        ]
    )

    def sleep(seconds: float) -> None:
        assert seconds == 0.25
        next(steps)()

    found = saved(path, 0.25, sleep)
    assert [next(found) for _ in range(4)] == ["one", "two!", "three", "four"]
    with pytest.raises(FileNotFoundError):
        next(saved(tmp_path / "absent.txt", 0.1))


def test_the_command_tags_as_you_save(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("The BRCA1 gene.")
    command = [sys.executable, "-m", "spanloom", "watch", str(model), str(text), "--every", "0.1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        first = until(process, "Ctrl-C ends")
        assert "DNA" in first
        assert "1 mentions" in first
        text.write_text("Nothing here. And the sonic gene, the p53 gene.")
        assert "the sonic gene" in until(process, "Ctrl-C ends")
        process.send_signal(signal.SIGTERM)  # taken as Ctrl-C; where tests run in the background, that one is ignored
        _, told = process.communicate(timeout=30)
        assert (process.returncode, told) == (0, "")
    finally:
        process.kill()


def until(process: subprocess.Popen[str], words: str) -> str:
    """Read lines up to one with these words, or to the end."""
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if words in line:
            break
    return seen
