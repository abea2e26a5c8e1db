"""Mutants are what they say, and a run that would show nothing ends."""

from __future__ import annotations

import ast
import json
import sys
from argparse import Namespace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import mutants  # noqa: E402

SOURCE = '''"""Text with 1 + 1."""

LIMIT = 3


def some(values: list[int], most: int = 2) -> int:
    total = 0
    for value in values:
        if value > most and value != 7:
            continue
        total += (
            value *
            2
        )
    if total < 0:
        raise ValueError(f"{total + 1} is below 0")
    return total
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one room with one file and two tests, one of which runs its function.

    It has a name of its own, as an editable install of spanloom would come before it.
    """
    room = tmp_path / "src" / "toyloom" / "schemes"
    room.mkdir(parents=True)
    (room.parent / "__init__.py").touch()
    (room / "__init__.py").touch()
    (room / "some.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "tests").mkdir()
    test = "from toyloom.schemes.some import LIMIT, some\n\n\ndef test_sum():\n    assert some([1, 2, 3]) == 6\n"
    (tmp_path / "tests" / "test_some.py").write_text(f"{test}\n\ndef test_limit():\n    assert LIMIT == 3\n")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "PACKAGE", tmp_path / "src" / "toyloom")
    monkeypatch.setattr(mutants, "TESTS", {"schemes": ["tests"]})
    monkeypatch.setenv("PYTEST_PLUGINS", "")
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    return tmp_path / "src"


def words(found: list[mutants.Mutant]) -> set[tuple[int, str]]:
    return {(one.line, one.words) for one in found}


def test_mutants_are_one_change_each_and_none_of_texts_types_and_messages(package: Path) -> None:
    assert words(mutants.mutants("schemes")) == {
        (3, "3 -> 4"), (6, "2 -> 3"), (7, "0 -> 1"), (9, "condition turned round"), (9, "and <-> or"),
        (9, "Gt -> GtE"), (9, "NotEq -> Eq"), (9, "7 -> 8"), (10, "continue -> break"), (12, "Mult -> Add"),
        (13, "2 -> 3"), (15, "condition turned round"), (15, "Lt -> LtE"), (15, "0 -> 1"),
    }  # fmt: skip


def test_a_mutant_differs_from_the_source_in_its_place_alone(package: Path) -> None:
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    for one in mutants.mutants("schemes"):
        made = mutants.mutated(one).splitlines()
        assert len(made) == len(plain)
        assert sum(a != b for a, b in zip(made, plain, strict=True)) == 1, one


def test_each_operator_of_a_chain_is_changed_by_itself(package: Path) -> None:
    (package / "toyloom" / "schemes" / "some.py").write_text("def fits(x):\n    return 1 < x < x\n", encoding="utf-8")
    made = {one.words: mutants.mutated(one).splitlines()[-1].strip() for one in mutants.mutants("schemes")}
    assert made == {
        "Lt -> LtE": "return 1 <= x < x",
        "Lt -> LtE, number 2": "return 1 < x <= x",
        "1 -> 2": "return 2 < x < x",
    }


def test_tests_that_run_a_statement_are_found_and_all_for_what_runs_at_import(package: Path) -> None:
    run = mutants.unchanged(["schemes"], package)
    by_place = {(one.line, one.words): mutants.tests_of(one, "schemes", run) for one in mutants.mutants("schemes")}
    assert by_place[3, "3 -> 4"] == ["tests"]
    assert by_place[6, "2 -> 3"] == by_place[13, "2 -> 3"] == ["tests/test_some.py::test_sum"]
    assert by_place[10, "continue -> break"] == ["tests/test_some.py::test_sum"]


def test_what_a_test_notices_is_killed_and_the_source_put_back(package: Path) -> None:
    found = {(one.line, one.words): one for one in mutants.mutants("schemes")}
    assert mutants.killed(found[12, "Mult -> Add"], ["tests"], package, 60)
    assert not mutants.killed(found[10, "continue -> break"], ["tests"], package, 60)
    assert not mutants.killed(found[12, "Mult -> Add"], [], package, 60)
    assert (package / "toyloom" / "schemes" / "some.py").read_text(encoding="utf-8") == SOURCE


def test_a_mutant_that_never_ends_is_killed(package: Path) -> None:
    """By the processor time that it takes."""
    (package.parent / "tests" / "test_some.py").write_text("def test_it():\n    while True:\n        pass\n")
    assert mutants.killed(mutants.mutants("schemes")[0], ["tests"], package, 2)


def test_tests_that_fail_without_a_change_end_the_run(package: Path) -> None:
    (package.parent / "tests" / "test_bad.py").write_text("def test_bad():\n    assert 0\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="tests of schemes fail without any change"):
        mutants.unchanged(["schemes"], package)


def test_a_package_that_the_copy_does_not_hide_ends_the_run(tmp_path: Path) -> None:
    """An editable install comes before the path; here the folder has no copy at all, which looks the same."""
    with pytest.raises(SystemExit, match="not with the copy: is the package installed as editable"):
        mutants.check(tmp_path)


def test_a_copy_that_comes_first_passes(package: Path) -> None:
    mutants.check(package)


def test_the_alive_are_tried_again_and_lines_that_moved_are_said(package: Path) -> None:
    given = Namespace(rooms=["schemes"], only=None, alive=True, sample=None)
    before = {"schemes": {"alive": [["schemes/some.py:10", "continue -> break"]]}}
    assert words(mutants.chosen(given, before)["schemes"]) == {(10, "continue -> break")}
    before["schemes"]["alive"].append(["schemes/some.py:11", "continue -> break"])
    with pytest.raises(SystemExit, match=r"schemes/some\.py:11 is another line now"):
        mutants.chosen(given, before)


def test_one_line_or_one_file_can_be_chosen(package: Path) -> None:
    given = Namespace(rooms=["schemes"], only="schemes/some.py:15", alive=False, sample=None)
    assert {line for line, _ in words(mutants.chosen(given, {})["schemes"])} == {15}
    given.only = "schemes/some.py"
    assert len(mutants.chosen(given, {})["schemes"]) == 14
    given.only = "schemes/other.py"
    assert mutants.chosen(given, {}) == {}


def test_mutants_that_do_what_the_source_does_are_not_tried(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "ALIKE", {("schemes/some.py", "if total < 0:", "Lt -> LtE"): "why"})
    given = Namespace(rooms=["schemes"], only="schemes/some.py:15", alive=False, sample=None)
    assert words(mutants.chosen(given, {})["schemes"]) == {(15, "condition turned round"), (15, "0 -> 1")}


def test_survivors_that_are_tried_again_keep_the_count_of_the_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "commit", lambda: "new")
    monkeypatch.setattr(mutants, "mutants", lambda room: [None] * 50)
    before = {"tried": 40, "alive": [["a:1", "x"], ["a:2", "y"], ["a:3", "z"]], "commit": "old"}
    made = mutants.row("schemes", 2, [("a:1", "x")], before)  # one of the three turned out to be alike
    assert made == {"mutants": 50, "tried": 39, "alive": [("a:1", "x")], "commit": "old, the alive again new"}
    page = mutants.page({"schemes": json.loads(json.dumps(made))})
    assert "| schemes | 50 | 39 | 38 | 97.4 | old, the alive again new |" in page
    assert "- `a:1` x" in page


def test_every_mutant_that_is_called_alike_exists() -> None:
    """The line and the change are those of the source as it is."""
    every = {
        (str(one.path.relative_to(mutants.PACKAGE)), one.words)
        for room in mutants.TESTS
        for one in mutants.mutants(room)
    }
    for file, code, change in mutants.ALIKE:
        lines = [line.strip() for line in (mutants.PACKAGE / file).read_text(encoding="utf-8").splitlines()]
        assert code in lines, (file, code)
        assert (file, change) in every


def test_checks_that_cannot_fail_are_no_mutants() -> None:
    """``zip(…, strict=True)`` and frozen dataclasses forbid what nobody does; the condition beside them is tried."""
    found = [one for one in mutants.mutants("decisions") if one.place.startswith("decisions/combine.py")]
    lines = (mutants.PACKAGE / "decisions" / "combine.py").read_text(encoding="utf-8").splitlines()
    checks = [one for one in found if "strict=True" in lines[one.line - 1] and one.words == "True -> False"]
    assert checks
    assert all(one.alike() for one in checks)
    assert any(not one.alike() for one in found)
