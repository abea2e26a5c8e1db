"""Mutation testing: small changes of the source, each of which some test must notice.

::

    python tools/mutants.py [--sample N] [--write] [ROOM...]      rooms: schemes decisions evaluation inference
    python tools/mutants.py --only evaluation/score.py:31         the mutants of a line, or of a file
    python tools/mutants.py --alive --write                       those again that no test noticed the last time

A mutant is one change of one place: a comparison, an arithmetic or logical operator, a constant, a condition. It is put
into a copy of the package, and those tests run that run its line (``tools/lines_run.py`` finds them among those of the
chosen rooms), the quickest first, until one fails. Mutants that no test notices are listed. With ``--sample`` some are
drawn of each room, by a fixed seed; the share killed is then an estimate. Mutants that do what the source does are in
``tools/mutants_alike.toml``, with the reason; they are not tried.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tables import RESULTS, commit  # noqa: E402

CONTRACT = ["tests/contract", "tests/test_probabilities.py", "tests/test_doctests.py"]
COMMANDS = ["tests/cli/test_evaluate_command.py", "tests/cli/test_compare_command.py"]
TESTS = {
    "schemes": ["tests/schemes", "tests/inference/test_readings.py", "tests/models/test_partial.py", *CONTRACT],
    "decisions": ["tests/decisions", *CONTRACT],
    "evaluation": ["tests/evaluation", "tests/test_doctests.py", *COMMANDS],
    "inference": ["tests/inference", *CONTRACT],
}
PACKAGE = ROOT / "src" / "spanloom"
ALIKE = {
    (one["file"], one["code"], one["change"]): one["why"]
    for one in tomllib.loads((ROOT / "tools" / "mutants_alike.toml").read_text(encoding="utf-8"))["mutant"]
}
SECONDS = 1200
"""Processor time that all tests may take; those of a mutant get thrice what they took, and half a minute."""
COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
CHECKS = ("strict", "slots", "frozen")
"""Arguments that forbid what nobody does."""
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the place in its tree, which of the changes there, and words for it."""

    path: Path
    node: int
    line: int
    words: str

    @property
    def place(self) -> str:
        """File and line, from the rooms' folder on."""
        return f"{self.path.relative_to(PACKAGE)}:{self.line}"

    def alike(self) -> str:
        """Why it does what the source does; empty if it does not."""
        code, checks = _lines_and_checks(self.path)
        if self.node in checks:
            return "zip is told to check what cannot be otherwise, a dataclass not to be changed"
        return ALIKE.get((str(self.path.relative_to(PACKAGE)), code[self.line - 1].strip(), self.words), "")


@functools.cache
def _lines_and_checks(path: Path) -> tuple[list[str], frozenset[int]]:
    """The lines of a file, and the numbers of those nodes that are arguments of ``CHECKS``."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    values = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.keyword) and one.arg in CHECKS}
    return source.splitlines(), frozenset(k for k, node in enumerate(nodes(tree)) if id(node) in values)


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each change of one node: words, and the node instead."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            made = copy.deepcopy(node)
            made.ops[k] = COMPARE[type(operator)]()
            place = f", number {k + 1}" if k else ""  # of a chain, which may have the same operator twice
            yield f"{type(operator).__name__} -> {type(made.ops[k]).__name__}{place}", made
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        made_op = copy.deepcopy(node)
        made_op.op = ARITHMETIC[type(node.op)]()
        yield f"{type(node.op).__name__} -> {type(made_op.op).__name__}", made_op
    elif isinstance(node, ast.BoolOp):
        made_bool = copy.deepcopy(node)
        made_bool.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "and <-> or", made_bool
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not dropped", copy.deepcopy(node.operand)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{node.value} -> {value}", ast.Constant(value)
    elif isinstance(node, ast.If | ast.IfExp):
        made_if = copy.deepcopy(node)
        made_if.test = ast.UnaryOp(ast.Not(), made_if.test)
        yield "condition turned round", made_if
    elif isinstance(node, ast.Break):
        yield "break -> continue", ast.Continue()
    elif isinstance(node, ast.Continue):
        yield "continue -> break", ast.Break()


def nodes(tree: ast.Module) -> list[ast.AST]:
    """The nodes that can be changed, in the order of the file; not docstrings, types or messages of errors."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        inner: list[ast.AST | None] = []
        if isinstance(node, ast.Raise):
            inner = [node]
        elif isinstance(node, ast.AnnAssign):
            inner = [node.annotation]
        elif isinstance(node, ast.FunctionDef):
            inner = [node.returns, *(a.annotation for a in ast.walk(node.args) if isinstance(a, ast.arg))]
        for one in inner:
            if one is not None:
                skipped |= {id(n) for n in ast.walk(one)}
    return [node for node in ast.walk(tree) if id(node) not in skipped and any(True for _ in changes(node))]


