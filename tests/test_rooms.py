"""Data walk one way: which part of the package may import which, what is imported where it is used, how long files are.

Every import counts, also those within functions. Imports under ``TYPE_CHECKING`` may go up, if they are listed.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "spanloom"

NATIVE = "_native"
TEXT = ("base", "corpus")
BELOW_MODELS = (*TEXT, NATIVE, "schemes", "evaluation", "features", "inference", "decisions", "learning", "encoders")
TRAINING = (*BELOW_MODELS, "annotators", "models")
RECOGNIZER = (*TRAINING, "parameters", "training", "stored")
LOOKING = ("formats", "drawing", "evaluation")
MAY = {
    "base": (),
    NATIVE: (),
    "corpus": ("base", NATIVE),
    "schemes": TEXT,
    "drawing": TEXT,
    "formats": (*TEXT, NATIVE, "drawing"),
    "evaluation": (*TEXT, "drawing"),
    "features": (*TEXT, NATIVE),
    "inference": (*TEXT, NATIVE, "schemes"),
    "learning": ("base", NATIVE),
    "encoders": ("base", NATIVE, "learning"),
    "decisions": (*TEXT, NATIVE, "schemes", "evaluation", "features"),
    "annotators": (*TEXT, NATIVE, "features"),
    "models": BELOW_MODELS,
    "parameters": TRAINING,
    "explain": (*TEXT, "models", "drawing"),
    "deciding": TRAINING,
    "choosing": (*TEXT, "evaluation"),
    "training": (*TRAINING, "parameters", "choosing", "deciding", "version"),
    "stored": (*TRAINING, "parameters", "version"),
    "fitted": (*TRAINING, "parameters", "explain", "deciding"),
    "bundled": (),
    "keeping": (*RECOGNIZER, "fitted", "bundled"),
    "card": ("base", "evaluation", "keeping"),
    "recognizer": (*RECOGNIZER, "fitted", "keeping"),
    "configuration": (*TEXT, "recognizer"),
    "tagging": (*TEXT, NATIVE, "formats", "schemes", "models", "recognizer"),
    "tagging_files": (*TEXT, "formats", "recognizer", "tagging"),
    "scale": (*RECOGNIZER, "formats", "fitted", "bundled", "recognizer", "tagging", "tagging_files", "tuning"),
    "serving": (*TEXT, "formats", "learning", "recognizer", "tagging", "tagging_files", "version"),
    "integrations": (
        *TEXT,
        NATIVE,
        "formats",
        "models",
        "evaluation",
        "recognizer",
        "configuration",
        "tagging",
        "scale",
    ),
    "frames": ("integrations",),
    "compat": ("base", NATIVE),
    "notebook": ("base", "learning"),
    "tuning": (*TEXT, "drawing", "evaluation", "inference", "models", "recognizer", "configuration"),
    "workbench": (*TEXT, *LOOKING, "features", "learning", "recognizer", "configuration", "tuning", "serving"),
}
"""What each part may import besides itself; ``cli`` and ``spanloom`` itself may import all."""

FOR_TYPES = {
    "decisions/rule.py": {"models"},
    "drawing/audit.py": {"tuning"},
    "drawing/explanation.py": {"explain"},
    "annotators/base.py": {"learning"},
    "training.py": {"recognizer"},
    "stored.py": {"keeping"},
}
"""What files import from above for type checkers only."""

WITHIN = {"corpus/document.py": {"drawing"}, "keeping.py": {"card"}, "inference/distribution.py": {"drawing"}}
"""What files import from above within functions: what notebooks show is drawn, a folder gets a README."""

LAZY = {"scipy", "rich", "typer", "sklearn", "matplotlib", "dask", "distributed", "pyspark", "pyarrow", "pandas"}
LAZY |= {"torch", "transformers", "tokenizers", "onnxruntime"}
"""Imported in the functions that need them, but for the command line and drawings in it."""

READING = ("base", "corpus", "formats", "schemes", "drawing", "evaluation")
"""Who only reads, counts and compares corpora does not wait for the native core."""

TWICE = {
    "Tagger": "a model, and what python-crfsuite calls so",
    "Trainer": "how a model learns, and what python-crfsuite calls so",
    "Settings": "ours, and those of CRFsuite's algorithms",
    "Progress": "a bar in notebooks, and how far the workbench is",
    "Fitted": "a trained model, and that of a project of the workbench",
    "Learner": "training in the background, of the workbench and of the server",
}
"""Public classes of two rooms that share a name, and why: no third may have it, and no other name may stand twice."""

LONGEST = 400
LONGEST_OF = {"recognizer.py": 250}


def part_of(path: Path) -> str:
    """Return the folder or module of the package that a file belongs to."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(tree: ast.Module) -> Iterator[tuple[str, bool, bool]]:
    """Yield what is imported, whether for types only, and whether when the module is imported."""

    def walk(node: ast.AST, types: bool, top: bool) -> Iterator[tuple[str, bool, bool]]:
        if isinstance(node, ast.Import):
            yield from ((name.name, types, top) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((f"{node.module}.{name.name}", types, top) for name in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for child in node.body:
                yield from walk(child, True, top)
            for child in node.orelse:
                yield from walk(child, types, top)
        else:
            inner = top and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for child in ast.iter_child_nodes(node):
                yield from walk(child, types, inner)

    yield from walk(tree, False, True)


@functools.cache
def files() -> list[tuple[str, Path, ast.Module]]:
    return [
        (str(path.relative_to(PACKAGE)), path, ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
    ]


def test_imports_are_found_wherever_they_stand() -> None:
    text = "import a.b\nif TYPE_CHECKING:\n    from c import d\ndef f():\n    from e import g\nclass K:\n    import h\n"
    expected = [("a.b", False, True), ("c.d", True, True), ("e.g", False, False), ("h", False, True)]
    assert list(imports(ast.parse(text))) == expected


def test_nothing_imports_upward_or_sideways() -> None:
    offences = []
    for name, path, tree in files():
        part = part_of(path)
        if part in ("cli", "__init__", "__main__"):
            continue
        for target, types, top in imports(tree):
            if not target.startswith("spanloom."):
                continue
            other = target.split(".")[1]
            allowed = part in MAY and (other == part or other in MAY[part] or other == "__version__")
            late = (types and other in FOR_TYPES.get(name, ())) or (not top and other in WITHIN.get(name, ()))
            if not allowed and not late:
                offences.append(f"{name} imports {target}: {part} may import {', '.join(MAY.get(part, ())) or 'none'}")
    assert offences == []


def test_the_table_has_no_circle() -> None:
    """A part comes after all that it may import."""
    seen: set[str] = set()
    left = {part: set(may) - {"version"} for part, may in MAY.items()}
    while left:
        free = [part for part, may in left.items() if may <= seen]
        assert free, f"these import each other: {', '.join(left)}"
        seen.update(free)
        for part in free:
            del left[part]


def test_what_is_slow_to_import_is_imported_where_it_is_used() -> None:
    offences = [
        f"{name} imports {target} when it is imported"
        for name, path, tree in files()
        if part_of(path) not in ("cli", "drawing")
        for target, types, top in imports(tree)
        if top and not types and (target.split(".")[0] in LAZY or (part_of(path) in READING and NATIVE in target))
    ]
    assert offences == []


def test_files_are_short() -> None:
    native = [
        path for folder in ("include", "src", "bindings") for path in (ROOT / "native" / folder).rglob("*.[ch]pp")
    ]
    long = []
    for path in [*PACKAGE.rglob("*.py"), *native]:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        most = LONGEST_OF.get(path.name, LONGEST)
        if lines > most:
            long.append(f"{path.relative_to(ROOT)} has {lines} lines, more than {most}")
    assert long == []


def test_test_files_have_names_of_their_own() -> None:
    """pytest imports them by name alone."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_a_class_name_stands_for_one_class() -> None:
    places: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    shared = {name: files for name, files in places.items() if len(files) > 1}
    assert shared.keys() == TWICE.keys(), shared
    assert all(len(files) == 2 for files in shared.values()), shared
