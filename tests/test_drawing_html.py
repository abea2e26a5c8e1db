"""Mentions drawn as HTML and SVG: what is drawn where, nothing that runs or loads, and text that stays text."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Document, Mention, Sentence, read, write
from spanloom.base.errors import ParameterError
from spanloom.drawing.svg import picture
from tests.formats.random_documents import documents

WORDS = ["alpha", "and", "beta", "globin", "genes"]
NESTED = Mention("DNA", ((2, 5),), prob=0.75)
INNER = Mention("protein", ((2, 4),))
BROKEN = Mention("protein", ((0, 1), (3, 4)), prob=0.5)


class Drawing(HTMLParser):
    """The text that a reader sees, and the marks at each token: (class, row, caption)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.tokens: list[tuple[str, str]] = []
        self.marks: list[dict[str, tuple[str, int]]] = []
        self.rows: list[list[int]] = []
        self.captions = 0
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.stack: list[str] = []
        self.feed(html)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.attributes |= set(given)
        if tag != "meta":
            self.stack.append(tag)
        kinds = given.get("class", "").split()
        if "w" in kinds:
            self.tokens.append(("", given["title"]))
            self.marks.append({})
            self.rows.append([])
        if "l" in kinds:
            row = int(re.findall(r"--k:(\d+)", given["style"])[0])
            self.rows[-1].append(row)
            self.captions += "data-l" in given
            self.marks[-1][str(row)] = (" ".join(kinds[1:]), row)
            if "data-l" in given:
                self.marks[-1][given["data-l"]] = (" ".join(kinds[1:]), row)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.stack:
            return
        self.text += data
        if "span" in self.stack:
            self.tokens[-1] = (self.tokens[-1][0] + data, self.tokens[-1][1])


def test_marks_stand_at_their_tokens_inner_ones_nearer_to_the_text() -> None:
    """By hand: the inner protein in row 0, the broken one below it with a gap of two tokens, DNA below both."""
    drawing = Drawing(Sentence(WORDS, [NESTED, INNER, BROKEN]).to_html())
    assert drawing.text == "alpha and beta globin genes"
    assert [word.strip() for word, _ in drawing.tokens] == WORDS
    assert drawing.marks[2]["protein"] == ("s", 0)  # of the inner one
    assert drawing.marks[0]["protein"][0] == "s e b"
    row = str(drawing.marks[0]["protein"][1])
    assert [marks[row][0] for marks in drawing.marks[1:4]] == ["g", "g", "s e b"]
    assert drawing.marks[2]["DNA"][1] > 0
    assert drawing.marks[4][str(drawing.marks[2]["DNA"][1])][0] == "e"
    assert drawing.tokens[0][1] == "protein 0.500"
    assert set(drawing.tokens[2][1].split("\n")) == {"protein", "protein 0.500", "DNA 0.750"}


@given(documents(rich=True))
def test_the_text_stays_as_it_is_and_nothing_overlaps(docs: list[Document]) -> None:
    """Whatever the mentions: the text is the document's, each mention is captioned once, rows at a token differ."""
    for doc in docs:
        drawing = Drawing(doc.to_html())
        held = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "\ufffd", doc.text)
        if all(a[1] <= b[0] for s in doc.sentences for a, b in zip(s.spans, s.spans[1:], strict=False)):
            assert drawing.text.replace("\r", "\n") == held.replace("\r", "\n")
        covered = {t for m in doc.mentions for t in range(m.start, m.end)}
        assert len(drawing.tokens) == len(covered)
        assert drawing.captions == len(doc.mentions)
        assert all(len(rows) == len(set(rows)) for rows in drawing.rows)


@given(st.text(max_size=20), st.text(max_size=10))
def test_words_and_labels_cannot_leave_their_place(word: str, label: str) -> None:
    """Also in a whole page and in a picture: no tag or attribute that the drawing does not have anyway."""
    plain = Document([Sentence(["x", "y"], [Mention("z", ((0, 1), (1, 2)))])], "i")
    token = word.strip() or "x"
    doc = Document([Sentence([token, "y"], [Mention(label or "z", ((0, 1), (1, 2)))])], word)
    for evil in ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'):
        bad = Document([Sentence([evil, "y"], [Mention(evil, ((0, 2),))])], evil)
        for one in (doc, bad):
            assert Drawing(one.to_html()).tags == Drawing(plain.to_html()).tags
            assert {e.tag for e in ET.fromstring(picture([one])).iter()} <= {
                e.tag for e in ET.fromstring(picture([plain])).iter()
            }


