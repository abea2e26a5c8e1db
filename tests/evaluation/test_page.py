"""The HTML page: self-contained, escaped, and it holds what the report holds."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation import evaluate
from spanloom.evaluation.page import page, write_page
from spanloom.evaluation.page.chart import Chart, ChartLine


class Reader(HTMLParser):
    """Collects tags, their attributes, and the text of every element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)


def data_of(text: str):
    """The data that the page's script reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(found.group(1))


EVIL = "</script><b>&"


@pytest.fixture(scope="module")
def report():
    """Two documents, names and words full of markup, probabilities, one mistake of each kind."""
    words = [EVIL, "of", "c", "d", "e", "f", "g", "h"]
    gold = [
        Mention("A<i>", ((0, 1),)),
        Mention("B", ((2, 3), (4, 5))),
        Mention("B", ((6, 8),)),
        Mention("B", ((2, 4),)),
    ]
    predicted = [
        Mention("B", ((0, 1),), prob=0.5),
        Mention("B", ((2, 3),), prob=0.25),
        Mention("B", ((2, 4),), prob=0.9),
        Mention("B", ((5, 6),), prob=0.75),
    ]
    documents = [Document([Sentence(words, gold)], id=f"<{i}>", meta={"genre": "news"}) for i in range(2)]
    return evaluate(documents, [predicted, []])


def test_page_asks_for_nothing_from_elsewhere(report):
    """No address, no link, no source: it opens from disk without a network."""
    text = page(report)
    for tag, attributes in Reader(text).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert not {"src", "href", "action", "srcset"} & set(attributes)
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest", text)


def test_markup_in_the_data_stays_text(report):
    """Words, labels, ids and titles cannot end an element or open one; every element is closed in order."""
    text = page(report, title="<script>alert(1)</script>")
    reader = Reader(text)
    assert reader.open == []
    assert sum(tag == "script" for tag, _ in reader.tags) == 2
    assert sum(tag == "b" for tag, _ in reader.tags) == 3  # the three big scores
    assert "<script>alert(1)</script>" in reader.texts
    assert "A<i>" in reader.texts


def test_every_mistake_is_there_with_its_sentence(report):
    """The first sentence has a label, a boundary, a missed and a spurious one; the second misses all four."""
    data = data_of(page(report))
    assert [m["kind"] for m in data["mistakes"]] == ["label", "boundary", "spurious", "missed", *["missed"] * 4]
    first = data["mistakes"][0]
    assert (first["gold"], first["predicted"], first["goldText"], first["prob"]) == ("A<i>", "B", EVIL, 0.5)
    assert first["where"] == "<0> #0"
    drawn = Reader(data["sentences"][first["sentence"]])
    assert "".join(drawn.texts) == f"{EVIL} of c d e f g h"
    captions = [(a["data-l"], "up" in a["class"].split()) for tag, a in drawn.tags if "data-l" in a]
    assert sorted(captions) == sorted(
        [
            *(("✗ A<i>", True), ("✗ B", True), ("✗ B", True), ("✓ B", True)),
            *(("+ B 0.50", False), ("+ B 0.25", False), ("✓ B 0.90", False), ("+ B 0.75", False)),
        ]
    )


def test_a_limit_is_said(report):
    """Three mistakes in the page, all eight in its heading."""
    text = page(report, limit=3)
    assert len(data_of(text)["mistakes"]) == 3
    assert "8 mistakes" in text
    assert "holds the first 3" in text


def test_scores_intervals_and_charts_are_shown(report):
    """1 of 8 found, 1 of 4 right; probabilities bring three more charts."""
    text = page(report, intervals=report.interval(resamples=10))
    assert "<b>25.00</b><span>precision</span><small>95 %:" in text
    assert text.count("<figure>") == 4
    assert page(evaluate([Sentence(["a"], [Mention("X", ((0, 1),))])], [[]])).count("<figure>") == 1


def test_an_empty_report_has_a_page(tmp_path):
    """Nothing to show is no reason to fail."""
    write_page(evaluate([], []), tmp_path / "a.html", title="nothing")
    assert "0 mistakes" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_chart_puts_points_where_they_belong():
    """The corners of the range are the corners of the plot."""
    chart = Chart("x", "y", (0, 10), (0, 1), [ChartLine("l", [(0, 0), (10, 1)], dots=True)], [((10, 1), "<top>")])
    svg = chart.svg()
    assert 'points="44.0,220.0 368.0,14.0"' in svg
    assert "&lt;top&gt;" in svg
    assert 'text-anchor="end">&lt;top' in svg


def test_axes_have_six_ticks_each_and_their_names_in_the_middle():
    """The plot lies between 44 and 368, 14 and 220: steps of 64.8 and 41.2, middles at 206 and 117."""
    reader = Reader(Chart("time", "score", (0, 10), (1, 2), []).svg())
    texts = [attributes for tag, attributes in reader.tags if tag == "text"]
    ticks = [(float(a["x"]), float(a["y"])) for a in texts if a["class"] == "tick"]
    assert ticks[:6] == [(38, pytest.approx(223.5 - 41.2 * k)) for k in range(6)]
    assert ticks[6:] == [(pytest.approx(44 + 64.8 * k), 235) for k in range(6)]
    assert reader.texts == ["1", "1.2", "1.4", "1.6", "1.8", "2", "0", "2", "4", "6", "8", "10", "time", "score"]
    assert [(float(a["x"]), float(a["y"])) for a in texts if a["class"] == "axis"] == [(206, 254), (12, 117)]
    lines = [attributes for tag, attributes in reader.tags if tag == "line"]
    assert {(a["x1"], a["x2"]) for a in lines} == {("44", "368")}
    assert [float(a["y1"]) for a in lines] == [pytest.approx(220 - 41.2 * k) for k in range(6)]


def test_named_ticks_stand_at_the_whole_numbers():
    """Three names on a range from 0 to 2."""
    reader = Reader(Chart("size", "F1", (0, 2), (0, 1), [], ticks=["a", "b", "c"]).svg())
    below = [a for tag, a in reader.tags if tag == "text" and a["class"] == "tick"][6:]
    assert [float(a["x"]) for a in below] == [44, 206, 368]
    assert reader.texts[6:9] == ["a", "b", "c"]


def test_tables_for_notebooks_mark_the_first_row_and_write_kinds_without_underscores():
    """Labels keep theirs; a label that is called all is none of the first row."""
    gold = [Sentence(["a", "b", "c"], [Mention("all", ((0, 1),)), Mention("a_b", ((0, 1), (2, 3)))])]
    html = evaluate(gold, [[Mention("all", ((0, 1),))]])._repr_html_()
    rows = re.findall(r"<tr( class=\"all\")?><td>(.*?)</td>", html)
    assert [name for kind, name in rows if kind] == ["all"]
    assert [name for _, name in rows].count("all") == 2
    assert "a_b" in [name for _, name in rows]
    assert not any("_" in name for _, name in rows if name != "a_b")
    assert '<tr class="all"><td>all</td><td>100.0</td><td>50.0</td><td>66.7</td>' in html
    assert 'style="width:4.00em"' in html


def test_points_stand_where_their_values_are():
    """From 2 to 4, 3 is in the middle, whatever else is drawn."""
    lines = [ChartLine("a", [(2, 1), (3, 2), (4, 3)]), ChartLine("b", [(2, 1)], dashed=True)]
    svg = Chart("x", "y", (2, 4), (1, 3), lines, marks=[((2, 1), "low"), ((4, 3), "high")]).svg()
    (x0, y0), (x1, y1), (x2, y2) = (
        tuple(map(float, pair.split(","))) for pair in re.search(r'c\d" points="([^"]+ [^"]+)"', svg)[1].split()
    )
    assert (x1 - x0, y0 - y1) == pytest.approx((x2 - x1, y1 - y2), abs=0.11)
    assert x0 < x2
    assert y0 > y2
    assert svg.count(" dashed") == 1
    assert re.search(r'text-anchor="start">low<', svg)
    assert re.search(r'text-anchor="end">high<', svg)
    notes = [float(x) for x in re.findall(r'class="note" x="([\d.]+)"', svg)]
    assert notes == pytest.approx([x0 + 9, x2 - 9], abs=0.06)


def test_a_score_of_what_is_not_there_is_a_dash():
    sentence = Sentence(["a", "b"], [Mention("gold", ((0, 1),)), Mention("both", ((1, 2),))])
    html = page(evaluate([sentence], [[Mention("both", ((1, 2),)), Mention("found", ((0, 1),))]]))
    rows: dict[str, list[str]] = {}
    for name, row in re.findall(r"<tr><th>(\w+)</th>(.*?)</tr>", html):
        rows.setdefault(name, re.findall(r"<(?:td|span)>([^<]*)</", row))  # that of the scores comes first
    assert rows["gold"][:3] == ["—", "0.00", "—"]
    assert rows["found"][:3] == ["0.00", "—", "—"]
    assert "—" not in rows["both"]


def test_charts_of_labels_have_the_axes_of_that_of_all():
    words = ["a", "b"]
    gold = [Sentence(words, [Mention("X", ((0, 1),))])] * 120
    found = [[Mention("X", ((k % 2, k % 2 + 1),), (k % 10 + 0.5) / 10)] for k in range(120)]
    html = page(evaluate(gold, found))
    charts = [chart for chart in html.split("<figure") if "Reliability" in chart]
    ticks = [re.findall(r'class="tick"[^>]*>([^<]*)<', chart) for chart in charts]
    assert len(ticks) == 2
    assert ticks[0] == ticks[1]
    assert max(map(float, ticks[1])) == 1