def mutants(room: str) -> list[Mutant]:
    """Every mutant of a room."""
    found = []
    for path in sorted((PACKAGE / room).rglob("*.py")):
        for k, node in enumerate(nodes(ast.parse(path.read_text(encoding="utf-8")))):
            for words, _ in changes(node):
                found.append(Mutant(path, k, getattr(node, "lineno", 0), words))
    return found


def mutated(one: Mutant) -> str:
    """The source of a file with one change."""
    tree = ast.parse(one.path.read_text(encoding="utf-8"))
    node = nodes(tree)[one.node]
    instead = next(made for words, made in changes(node) if words == one.words)

    class Replace(ast.NodeTransformer):
        def visit(self, at: ast.AST) -> ast.AST:
            return ast.copy_location(instead, at) if at is node else self.generic_visit(at)

    return ast.unparse(ast.fix_missing_locations(Replace().visit(tree)))


def lines_of(one: Mutant) -> range | None:
    """The lines of a mutant's statement, or of the function whose default it is; None if everything may see it."""
    tree = ast.parse(one.path.read_text(encoding="utf-8"))
    at = nodes(tree)[one.node]
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    while not isinstance(at, ast.stmt):
        at = parents[id(at)]
    inside: ast.AST = at
    while not isinstance(inside, ast.Module | ast.FunctionDef):
        inside = parents[id(inside)]
    if isinstance(at, ast.FunctionDef):
        return range(at.body[0].lineno, (at.end_lineno or at.lineno) + 1)
    if isinstance(at, ast.ClassDef) or isinstance(inside, ast.Module):
        return None
    body = getattr(at, "body", None)
    return range(at.lineno, body[0].lineno if body else (at.end_lineno or at.lineno) + 1)


def tests_of(one: Mutant, room: str, run: dict[str, Any]) -> list[str]:
    """The tests that run the statement of a mutant, the quickest first; all of the room if any may see it."""
    numbers = lines_of(one)
    if numbers is None:
        return TESTS[room]
    name = one.path.relative_to(PACKAGE)
    found = {test for number in numbers for test in run["lines"].get(f"{name}:{number}", [])}
    return sorted(found, key=lambda test: (run["seconds"][test], test))


def killed(one: Mutant, tests: list[str], package: Path, seconds: int) -> bool:
    """Whether a test fails with the mutant, or takes too long."""
    if not tests:
        return False
    place = package / one.path.relative_to(ROOT / "src")
    kept = place.read_text(encoding="utf-8")
    place.write_text(mutated(one), encoding="utf-8")
    try:
        return fail(tests, package, seconds)
    finally:
        place.write_text(kept, encoding="utf-8")


def fail(tests: list[str], package: Path, seconds: int, *words: str, **environment: str) -> bool:
    """Whether one of some tests fails with the copy of the package, or they take more seconds of a processor."""
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header", "-W", "ignore", *words]

    def limit() -> None:  # processor time, as a busy machine must not kill a mutant
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    command = [sys.executable, "-m", "pytest", *options, *tests]
    try:
        done = subprocess.run(command, preexec_fn=limit, timeout=20 * seconds, **_with(package, **environment))
    except subprocess.TimeoutExpired:  # it waits for something that never comes
        return True
    return done.returncode != 0


def check(package: Path) -> None:
    """End if tests do not run with the copy: then nothing would be shown."""
    where = f"import {PACKAGE.name} as found; print(found.__file__)"
    found = subprocess.run([sys.executable, "-c", where], text=True, **_with(package)).stdout.strip()
    if Path(found) != package / PACKAGE.name / "__init__.py":
        sys.exit(
            f"tests run with {found}, not with the copy: is the package installed as editable? pip install . first"
        )


def unchanged(rooms: list[str], package: Path) -> dict[str, Any]:
    """Return which tests run which lines of some rooms; end if one fails with the source as it is."""
    to = package / "lines.json"
    inner = {"SPANLOOM_LINES_OF": str(package / PACKAGE.name), "SPANLOOM_LINES_TO": str(to)}
    tests = list(dict.fromkeys(test for room in rooms for test in TESTS[room]))
    if fail(tests, package, SECONDS, "-p", "lines_run", SPANLOOM_LINES_IN=" ".join(rooms), **inner):
        sys.exit(f"the tests of {', '.join(rooms)} fail without any change, or take more than {SECONDS} s")
    run: dict[str, Any] = json.loads(to.read_text(encoding="utf-8"))
    return run


