"""The Python of the README and of the documentation runs as it stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extras import needs
from spanloom import Mention, Recognizer, Sentence, read, write
from spanloom.annotators import Annotator
from spanloom.annotators.base import ANNOTATOR_CLASSES
from spanloom.learning import LBFGS, TRAINERS
from spanloom.models import MODELS

ROOT = Path(__file__).resolve().parent.parent
NEEDS = re.compile(r"genia:|uner:|pos\.loom|class Mine|path/to/weights")
"""What a fresh machine has not, and what is an outline."""


OPTIONAL = re.compile(r"^(?:import|from) (spacy|datasets|pandas|polars|duckdb|pyarrow)\b", re.M)
"""Packages of extras; a block that imports one is a test of extras, and finds a model in ``gene.loom``."""


def blocks() -> list[Any]:
    found = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for block in re.finditer(r"```python\n(.*?)```", text, re.S):
            line = text.count("\n", 0, block.start()) + 1
            marks = [pytest.mark.skip(reason="needs what is not here")] if NEEDS.search(block[1]) else []
            if OPTIONAL.search(block[1]):
                marks += [pytest.mark.extras, pytest.mark.filterwarnings("ignore")]
            found.append(pytest.param(block[1], id=f"{page.name}:{line}", marks=marks))
    return found


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Models, trainers and annotators that a block defines are forgotten after it."""
    before = [(known, dict(known)) for known in (MODELS, TRAINERS, ANNOTATOR_CLASSES)]
    yield
    for known, kept in before:
        known.clear()
        known.update(kept)


def said_of(lines: list[str], statement: ast.stmt) -> Any:
    """What the comment beside an expression, or below it, says that it is; None where that is no plain value."""
    beside = re.search(r"\s# (.*)$", lines[(statement.end_lineno or 1) - 1][statement.end_col_offset or 0 :])
    below = re.match(r"# (.*)$", lines[statement.end_lineno] if (statement.end_lineno or 0) < len(lines) else "")
    for found in filter(None, (beside, below)):
        try:
            return ast.literal_eval(found[1])
        except (ValueError, SyntaxError):
            continue
    return None


def alike(value: Any, said: Any) -> bool:
    """Whether a value is what is said, numbers as far as they are written."""
    if isinstance(said, list | tuple):
        return len(value) == len(said) and all(map(alike, value, said))
    if isinstance(said, float):
        return bool(abs(value - said) <= 0.5001 * 10.0 ** -len(str(said).partition(".")[2]))
    return bool(value == said)


def run_and_compare(code: str, names: dict[str, Any]) -> int:
    """Run a block statement after statement; return how many results it shows, which must be right."""
    lines, compared = code.splitlines(), 0
    for statement in ast.parse(code).body:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), "documentation", "exec"), names)
            continue
        value = eval(compile(ast.Expression(statement.value), "documentation", "eval"), names)
        said = said_of(lines, statement)
        if said is not None:
            assert alike(value, said), f"line {statement.lineno} of the block: {value!r}, not {said!r}"
            compared += 1
    return compared


def test_results_are_compared() -> None:
    """Beside an expression and below it; words are no result."""
    right = 'a = 2 / 3\na  # 0.67\n[a > 0, "b"]\n# [True, "b"]\na  # about two thirds\n'
    assert run_and_compare(right, {}) == 2
    for wrong in ("1 + 1  # 3", "[1.0, 0.664]\n# [1.0, 0.66, 2]", "0.676  # 0.67"):
        with pytest.raises(AssertionError):
            run_and_compare(wrong, {})


@pytest.mark.parametrize("code", blocks())
def test_a_block_of_the_documentation_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the names that the text around it speaks of, in a folder with the files that it names."""
    monkeypatch.chdir(tmp_path)
    train, dev = list(read("sample:train"))[:30], list(read("sample:dev"))[:20]
    write(train, "train.jsonl")
    write(dev, "dev.jsonl")
    needs(*OPTIONAL.findall(code))
    whole = [s.with_mentions([m for m in s.mentions if not m.discontinuous]) for doc in train for s in doc.sentences]
    if OPTIONAL.search(code) and "gene.loom" in code:
        Recognizer("edge", trainer=LBFGS(max_iter=5)).fit(whole).save("gene.loom")
    names = {
        "Annotator": Annotator,
        "Mention": Mention,
        "Recognizer": Recognizer,
        "Sentence": Sentence,
        "train": whole,
        "dev": whole[:20],
        "train_sentences": whole,
        "other_sentences": whole,
    }
    try:
        run_and_compare(code, names)
    finally:
        names.clear()  # functions of a block hold all names; the collector does not see what native objects hold


def test_the_architecture_names_every_room() -> None:
    """A folder or module of the package has a row."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = {name for row in re.findall(r"^\| (`[^|]*) \|", text, re.M) for name in re.findall(r"`(\w+)`", row)}
    package = ROOT / "src" / "spanloom"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")} | {path.stem for path in package.glob("*.py")}
    assert rooms - {"__init__", "__main__"} <= named
