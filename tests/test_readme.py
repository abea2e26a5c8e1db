"""What README shows of the sample corpus is what the commands print."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from experiments.trust_docs import made

ROOT = Path(__file__).parent.parent
NUMBER = re.compile(r"[+-]?\d+\.\d+")


def test_readme_shows_a_probability_and_an_explanation_as_printed(tmp_path: Path) -> None:
    """The words are the same; numbers may differ a little where another processor ends training elsewhere.

    If the output has changed for good: ``python tools/pictures.py``.
    """
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "tools" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    first, last = pictures.MARKS
    shown = (ROOT / "README.md").read_text(encoding="utf-8").partition(first)[2].partition(last)[0]
    printed = pictures.shown(tmp_path)
    assert NUMBER.sub("#", shown) == NUMBER.sub("#", printed)
    assert [float(n) for n in NUMBER.findall(shown)] == pytest.approx(
        [float(n) for n in NUMBER.findall(printed)], abs=0.05
    )
    assert "probability 0." in shown
    assert "starts before" in shown


def test_docs_show_pictures_that_are_there() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for name in re.findall(r"!\[[^]]*\]\(([^):]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / name).is_file(), f"{page.name} shows {name}"


def test_tables_of_the_docs_are_those_of_the_results() -> None:
    """If results are new: ``python -m experiments.trust_docs``."""
    page = (ROOT / "docs" / "probabilities.md").read_text(encoding="utf-8")
    assert made(page) == page
    assert page.count("| GENIA, state |") == 2