def test_a_page_is_one_file_without_scripts_and_requests(tmp_path: Path) -> None:
    doc = Document([Sentence(WORDS, [NESTED, INNER, BROKEN])], "<d1>")
    for name in ("chapter.html", "chapter.svg"):
        report = write([doc, doc], tmp_path / name)
        assert (report.documents, report.mentions) == (2, 6)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert not re.search(r"<script|<link|<img|@import|url\(|\ssrc=|\shref=|\son\w+=", text)
        assert re.findall(r"https?://[^\"]*", text) == (["http://www.w3.org/2000/svg"] if name.endswith("svg") else [])
        assert "prefers-color-scheme: dark" in text
        assert "&lt;d1&gt;" in text
    page = (tmp_path / "chapter.html").read_text(encoding="utf-8")
    assert "<title>chapter</title>" in page
    assert "@media print" in page
    assert "protein 4</li>" in page
    write([doc], f"html:{tmp_path}/chapter.html?title=Mine")
    assert "<title>Mine</title>" in (tmp_path / "chapter.html").read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match="can be written only"):
        read(tmp_path / "chapter.html")


def test_a_picture_has_bars_under_their_words() -> None:
    """Cells of 8.4 pixels and a margin of 14: alpha at 14 to 56, globin is cells 15 to 21."""
    root = ET.fromstring(picture([Document([Sentence(WORDS, [BROKEN])])]))
    space = "{http://www.w3.org/2000/svg}"
    bars = [(float(r.get("x", 0)), float(r.get("width", 0))) for r in root.iter(f"{space}rect") if r.get("rx")]
    assert bars == [
        (14.5, pytest.approx(5 * 8.4 - 1)),
        (pytest.approx(14 + 15 * 8.4 + 0.5, abs=0.05), pytest.approx(49.4)),
    ]
    assert len(list(root.iter(f"{space}path"))) == 1  # the dashes
    assert [t.text for t in root.iter(f"{space}title")] == ["protein 0.500"]
    words = {t.text: float(t.get("x", 0)) for t in root.iter(f"{space}text") if t.get("class") == "t"}
    assert words["globin"] == pytest.approx(14 + 15 * 8.4, abs=0.05)


def test_pictures_of_text_from_right_to_left_are_mirrored() -> None:
    """Of two Hebrew words the first stands right of the second; Latin words between them keep their own order."""
    words = ["שלום", "one", "two", "עולם"]
    root = ET.fromstring(picture([Document([Sentence(words, [Mention("x", ((1, 2),))])])], 40))
    at = {t.text: t for t in root.iter("{http://www.w3.org/2000/svg}text") if t.get("class") == "t"}
    left = {word: float(at[word].get("x", 0)) for word in words}  # of Hebrew words this is the right edge
    assert left["שלום"] > left["two"] > left["one"] > left["עולם"]
    assert at["שלום"].get("direction") == "rtl"
    assert at["one"].get("direction") is None
    (bar,) = (r for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.get("rx"))
    assert float(bar.get("x", 0)) == pytest.approx(left["one"] + 0.5, abs=0.05)
    with pytest.raises(ParameterError, match="whole number from 8"):
        write([], "svg:-?width=3")


def test_pages_stream(tmp_path: Path) -> None:
    """The first document is out before the second is asked for."""
    from spanloom.drawing.page import page

    asked = []

    def docs():
        for k in range(2):
            asked.append(k)
            yield Document([Sentence(WORDS)], f"d{k}")

    for piece in page(docs()):
        if ">d0<" in piece:
            assert asked == [0]
            break
    else:
        pytest.fail("no document in the page")


def test_documents_show_themselves_in_notebooks_without_drawing_being_imported_before() -> None:
    code = (
        "import sys; from spanloom import Document, Sentence; assert 'spanloom.drawing' not in sys.modules; "
        "d = Document([Sentence(['a'])]); print(d._repr_html_() == d.to_html() and d.sentences[0]._repr_html_()[:7])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "<style>"
