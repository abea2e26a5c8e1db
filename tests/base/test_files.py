"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spanloom.base import files, parts
from spanloom.base.files import whole_file, whole_files


def test_the_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with whole_file(path) as out:
        out.write("ä\n")
        out.flush()
        assert not path.exists()
    assert path.read_bytes() == "ä\n".encode()
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, OSError])
def test_a_failed_block_leaves_the_old_file_and_nothing_else(tmp_path: Path, failure: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_and_fail() -> None:
        with whole_file(path) as out:
            out.write("new")
            raise failure

    with pytest.raises(failure):
        write_and_fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_permissions(tmp_path: Path) -> None:
    """A new file has those of any new file; a replaced one keeps its own."""
    plain, new, old = tmp_path / "plain", tmp_path / "new", tmp_path / "old"
    plain.touch()
    old.touch(0o600)
    for path in (new, old):
        with whole_file(path) as out:
            out.write("x")
    assert new.stat().st_mode == plain.stat().st_mode
    assert old.stat().st_mode & 0o777 == 0o600


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "a.txt", tmp_path / "link"
    link.symlink_to(target)
    for content in ("first", "second"):
        with whole_file(link) as out:
            out.write(content)
        assert link.is_symlink()
        assert target.read_text() == content


def test_what_is_not_a_file_is_written_to_and_stays(tmp_path: Path) -> None:
    """A pipe is not replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with whole_file(pipe, "wb") as out:
            out.write(b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device_raises_and_stays() -> None:
    with pytest.raises(OSError, match="No space left"), whole_file("/dev/full", "wb") as out:
        out.write(b"x" * 100_000)
    assert Path("/dev/full").is_char_device()


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "a.txt"
    path.write_text("old")
    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught, whole_file(path) as out:
        out.write("new")
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_missing_folder_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "a.txt"
    with pytest.raises(FileNotFoundError) as caught, whole_file(path) as out:
        out.write("new")
    assert caught.value.filename == str(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError) as caught, whole_file(path) as out:
            out.write("new")
    finally:
        tmp_path.chmod(0o700)
    assert caught.value.filename == str(path)


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), whole_file(tmp_path) as out:
        out.write("new")


def test_names_as_long_as_the_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 255)
    with whole_file(path) as out:
        out.write("x")
    assert path.read_text() == "x"


def _stale(folder: Path) -> Path:
    """What a process that was killed leaves: the name has its number, and no such process is there."""
    return folder / parts.part_name().replace(f"-{os.getpid()}-", "-4194999999-")


def test_what_a_killed_process_left_goes_at_the_next_writing(tmp_path: Path) -> None:
    """Files and folders; those of living processes, of other machines and of other programs stay."""
    stale, folder = _stale(tmp_path), _stale(tmp_path)
    stale.write_text("half")
    (folder / "in").mkdir(parents=True)
    living = tmp_path / parts.part_name()
    elsewhere = tmp_path / _stale(tmp_path).name.replace(parts._host(), "00000000")
    other = tmp_path / ".download.part"
    for path in (living, elsewhere, other):
        path.write_text("mine")
    with whole_file(tmp_path / "a.txt") as out:
        out.write("x")
    assert {p.name for p in tmp_path.iterdir()} == {"a.txt", living.name, elsewhere.name, other.name}


def test_a_killed_writer_is_cleaned_up_after(tmp_path: Path) -> None:
    """The whole story, with a real process and a real SIGKILL."""
    code = f"""
import os, signal
from spanloom.base.files import whole_file
with whole_file({str(tmp_path / "a.txt")!r}) as out:
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code], check=False)
    assert [p.suffix for p in tmp_path.iterdir()] == [".part"]
    with whole_file(tmp_path / "b.txt") as out:
        out.write("x")
    assert os.listdir(tmp_path) == ["b.txt"]


def test_several_files_come_all_or_none(tmp_path: Path) -> None:
    target = tmp_path / "out"
    (target / "old").mkdir(parents=True)
    (target / "old" / "a.txt").write_text("old")

    def fail() -> None:
        with whole_files(target) as place:
            (place / "b.txt").write_text("new")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert os.listdir(tmp_path) == ["out"]
    assert os.listdir(target) == ["old"]
    with whole_files(target) as place:
        (place / "sub").mkdir()
        (place / "sub" / "b.txt").write_text("new")
    assert (target / "old" / "a.txt").read_text() == "old"
    assert (target / "sub" / "b.txt").read_text() == "new"


def test_errors_never_show_temporary_names(tmp_path: Path) -> None:
    long = "x" * 300
    with pytest.raises(OSError, match="too long") as caught, whole_files(tmp_path / "out") as place:
        (place / long).write_text("")
    assert caught.value.filename == str(tmp_path / "out" / long)
    with pytest.raises(OSError, match="No such file") as caught, whole_file(tmp_path / "no" / "a.txt") as out:
        out.write("")
    assert caught.value.filename == str(tmp_path / "no" / "a.txt")


def test_a_folder_that_cannot_be_written_in_is_found_before_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the folder above those that would be made; what the system says of permissions is believed."""
    (tmp_path / "closed").mkdir()
    files.check_place(tmp_path / "closed" / "a.txt")
    monkeypatch.setattr(files.os, "access", lambda place, _: Path(place).name != "closed")
    for path, folder in (("closed/a.txt", False), ("closed/new/out", True), ("closed", True)):
        with pytest.raises(PermissionError, match="cannot write in this folder") as caught:
            files.check_place(tmp_path / path, folder=folder)
        assert caught.value.filename == str(tmp_path / "closed")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not say which processes have ended")
def test_what_a_process_has_left_goes_before_its_parent_asks_how_it_ended(tmp_path: Path) -> None:
    """A killed worker keeps its number until then."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    while Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    left = tmp_path / parts.part_name().replace(f"-{os.getpid()}-", f"-{child.pid}-")
    left.touch()
    parts.sweep(tmp_path)
    assert not left.exists()
    child.wait()
