"""Notebooks: what objects look like, a slider that needs no kernel, a progress bar; by a real kernel and a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from spanloom import Mention, Recognizer, Sentence, read
from spanloom.drawing.choices import best_html
from spanloom.evaluation import compare
from spanloom.formats.report import Report
from spanloom.learning import LBFGS, Iteration, Watched
from spanloom.notebook import Progress, in_notebook
from spanloom.tuning import Audit, Suspect


class Balance(HTMLParser):
    """Notes tags that are closed in another order than they were opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def well_formed(html: str) -> bool:
    parser = Balance()
    parser.feed(html)
    return not parser.open and not parser.wrong and "http" not in html.lower() and "<script" not in html


@pytest.fixture(scope="module")
def ner() -> Recognizer:
    sentences = [s for d in read("sample:train") for s in d.sentences]
    whole = [s.with_mentions([m for m in s.mentions if not m.discontinuous]) for s in sentences]
    return Recognizer("edge", trainer=LBFGS(max_iter=10)).fit(whole)


def test_a_distribution_shows_its_best_sets(ner: Recognizer) -> None:
    sentence = Sentence(["the", "<b>", "IL-2", "gene", "in", "T", "cells"])
    belief = ner.distribution(sentence)
    html = belief._repr_html_()
    assert html is not None
    assert well_formed(html)
    best = belief.k_best(10)
    assert html.count('class="set"') == len(best)
    assert html.count(" hidden>") == len(best) - 1  # the most probable one is seen without any script
    assert f"1 of {len(best)}: probability {best[0][0]:.4f}" in html
    assert "&lt;b&gt;" in html
    given = belief.clamp(must=[Mention("DNA", ((2, 4),))])
    assert "loom-best" in (given._repr_html_() or "")


def test_one_set_has_no_slider() -> None:
    html = best_html(Sentence(["a"]), [(1.0, [])])
    assert "<input" not in html
    assert well_formed(html)
    assert "no mention set" in best_html(Sentence(["a"]), [])


def test_an_evaluation_is_a_table(ner: Recognizer) -> None:
    evaluation = ner.score(read("sample:test"))
    html = evaluation._repr_html_()
    assert well_formed(html)
    for label, score in evaluation.by_label.items():
        row = re.search(rf"<tr><td>{label}</td><td>([\d.]+)</td>", html)
        assert row is not None
        assert row[1] == f"{100 * score.precision:.1f}"
    assert f"<td>{100 * evaluation.f1:.1f}</td>" in html


def test_a_comparison_shows_both_systems_and_what_chance_makes(ner: Recognizer) -> None:
    gold = [s for d in read("sample:test") for s in d.sentences]
    found = [ner.predict(s) for s in gold]
    nothing = [s.with_mentions([]) for s in gold]
    comparison = compare(gold, found, nothing, resamples=200)
    html = comparison._repr_html_()
    assert well_formed(html)
    test = comparison.bootstrap
    interval = f"{100 * test.difference['f1'].low:+.2f} to {100 * test.difference['f1'].high:+.2f}"
    f1 = 100 * comparison.a.f1
    assert f"<tr><td>F1</td><td>{f1:.1f}</td><td>0.0</td><td>{f1:+.2f}</td><td>{interval}</td>" in html
    for label, score in comparison.a.by_label.items():
        assert f"<tr><td>{label}</td><td>{100 * score.f1:.1f}</td><td>0.0</td>" in html


def test_a_report_shows_how_many_problems_of_each_kind_and_the_first() -> None:
    report = Report(limit=2)
    assert well_formed(report._repr_html_())
    assert "no problems" in report._repr_html_()
    for line in (3, 5):
        report.error("misaligned", f"a.ann:{line}", "'<b>' ends inside a token")
    report.warning("columns", "a.ann", "beyond the limit, counted only")
    html = report._repr_html_()
    assert well_formed(html)
    first = "a.ann:3: &#x27;&lt;b&gt;&#x27; ends inside a token"
    assert f"<tr><td>misaligned</td><td>error</td><td>2</td><td>{first}</td></tr>" in html
    assert "<tr><td>columns</td><td></td><td>1</td><td></td></tr>" in html


def test_an_audit_shows_the_surest_suspects() -> None:
    """Each with its sentence, what is annotated and what the model has; no more than a cell can show."""
    sentence = Sentence(["the", "<b>", "gene"], [Mention("DNA", ((1, 3),), 0.125)])
    gold, instead = sentence.mentions[0], Mention("protein", ((1, 2),), 0.75)
    surest = Suspect("d7", 3, sentence, "border", gold, instead, 2.0)
    others = [Suspect("d8", 1, sentence, "missing", None, instead, 0.0)] * 30
    html = Audit([surest, *others], 50, 0)._repr_html_()
    assert well_formed(html)
    assert html.count("<article>") == 20
    assert "20 of 31 places" in html
    first = html.split("</article>")[0]
    assert "1. <b>border</b> 0.881" in first  # 1 / (1 + e^-2)
    assert "d7, sentence 3" in first
    assert "annotated: DNA “&lt;b&gt; gene” (probability 0.125); the model: protein “&lt;b&gt;”" in first
    assert "annotated: nothing; the model" in html
    nothing = Audit([], 50, 0)._repr_html_()
    assert well_formed(nothing)
    assert "Nothing is suspected" in nothing


