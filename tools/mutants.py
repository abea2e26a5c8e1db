"""Mutation testing: small changes of the source, each of which some test must notice.

::

    python tools/mutants.py [--sample N] [--write] [ROOM...]      rooms: schemes decisions evaluation inference

A mutant is one change of one place: a comparison, an arithmetic or logical operator, a constant, a condition, a return
value. It is loaded into a copy of the package in memory, and the tests of its room run until one fails. Mutants that no
test notices are listed. With ``--sample`` some are drawn, by a fixed seed; the share killed is then an estimate.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "schemes": ["tests/schemes", "tests/contract", "tests/inference/test_readings.py"],
    "decisions": ["tests/decisions", "tests/contract", "tests/test_probabilities.py"],
    "evaluation": ["tests/evaluation"],
    "inference": ["tests/inference", "tests/contract", "tests/test_probabilities.py"],
}
SECONDS = 240
COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the place in its tree, which of the changes there, and words for it."""

    path: Path
    node: int
    line: int
    words: str


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield each change of one node: words, and the node instead."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            made = copy.deepcopy(node)
            made.ops[k] = COMPARE[type(operator)]()
            yield f"{type(operator).__name__} -> {type(made.ops[k]).__name__}", made
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
    for path in sorted((ROOT / "src" / "spanloom" / room).rglob("*.py")):
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


def killed(one: Mutant, room: str, package: Path) -> bool:
    """Whether a test fails with the mutant, or takes too long."""
    place = package / one.path.relative_to(ROOT / "src")
    kept = place.read_text(encoding="utf-8")
    place.write_text(mutated(one), encoding="utf-8")
    tests = [test for test in TESTS[room] if (ROOT / test).exists()]
    own = ROOT / "tests" / room / f"test_{one.path.stem}.py"
    words = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header", "-W", "ignore"]
    environment = {**os.environ, "PYTHONPATH": str(package), "SPANLOOM_EXAMPLES": "", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        for some in ([str(own)] if own.exists() else [], tests):
            if some:
                done = subprocess.run(
                    [sys.executable, "-m", "pytest", *words, *some], cwd=ROOT, env=environment, timeout=SECONDS,
                    capture_output=True,
                )  # fmt: skip
                if done.returncode:
                    return True
    except subprocess.TimeoutExpired:
        return True
    finally:
        place.write_text(kept, encoding="utf-8")
    return False


def main() -> int:
    """Draw mutants, try them, and tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="*", default=list(TESTS))
    parser.add_argument("--sample", type=int, help="so many mutants of all rooms together")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/mutants.md")
    given = parser.parse_args()
    lines, alive = [], []
    every = {room: mutants(room) for room in given.rooms}
    total = sum(map(len, every.values()))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            ROOT / "src" / "spanloom", Path(folder) / "spanloom", ignore=shutil.ignore_patterns("__pycache__")
        )
        native = next(Path(path).parent for path in _native())
        for file in native.glob("_native*.so"):
            shutil.copy(file, Path(folder) / "spanloom")
        for room, all_of_them in every.items():
            count = len(all_of_them) if given.sample is None else round(given.sample * len(all_of_them) / total)
            drawn = random.Random(1).sample(all_of_them, min(count, len(all_of_them)))
            dead = 0
            for one in drawn:
                if killed(one, room, Path(folder)):
                    dead += 1
                else:
                    alive.append(one)
                    print(f"alive: {one.path.relative_to(ROOT)}:{one.line} {one.words}", flush=True)
            share = 100 * dead / max(1, len(drawn))
            lines.append(f"| {room} | {len(all_of_them)} | {len(drawn)} | {dead} | {share:.1f} |")
            print(lines[-1], flush=True)
    if given.write:
        heads = ["# Mutants", "", "`python tools/mutants.py --sample N --write`", ""]
        heads += ["| room | mutants | tried | killed | killed % |", "|---|---:|---:|---:|---:|"]
        told = [f"- `{one.path.relative_to(ROOT)}:{one.line}` {one.words}" for one in alive]
        page = [*heads, *lines, "", "Alive:", "", *told, ""] if told else [*heads, *lines, ""]
        (ROOT / "benchmarks" / "results" / "mutants.md").write_text("\n".join(page), encoding="utf-8")
    return 0


def _native() -> list[str]:
    from spanloom import _native as module

    return [module.__file__ or ""]


if __name__ == "__main__":
    sys.exit(main())
