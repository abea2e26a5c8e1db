"""The project of the workbench: changes, undo and redo, versions, locks, what counts as known, and crashes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.base.errors import SpanloomError
from spanloom.corpus import Document, Known, Mention, Sentence
from spanloom.workbench.changes import Change
from spanloom.workbench.errors import Conflict, Locked, NotStored, Refused
from spanloom.workbench.gold import gold_document, gold_documents
from spanloom.workbench.locks import Locks
from spanloom.workbench.project import Project
from spanloom.workbench.sheets import Sheet

A, B, C = Mention("A", ((0, 2),)), Mention("B", ((1, 3),)), Mention("A", ((0, 1), (2, 3)))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = Project(tmp_path / "p")
    project.add([Document([Sentence(["a", "b", "c", "d"]), Sentence(["e", "f"])], "one")])
    yield project
    project.close()


def test_changes_add_up_and_are_taken_back_in_order(project: Project) -> None:
    change = project.sheets.change
    change(1, "ann", 0, "add", Change(add=(A, B)))
    change(1, "ann", 1, "relabel", Change(remove=(A,), add=(C,)))
    sheet = change(1, "ann", 2, "confirm", Change(confirm=(0,)))
    assert (sheet.mentions, sheet.confirmed, sheet.version) == ({B, C}, {0}, 3)
    assert project.sheets.undo(1, "ann", 3).confirmed == set()
    assert project.sheets.undo(1, "ann", 4).mentions == {A, B}
    sheet = project.sheets.redo(1, "ann", 5)
    assert (sheet.mentions, sheet.undo, sheet.redo) == ({B, C}, True, True)
    sheet = change(1, "ann", 6, "delete", Change(remove=(B,)))
    assert (sheet.mentions, sheet.redo) == ({C}, False)  # a new change: nothing is left to redo
    trail = [(one["kind"], one["state"]) for one in project.sheets.trail(1)]
    assert trail[::-1] == [
        ("add", "done"), ("relabel", "done"), ("confirm", "dropped"), ("undo", "step"), ("undo", "step"),
        ("redo", "step"), ("delete", "done"),
    ]  # fmt: skip


@settings(max_examples=30)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["add", "remove", "reject", "confirm", "undo", "redo"]), st.integers(0, 2))
    )
)
def test_undo_and_redo_are_those_of_a_list_of_states(tmp_path_factory: pytest.TempPathFactory, steps: object) -> None:
    """Against an oracle that keeps every state whole."""
    project = Project(tmp_path_factory.mktemp("p"))
    project.add([Document([Sentence(["a", "b", "c", "d"])] * 3)])
    past: list[tuple[frozenset[Mention], frozenset[Mention], frozenset[int]]] = [(frozenset(),) * 3]  # type: ignore[list-item]
    future: list[tuple[frozenset[Mention], frozenset[Mention], frozenset[int]]] = []
    for kind, which in steps:  # type: ignore[attr-defined]
        version = project.sheets.get(1, "x").version
        one = (A, B, C)[which]
        there, gone, done = past[-1]
        if kind == "undo":
            if len(past) > 1:
                future.append(past.pop())
                project.sheets.undo(1, "x", version)
        elif kind == "redo":
            if future:
                past.append(future.pop())
                project.sheets.redo(1, "x", version)
        elif kind == "remove" and one not in there:
            with pytest.raises(Refused):
                project.sheets.change(1, "x", version, "delete", Change(remove=(one,)))
        else:
            change, new = {
                "add": (Change(add=(one,)), (there | {one}, gone if one in there else gone - {one}, done)),
                "remove": (Change(remove=(one,)), (there - {one}, gone, done)),
                "reject": (Change(reject=(one,)), (there, gone | {one}, done)),
                "confirm": (Change(confirm=(which,)), (there, gone, done | {which})),
            }[kind]
            project.sheets.change(1, "x", version, "add", change)
            if new != past[-1]:
                past.append(new)
                future = []
        sheet = project.sheets.get(1, "x")
        assert (sheet.mentions, sheet.rejected, sheet.confirmed) == past[-1]
        assert (sheet.undo, sheet.redo) == (len(past) > 1, bool(future))
    project.close()


def test_a_version_that_is_past_is_a_conflict_and_changes_nothing(project: Project) -> None:
    project.sheets.change(1, "ann", 0, "add", Change(add=(A,)))
    with pytest.raises(Conflict, match="at version 1, and you saw version 0") as caught:
        project.sheets.change(1, "ann", 0, "add", Change(add=(B,)))
    assert caught.value.details["sheet"]["version"] == 1
    assert project.sheets.get(1, "ann").mentions == {A}
    assert project.sheets.get(1, "bea").mentions == set()  # everybody has a sheet of their own


def test_of_many_threads_one_wins_each_version(project: Project) -> None:
    """Eight threads change one sheet and read it meanwhile: every version is made once, and nothing is lost."""
    made: list[tuple[int, Mention]] = []

    def work(thread: int) -> None:
        for k in range(12):
            mention = Mention(f"T{thread}-{k}", ((0, 1),))
            while True:
                version = project.sheets.get(1, "ann").version
                try:
                    sheet = project.sheets.change(1, "ann", version, "add", Change(add=(mention,)))
                except Conflict:
                    continue
                made.append((sheet.version, mention))
                break

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(version for version, _ in made) == list(range(1, 97))
    assert project.sheets.get(1, "ann").mentions == {mention for _, mention in made}
    assert [one["version"] for one in project.sheets.trail(1)] == list(range(96, 0, -1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Change(add=(Mention("A", ((3, 5),)),)), "runs over the end of a sentence"),
        (Change(add=(Mention("A", ((0, 1), (5, 6))),)), "runs over the end of a sentence"),
        (Change(add=(Mention("A", ((5, 7),)),)), "ends after the last of 6 tokens"),
        (Change(confirm=(2,)), "there is no sentence 2"),
        (Change(remove=(A,)), "there is no mention A"),
    ],
)
def test_what_cannot_be_is_refused(project: Project, change: Change, message: str) -> None:
    with pytest.raises(Refused, match=message):
        project.sheets.change(1, "ann", 0, "add", change)


def test_annotators_start_from_what_was_imported(project: Project) -> None:
    project.add([Document([Sentence(["a", "b", "c"], [A])], "gold")])
    sheet = project.sheets.change(2, "ann", 0, "delete", Change(remove=(A,)))
    assert (sheet.mentions, sheet.confirmed) == (set(), {0})
    assert project.sheets.get(2, "bea").mentions == {A}
    assert project.sheets.get(2, "imported").mentions == {A}


def test_what_is_known() -> None:
    """Adjudicated before agreed before imported; what annotators disagree on is not known."""
    doc = Document([Sentence(["a", "b", "c", "d"]), Sentence(["e", "f"])])
    one, two = Sheet(mentions={A, B}, confirmed={0}), Sheet(mentions={A}, confirmed={0})
    imported = Sheet(mentions={C}, confirmed={0, 1})

    def known(**sheets: Sheet) -> list[tuple[list[Mention], Known | None]]:
        return [(s.mentions, s.known) for s in gold_document(doc, sheets).sentences]

    some = Known(labels=())
    assert known(imported=imported) == [([C], None), ([], None)]
    assert known(imported=imported, one=one) == [([A, B], None), ([], some)]
    assert known(one=one, two=two) == [([A], some), ([], some)]
    assert known(one=one, two=two, adjudicated=one) == [([A, B], None), ([], some)]
    assert known(one=Sheet(mentions={A})) == [([A], some), ([], some)]


def test_only_sentences_of_which_something_is_known_are_learned_from(project: Project) -> None:
    project.sheets.change(1, "ann", 0, "add", Change(add=(A,)))
    project.add([Document([Sentence(["x"])], "untouched")])
    (doc,) = gold_documents(project.documents, project.sheets)
    assert [s.tokens for s in doc.sentences] == [["a", "b", "c", "d"]]


def test_held_out_documents_are_kept_apart(project: Project) -> None:
    project.add([Document([Sentence(["a", "b", "c"], [A])], "kept")], held_out=True)
    names = {
        held: [d.id for d in gold_documents(project.documents, project.sheets, held_out=held)] for held in (True, False)
    }
    assert names == {True: ["kept"], False: []}


def test_locks_are_held_until_the_lease_ends() -> None:
    now = [0.0]
    locks = Locks(lease=30, clock=lambda: now[0])
    locks.check((1, "ann"), "page 1")
    with pytest.raises(Locked, match="another page"):
        locks.check((1, "ann"), "page 2")
    now[0] = 29.0
    locks.check((1, "ann"), "page 1")  # and holds it longer
    now[0] = 58.0
    assert not locks.take((1, "ann"), "page 2")
    assert locks.busy() == {1: ["ann"]}
    now[0] = 59.0
    assert locks.take((1, "ann"), "page 2")
    assert locks.take((1, "ann"), "page 1", by_force=True)
    locks.release("page 1")
    assert locks.busy() == {}


def test_a_project_is_open_once(project: Project) -> None:
    with pytest.raises(SpanloomError, match="open in another process"):
        Project(project.folder)


def test_names_of_documents_stay_apart(project: Project) -> None:
    project.add([Document([Sentence(["x"])], "one"), Document([Sentence(["y"])], "one")])
    assert [row[0] for row in project.db.rows("SELECT name FROM documents")] == ["one", "one (2)", "one (3)"]


WRITER = """
import sys
from spanloom import Mention
from spanloom.workbench.changes import Change
from spanloom.workbench.project import Project
project = Project(sys.argv[1])
version = project.sheets.get(1, "ann").version
while True:
    project.sheets.change(1, "ann", version, "add", Change(add=(Mention(f"L{version}", ((0, 1),)),)))
    version += 1
    print(version, flush=True)
