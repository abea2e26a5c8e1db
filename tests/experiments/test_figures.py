"""Figures of the documentation come from result files; what is typed is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import figures, index, typed
from experiments.check import Checked, check, check_line, check_table
from experiments.figures import FigureError, Used, evaluate, made, rows

ROOT = Path(__file__).resolve().parents[2]
LINES = [
    {"run": "a: chain", "result": {"f1": 0.7264, "words": 12345.6, "F1 x": 0.5}, "paper": {"f1": 70.8}},
    {"run": "a: edge", "result": {"f1": 0.75, "words": 99, "F1 x": 0.25}, "paper": {}, "older": "a tree with changes"},
    {"run": "a: state", "result": None, "paper": {}},
]


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A table of an experiment and one of a benchmark."""
    for path, text in (
        ("some.json", json.dumps({"runs": LINES})),
        ("some.quick.json", json.dumps({"runs": LINES[:1]})),
        (
            "speed.md",
            "# Speed\n\n| model | L | words/s |\n|---|---:|---:|\n| `x` | 8 | 1,200 |\n| `x` | 40 | **30.5** |\n",
        ),
    ):
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(figures, "RESULTS", tmp_path)
    monkeypatch.setattr(figures, "BENCHMARKS", tmp_path)
    for cached in (figures.table, figures.bench):
        cached.cache_clear()
    yield tmp_path
    for cached in (figures.table, figures.bench):
        cached.cache_clear()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('some["a: chain"].f1', 0.7264),
        ('some["a: chain"]["F1 x"]', 0.5),
        ('some["a: chain"].paper.f1 - 100 * some["a: edge"].f1', pytest.approx(-4.2)),
        ('min(some["a: chain"].f1, some["a: edge"].f1)', 0.7264),
        ('some.quick["a: chain"].words', 12345.6),
        ('bench.speed["`x`", "40"]["words/s"]', 30.5),
        ('bench.speed["`x`", "8"]["words/s"] / 2', 600),
        ('some["a: state"].f1', None),
    ],
)
def test_expressions(results, text, value):
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ('other["x"].f1', "no result file other.json"),
        ('some["x"].f1', "no run 'x'; it has a: chain, a: edge"),
        ('some["a: chain"].f2', "no column 'f2'; it has F1 x, f1, words"),
        ('bench.speed["`x`"]["words/s"]', "2 rows with the cells `x`"),
        ('bench.speed["`x`", "8"]["nothing"]', "no 'nothing'; there are model, L, words/s"),
        ('__import__("os")', "is not known here"),
        ("some[", "some"),
    ],
)
def test_what_is_not_there_is_said(results, text, trouble):
    with pytest.raises(FigureError, match=trouble.replace("`", ".")):
        evaluate(text)


def test_a_page_is_written_anew(results):
    """Figures and tables; a second time nothing changes. A page with older lines must say so, and how many."""
    page = (
        'F1 is <!-- figure: some["a: chain"].f1; % -->9<!-- /figure -->.\n\n'
        "<!-- table: some\nmodel | trees | chain = f1; %2 | edge = words; ,\nA | gold <- a: {}\n-->\n"
        "old\n<!-- /table -->\n"
    )
    with pytest.raises(FigureError, match="figures of 1 older lines and does not say so"):
        made(page)
    page += "<!-- older --><!-- /older -->"
    after = made(page)
    assert "-->72.6<!--" in after
    assert "| model | trees | chain | edge |\n|---|---|---:|---:|\n| A | gold | 72.64 | 99 |\n<!-- /table -->" in after
    assert "1 of the 2 lines" in after
    assert made(after) == after
    assert list(typed.typed(after)) == []
    in_code = "Write `<!-- figure: no.where -->1<!-- /figure -->`."
    assert made(in_code) == in_code


def test_runs_that_are_not_there_are_blank_cells(results):
    """So are those that were not run; a plain name that does not exist is an error."""
    assert (
        rows("some\nmodel | chain = f1; % | state = f1; % | spans = f1; %\nA <- a: {}\n", Used({}))[-1]
        == "| A | 72.6 |  |  |"
    )
    with pytest.raises(FigureError, match="no run 'b'"):
        rows("some\nmodel | F1 = f1; %\nA <- b\n", Used({}))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It takes 12 seconds and 3 MB, twice.", ["12 seconds", "3 MB"]),
        ("| a | 1,200 | **71.2** | 3 % | L = 8 |", ["1,200", "**71.2**", "3 %"]),
        ("F1 70 at p = 0.02; 10 times as fast, 4 ms.", ["F1 70", "p = 0.02", "10 times", "4 ms"]),
        ("Python 3.10, spaCy 3.8, `72.6 %`, version 1.2.3, [x](a-2.5.md), five points, 3 layers, Lu & Roth 2015.", []),
        ("<!-- given: the paper -->70.8<!-- /given --> and <!-- made: x -->\n| 1 |\n<!-- /made -->", []),
        ("```\n72.6 %\n```\n\nafter 2.5", ["2.5"]),
    ],
)
def test_typed_figures_are_found(text, found):
    assert [figure for _, figure in typed.typed(text)] == found


def test_a_line_is_from_a_clean_commit_of_this_history_and_says_how_it_ended():
    line = {"commit": "0123456789ab", "trainings": []}
    assert check_line(line, {"0123456789ab"}) == []
    assert check_line(line, "this clone is shallow") == []
    assert "not in this history" in check_line(line, {"a"})[0]
    assert "a draft" in check_line({**line, "commit": "0123456789ab+"}, {"0123456789ab"})[0]
    assert "a draft" in check_line({**line, "commit": None}, set())[0]
    assert "how its trainings ended" in check_line({"commit": "a"}, {"a"})[0]


def test_a_table_says_what_is_capped_older_and_of_several_commits(tmp_path):
    """A page that keeps silent about it is found."""
    capped = {"run": "x", "result": {}, "commit": "a", "trainings": [{"ended": "cap"}]}
    other = {"run": "y", "result": {}, "commit": "b", "trainings": []}
    path = tmp_path / "t.json"
    path.with_suffix(".md").write_text("| x | 1 |  |\n| y | 1 |  |\n")
    problems = check_table(path, {"runs": [capped, other]}, {"a", "b"}, Checked())
    for said in (
        "row of 'x' does not say 'at the cap'",
        "`commits` is None",
        "made by 2 commits",
        "ended at the cap of",
    ):
        assert any(said in problem for problem in problems), said
    assert len(problems) == 4


def test_every_row_of_the_index_has_a_figure_or_says_what_is_missing():
    """Papers, tables and figures; which commits made the lines."""
    found = index.rows()
    assert len(found) == 5
    for some in found.values():
        for row in some:
            assert row.ours or row.best or row.missing, row
            assert row.command or row.missing, row
            assert len(row.cells()) == len(index.HEADS)
    assert index.made_by(Used({})) == ""


def test_results_and_documentation_hold_together():
    """If results are new: ``python -m experiments docs``."""
    assert check(ROOT).problems == []
