"""``spanloom cluster``."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from spanloom.cli.app import app
from spanloom.features import read_resource
from spanloom.features.brown import train_clusters


def test_clusters_are_written_as_the_library_finds_them(tmp_path):
    """The usual file, with the clusters of ``train_clusters``."""
    lines = ["the cat ran", "the dog ran", "a cat sat", "a dog sat"]
    (tmp_path / "text").write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(app, ["cluster", str(tmp_path / "text"), "-c", "3", "-o", str(tmp_path / "paths")])
    assert done.exit_code == 0, done.output
    assert read_resource(tmp_path / "paths", "brown") == train_clusters(lines, 3).table()


@pytest.mark.parametrize("command", ["cluster", "vectors"])
def test_a_folder_is_no_text(tmp_path, command, monkeypatch):
    """That is what is wrong, not that the output lies in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paths").write_text("0\ta\t1\n")
    done = CliRunner().invoke(app, [command, ".", "-o", "paths"])
    assert done.exit_code == 2
    assert "'.' is a directory" in done.output