"""


@pytest.mark.slow
def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    """The process is killed in the middle of changes, again and again; every change that it reported is there."""
    folder = tmp_path / "p"
    project = Project(folder)
    project.add([Document([Sentence(["a", "b"])])])
    project.close()
    acknowledged = 0
    for kill_after in (1, 7, 20):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for _ in range(kill_after):
            acknowledged = int(child.stdout.readline())
        os.kill(child.pid, signal.SIGKILL)
        acknowledged = max([acknowledged, *map(int, child.stdout.read().split())])
        child.wait()
        child.stdout.close()
        project = Project(folder)
        sheet = project.sheets.get(1, "ann")
        assert sheet.version in (acknowledged, acknowledged + 1)  # the last one may be stored and not reported
        assert {m.label for m in sheet.mentions} == {f"L{k}" for k in range(sheet.version)}
        assert len(project.sheets.trail(1)) == sheet.version
        project.close()


def test_a_full_disk_is_said_and_nothing_is_stored(tmp_path: Path) -> None:
    """SQLite's own limit of pages stands for the disk; when there is room again, work goes on."""
    project = Project(tmp_path / "p")
    try:
        project.add([Document([Sentence(["a", "b"])], id="one")])
        pages = project.db.value("PRAGMA page_count")
        project.db.value(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(NotStored, match="database or disk is full; nothing was stored") as caught:
            project.add([Document([Sentence(["word"] * 50_000)], id="two")])
        assert caught.value.status == 507
        assert project.db.value("SELECT COUNT(*) FROM documents") == 1
        project.db.value("PRAGMA max_page_count = 1000000")
        project.add([Document([Sentence(["word"] * 50_000)], id="two")])
        assert project.db.value("SELECT COUNT(*) FROM documents") == 2
    finally:
        project.close()