def test_progress_outside_of_notebooks_is_lines(ner: Recognizer, capsys: pytest.CaptureFixture[str]) -> None:
    assert not in_notebook()
    Recognizer("chain", trainer=LBFGS(max_iter=3)).fit(
        [Sentence(["a"], [Mention("X", ((0, 1),))])], listener=Progress(3)
    )
    told = capsys.readouterr()
    assert "iteration 1  objective" in told.err
    assert told.out == ""


def test_the_time_that_is_left_is_told_once_it_is_known() -> None:
    """Reading the corpus does not count, nor is the first iteration enough to say how long all take."""
    watched = Watched(100)
    lines = [watched.take(Iteration(n, 0, 1.0, 0.0, 0.0, 1, 4.0))[1] for n in range(1, 7)]
    assert all("left" not in line for line in lines[:4])
    assert lines[4].endswith("about 76 s left")  # 4 s for the first twentieth, however long reading took


def test_shares_grow_to_the_whole() -> None:
    """Two parts of ten iterations: after the first part half is done."""
    watched = Watched(10)
    shares = [
        watched.take(Iteration(n, part, 1.0, 0.0, 0.0, 1, 0.0, part=f"P{part}", parts=2))[0]
        for part in (0, 1)
        for n in range(1, 11)
    ]
    assert shares == sorted(shares)
    assert shares[4] == pytest.approx(0.25)
    assert 0.9 < shares[-1] <= 1.0


CELLS = [
    "from spanloom import Recognizer, read\n"
    "from spanloom.learning import LBFGS\n"
    "from spanloom.notebook import Progress\n"
    "train = [s.with_mentions([m for m in s.mentions if not m.discontinuous])\n"
    "         for d in read('sample:train') for s in d.sentences]\n"
    "ner = Recognizer('edge', trainer=LBFGS(max_iter=8)).fit(train, listener=Progress(8))",
    "ner.predict('The IL-2 gene promoter binds NF-kappa B in T cells.', probabilities=True)",
    "sentence = ner.predict('The IL-2 gene promoter binds NF-kappa B in T cells.').sentences[0]\n"
    "ner.distribution(sentence)",
    "ner.explain(sentence, sentence.mentions[0])",
    "ner.score(read('sample:dev'))",
]


@pytest.mark.extras
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_runs_and_is_drawn(tmp_path: Path) -> None:
    """Executed by nbclient with a real kernel: one progress display that was updated, and HTML for each object."""
    from extras import needs

    needs("nbclient", "ipykernel", "nbconvert")
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(tmp_path))
    outputs = [cell.outputs for cell in notebook.cells]
    (bar,) = outputs[0]  # updated in place: one output, whatever the number of iterations
    assert "<progress" in bar["data"]["text/html"]
    assert "iteration" in bar["data"]["text/html"]
    for (out,), mark in zip(outputs[1:], ('class="sl"', "loom-best", "loom-why", "loom-scores"), strict=True):
        assert mark in out["data"]["text/html"]
    page, _ = HTMLExporter(template_name="classic").from_notebook_node(notebook)
    assert page.count("loom-best") >= 1


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore")
def test_the_slider_moves_without_a_kernel(ner: Recognizer, tmp_path: Path) -> None:
    """In Chromium, offline: the slider shows the set of its rank, and nothing is asked for."""
    from extras import needs

    needs("playwright")
    from playwright.sync_api import sync_playwright

    sentence = Sentence(["The", "IL-2", "gene", "promoter", "in", "T", "cells"])
    html = ner.distribution(sentence)._repr_html_()
    page_file = tmp_path / "a.html"
    page_file.write_text(f"<!doctype html><meta charset='utf-8'>{html}", encoding="utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        assert page.locator(".set:visible").count() == 1
        page.locator("input[type=range]").fill("3")
        assert page.locator(".set:visible").count() == 1
        assert page.locator(".set").nth(2).is_visible()
        assert page.locator("output").inner_text().startswith("3 of ")
        page.screenshot(path=str(tmp_path / "a.png"))
        browser.close()
    assert asked == [page_file.as_uri()]


def chromium() -> str | None:
    import shutil

    return shutil.which("chromium")