def _with(package: Path, **more: str) -> dict[str, Any]:
    path = f"{package}{os.pathsep}{ROOT / 'tools'}"
    environment = {**os.environ, "PYTHONPATH": path, "SPANLOOM_EXAMPLES": "", "PYTHONDONTWRITEBYTECODE": "1", **more}
    return {"cwd": ROOT, "env": environment, "capture_output": True}


def copied(folder: Path) -> Path:
    """Put a copy of the package, with its native module, into a folder."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    from spanloom import _native

    for file in Path(_native.__file__ or "").parent.glob("_native*.so"):
        shutil.copy(file, folder / PACKAGE.name)
    return folder


def page(rooms: dict[str, dict[str, Any]]) -> str:
    """Return the table of all rooms, and what is alive."""
    lines = ["# Mutants", "", "`python tools/mutants.py --sample N --write`: the last result of each room.", ""]
    lines += ["| room | mutants | tried | killed | killed % | commit |", "|---|---:|---:|---:|---:|---|"]
    for name, room in rooms.items():
        share = 100 * (1 - len(room["alive"]) / max(1, room["tried"]))
        lines.append(
            f"| {name} | {room['mutants']} | {room['tried']} | {room['tried'] - len(room['alive'])} | {share:.1f} | "
            f"{room['commit']} |"
        )
    alive = [f"- `{place}` {words}" for room in rooms.values() for place, words in room["alive"]]
    lines += ["", "Alive:" if alive else "None is alive.", "", *alive]
    lines += ["", "Those that do what the source does are in `tools/mutants_alike.toml` and not tried.", ""]
    return "\n".join(lines)


def row(room: str, tried: int, alive: list[tuple[str, str]], before: dict[str, Any] | None) -> dict[str, Any]:
    """Return what the table has of a room; with ``before``, only those alive there were tried again."""
    made = {"mutants": len(mutants(room)), "tried": tried, "alive": alive, "commit": commit()}
    if before is not None:
        dead = before["tried"] - len(before["alive"])
        made |= {"tried": dead + tried, "commit": f"{before['commit'].partition(',')[0]}, the alive again {commit()}"}
    return made


def chosen(given: argparse.Namespace, before: dict[str, dict[str, Any]]) -> dict[str, list[Mutant]]:
    """Return the mutants to try, by room."""
    drawn = {}
    for room in given.rooms:
        some = [one for one in mutants(room) if not one.alike()]
        if given.only:
            some = [one for one in some if one.place == given.only or one.place.rpartition(":")[0] == given.only]
        elif given.alive:
            if room not in before:
                sys.exit(f"no mutants of {room} were tried before; draw some with --sample")
            again = {tuple(one) for one in before[room]["alive"]}
            lost = again - {(one.place, one.words) for one in mutants(room)}
            if lost:
                sys.exit(f"{sorted(lost)[0][0]} is another line now; draw the mutants of {room} again")
            some = [one for one in some if (one.place, one.words) in again]
        elif given.sample is not None:
            some = random.Random(1).sample(some, min(given.sample, len(some)))
        if some or given.alive:
            drawn[room] = some
    return drawn


def main() -> int:
    """Draw mutants, try them, and tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="*", default=list(TESTS))
    parser.add_argument("--sample", type=int, help="so many mutants of each room")
    parser.add_argument("--only", help="the mutants of one line, as evaluation/score.py:31, or of one file")
    parser.add_argument("--alive", action="store_true", help="those that were alive the last time")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/mutants.md")
    given = parser.parse_args()
    if unknown := [room for room in given.rooms if room not in TESTS]:
        parser.error(f"there is no room {unknown[0]!r}; there are {', '.join(TESTS)}")
    results = RESULTS / "mutants.json"
    rooms = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        package = copied(Path(folder))
        check(package)
        by_room = chosen(given, rooms)
        if not any(by_room.values()):
            sys.exit("there is no such mutant: nothing was tried")
        run = unchanged([room for room, drawn in by_room.items() if drawn], package)
        for room, drawn in by_room.items():
            alive = []
            for one in drawn:
                tests = tests_of(one, room, run)
                took = sum(run["seconds"].get(test, 0.0) for test in tests) or sum(run["seconds"].values())
                if not killed(one, tests, package, 30 + 3 * round(took)):
                    alive.append((one.place, one.words))
                    print(f"alive: {one.place} {one.words}", flush=True)
            print(f"{room}: {len(drawn)} tried, {len(alive)} alive", flush=True)
            if given.write and not given.only:
                rooms[room] = row(room, len(drawn), alive, rooms[room] if given.alive else None)
                results.write_text(json.dumps(rooms, indent=1) + "\n", encoding="utf-8")
                results.with_suffix(".md").write_text(page(rooms), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
