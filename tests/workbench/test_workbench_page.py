"""The page of the workbench in a real browser, by mouse and by keyboard."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extras import needs

needs("starlette", "uvicorn", "playwright")
pytestmark = pytest.mark.browser

from browsing import Bench, drag, saved, served, token, until  # noqa: E402
from spanloom.corpus import Document, Mention, Sentence, make_document  # noqa: E402
from spanloom.formats import read  # noqa: E402
from spanloom.workbench.changes import Change  # noqa: E402
from spanloom.workbench.labels import put_guideline  # noqa: E402
from spanloom.workbench.queue import queue  # noqa: E402

if not Path("/usr/bin/chromium").exists():
    pytest.skip("Chromium is not at /usr/bin/chromium", allow_module_level=True)

WORDS = ["human", "T", "and", "B", "cells", "express", "the", "IL-2", "receptor", "gene"]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with served(tmp_path / "project") as bench:
        bench.project.add([Document([Sentence(WORDS), Sentence(["It", "binds", "."])], "one")])
        bench.project.add([make_document("Another text about p53.", "two")])
        bench.project.labels.add(["cell", "protein", "DNA"])
        yield bench
        assert bench.complaints == []
        assert {url for url in bench.asked if not url.startswith((bench.address, "blob:"))} == set()


def test_by_mouse(bench: Bench) -> None:
    """Flat, nested, crossing and discontinuous mentions are made by dragging; a part is added with Ctrl."""
    page = bench.page()
    for first, last, label in ((7, 8, "protein"), (7, 9, "DNA"), (6, 7, "cell")):
        drag(page, first, last)
        page.click(f"#labels [data-label={label}]")
        saved(page)
    drag(page, 0, 1)
    drag(page, 4, 4, ctrl=True)
    page.click("#labels [data-label=cell]")
    saved(page)
    nested = {("protein", ((7, 9),)), ("DNA", ((7, 10),))}
    assert bench.mentions() == {*nested, ("cell", ((6, 8),)), ("cell", ((0, 2), (4, 5)))}
    page.locator("#text .m.on").first.click()
    drag(page, 3, 3, ctrl=True)  # with a mention chosen, Ctrl gives it a part
    saved(page)
    assert ("cell", ((0, 2), (3, 5))) in bench.mentions()


def test_by_keyboard(bench: Bench) -> None:
    """The same without a mouse, and relabel, grow, shrink, split, delete, undo, redo, confirm."""
    page = bench.page()
    page.focus("#text")
    press = page.keyboard.press

    def now() -> set[tuple[str, tuple[tuple[int, int], ...]]]:
        saved(page)
        return bench.mentions()

    for _ in range(7):
        press("ArrowRight")
    press("Shift+ArrowRight")
    press("2")
    assert now() == {("protein", ((7, 9),))}
    press("]")
    assert now() == {("protein", ((7, 10),))}
    press("}")
    press("[")
    assert now() == {("protein", ((6, 9),))}
    press("{")
    press("3")
    assert now() == {("DNA", ((7, 9),))}
    press("s")
    assert now() == {("DNA", ((7, 8),)), ("DNA", ((8, 9),))}
    press("z")
    press("z")
    assert now() == {("protein", ((7, 9),))}
    press("y")
    assert now() == {("DNA", ((7, 9),))}
    press("Home")
    press("Shift+ArrowRight")
    press("Space")
    for _ in range(3):
        press("ArrowRight")
    press("Shift+ArrowLeft")
    press("Shift+ArrowRight")
    press("1")
    assert now() == {("DNA", ((7, 9),)), ("cell", ((0, 2), (4, 5)))}
    press("n")
    press("x")
    assert now() == {("cell", ((0, 2), (4, 5)))}
    press("Enter")
    saved(page)
    assert bench.project.sheets.get(1, "ann").confirmed == {0}
    press("Shift+Enter")
    until(lambda: page.inner_text("#doc-name") == "two")
    assert bench.project.sheets.get(1, "ann").confirmed == {0, 1}


def test_nested_and_crossing_by_keyboard(bench: Bench) -> None:
    """Select within a mention, around it, and across its border; a label key each."""
    page = bench.page()
    page.focus("#text")
    press = page.keyboard.press
    for first, last, key in ((7, 8, "2"), (7, 9, "3"), (6, 7, "1")):
        press("Escape")
        press("Home")
        for _ in range(first):
            press("ArrowRight")
        for _ in range(last - first):
            press("Shift+ArrowRight")
        press(key)
    saved(page)
    nested = {("protein", ((7, 9),)), ("DNA", ((7, 10),))}
    assert bench.mentions() == {*nested, ("cell", ((6, 8),))}


def test_keys_that_come_faster_than_answers(bench: Bench) -> None:
    """What is pressed is drawn at once; all of it is stored, in order, also undo and redo among it."""
    page = bench.page()
    page.route("**/actions", lambda route: (time.sleep(0.1), route.continue_()))
    page.focus("#text")
    for key in ("1", "]", "]", "2", "z", "z", "y", "ArrowRight", "3"):
        page.keyboard.press(key)
    saved(page)
    drawn = page.locator("#text .m[data-l]").all()
    assert sorted(one.get_attribute("data-l") for one in drawn) == ["DNA", "cell"]
    assert bench.mentions() == {("cell", ((0, 3),)), ("DNA", ((1, 2),))}
    page.reload()
    page.wait_for_selector("#text .m[data-l=cell]")
    page.focus("#text")
    for key in ("z", "z", "z"):  # the page has forgotten what it did; the server has not
        page.keyboard.press(key)
    saved(page)
    assert bench.mentions() == {("cell", ((0, 1),))}


def test_what_is_acknowledged_is_not_drawn_again(bench: Bench) -> None:
    """The answer of the server says what is drawn already; then only the footer changes."""
    page = bench.page()
    held: list[Any] = []
    page.route("**/actions", lambda route: held.append(route))  # the server hears of it when the test says so
    drag(page, 7, 8)
    page.keyboard.press("2")
    page.wait_for_selector("#text .m[data-l=protein]")
    page.evaluate("""() => {
      window.drawn = 0;
      new MutationObserver((some) => { window.drawn += some.length; }).observe(
        document.querySelector("#text"), { childList: true, subtree: true });
    }""")
    assert page.inner_text("#saved") == "saving…"
    until(lambda: page.evaluate("1") and held)  # asking the page lets its requests come in
    held.pop().continue_()
    saved(page)
    assert page.evaluate("window.drawn") == 0
    assert page.is_enabled("#undo")
    page.unroute("**/actions")
    page.keyboard.press("z")  # the observer sees what is drawn
    saved(page)
    assert page.evaluate("window.drawn") > 0
    assert page.is_enabled("#redo")


def test_what_is_refused_is_taken_back(bench: Bench) -> None:
    """An action that the server does not take disappears, with what was built on it."""
    page = bench.page()
    page.route("**/actions", lambda route: route.fulfill(status=400, json={"error": "no room"}))
    drag(page, 7, 8)
    page.keyboard.press("2")
    page.keyboard.press("]")
    page.wait_for_selector("#banner:has-text('no room')")
    saved(page)
    assert page.locator("#text .m").count() == 0
    page.unroute("**/actions")
    drag(page, 7, 8)
    page.keyboard.press("2")
    saved(page)
    assert bench.mentions() == {("protein", ((7, 9),))}
    bench.complaints.clear()


def test_own_texts_and_labels(bench: Bench, tmp_path: Path) -> None:
    """A text file comes in under its name, the first label is made for selected words, a used one is not renamed."""
    bench.project.labels.put([])
    path = tmp_path / "notes.txt"
    path.write_text("She took 5 mg of aspirin.\n\nIt helped.", encoding="utf-8")
    page = bench.page()
    page.click("[data-view=project]")
    page.set_input_files("#import-file", path)
    page.click("#import")
    page.wait_for_selector("#banner:has-text('1 document added')")
    page.click("[data-view=annotate]")
    page.click("#queue .row:has-text('notes')")
    page.wait_for_selector("#doc-name:text-is('notes.txt')")
    drag(page, 2, 3)
    page.keyboard.press("1")
    page.wait_for_selector("#status:has-text('No label has the key 1')")
    page.click("#new-label")
    page.fill("#label-name", "dose")
    page.keyboard.press("Enter")
    page.wait_for_selector("#text .m[data-l=dose]")
    saved(page)
    assert bench.mentions(3) == {("dose", ((2, 4),))}
    page.wait_for_selector("#queue .row[aria-current=true]:has-text('1 mention')")
    ticks, tokens = page.locator("#text .tick"), page.locator("#text .t")
    assert abs(ticks.nth(1).bounding_box()["y"] - tokens.nth(7).bounding_box()["y"]) < 12  # a paragraph later
    page.click("[data-view=project]")
    assert page.get_attribute("[aria-label='name of dose']", "readonly") is not None
    page.click("#add-label")
    assert page.get_attribute("[aria-label='name of the new label']", "readonly") is None


def test_look_around(bench: Bench) -> None:
    """Guideline, why, elsewhere, search, orders, the trail and the counts: each shows what the server has."""
    docs = list(read("sample:train", domain="news"))
    bench.project.add(docs[:12])
    bench.project.labels.put([{"name": "ORG", "description": "Firms and bodies", "examples": ["the board"]}])
    put_guideline(bench.project.db, "Leave out articles.")
    bench.project.learner.start()
    assert bench.project.learner.wait().phase == "done"
    page = bench.page()
    page.select_option("#queue select >> nth=1", "all")
    page.fill("#search", "IL-2")
    page.keyboard.press("Enter")
    until(lambda: page.locator("#queue .row").count() == 1)
    page.fill("#search", "")
    page.keyboard.press("Enter")
    until(lambda: page.locator("#queue .row").count() == 14)
    for order in ("uncertainty", "models", "annotators", "random", "order"):
        page.select_option("#queue select >> nth=0", order)
        wanted = [
            d["name"]
            for d in queue(bench.project, "ann", by=order, state="all", search="", offset=0, limit=60)["documents"]
        ]
        until(lambda wanted=wanted: page.locator("#queue .row b").all_inner_texts() == wanted)
    page.locator("#queue .row").nth(2).click()
    page.wait_for_selector("#text .m")
    page.click("#tab-guideline")
    page.wait_for_selector("#side-body:has-text('Leave out articles.')")
    assert "Firms and bodies" in page.inner_text("#side-body")
    page.focus("#text")
    page.keyboard.press("n")
    page.keyboard.press("w")
    page.wait_for_selector("#side-body .bars i")
    page.keyboard.press("e")
    page.wait_for_selector("#side-body:has-text('times.')")
    page.keyboard.press("x")
    saved(page)
    page.click("[data-view=project]")
    page.wait_for_selector("#project:has-text('Last changes') td:text-is('delete')")
    row = page.locator("#project tr", has=page.locator("td:text-is('delete')")).first.inner_text()
    assert docs[0].id in row
    assert "ann" in row


def test_stop_and_the_threshold(bench: Bench) -> None:
    """Learning is stopped in the page; a higher threshold shows and accepts fewer suggestions."""
    bench.project.add(list(read("sample:train", domain="biomedical")))
    page = bench.page()
    page.click("#learn")
    page.wait_for_selector("#stop", state="visible")
    page.click("#stop")
    page.wait_for_selector("#learned:text-is('stopped')")
    assert bench.project.learner.progress.phase == "stopped"
    page.click("#learn")
    page.wait_for_selector("#text .m.sug", timeout=60_000)
    until(lambda: not bench.project.learner.progress.running, 60)
    offered = bench.project.suggested(1)["suggestions"]
    probs = sorted(m["prob"] for m in offered)
    assert len(probs) > 1
    above = (probs[-1] + probs[-2]) / 2
    page.fill("#above", str(above))
    page.keyboard.press("Tab")
    page.click("#accept-all")
    saved(page)
    wanted = {(m["label"], tuple(map(tuple, m["parts"]))) for m in offered if m["prob"] >= above}
    assert bench.mentions() == wanted
    assert len(wanted) < len(offered)


def test_a_narrow_page(bench: Bench) -> None:
    """On a telephone everything is in reach, and nothing is wider than the page."""
    page = bench.page(viewport={"width": 390, "height": 800}, color_scheme="dark")
    for view in ("project", "learning", "compare", "annotate"):
        page.click(f"[data-view={view}]")
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
    token(page, 7).scroll_into_view_if_needed()
    drag(page, 7, 8)
    page.click("#labels [data-label=protein]")
    saved(page)
    assert bench.mentions() == {("protein", ((7, 9),))}


def test_learn_accept_export(tmp_path: Path) -> None:
    """Import in the page, learn, see suggestions with their probabilities, accept, reject, export."""
    with served(tmp_path / "project") as bench:
        page = bench.page()
        page.click("#sample")
        page.wait_for_selector("#banner:has-text('74 annotated documents')")
        page.click("[data-view=annotate]")
        page.wait_for_selector("#queue .row[aria-current=true]")  # the first that is to do is open
        assert page.locator("#text .m").count() == 0
        page.focus("#text")
        page.keyboard.press("r")
        page.wait_for_selector("#text .m.sug", timeout=60_000)
        assert re.fullmatch(r"\w+ (0\.\d\d|1\.00)", page.locator("#text .m.sug[data-l]").first.get_attribute("data-l"))
        number = int(page.url.rpartition("#")[2])
        stored = bench.project.suggested(number)["suggestions"]
        shown = {(m["label"], tuple(map(tuple, m["parts"]))) for m in stored if m["prob"] >= 0.5}
        page.keyboard.press("n")
        page.keyboard.press("x")
        saved(page)
        (rejected,) = {(m.label, m.parts) for m in bench.project.sheets.get(number, "ann").rejected}
        last = page.locator("#text .m.sug[data-l]").last
        last.dblclick()
        saved(page)
        assert len(bench.mentions(number)) == 1 < len(shown)
        page.focus("#text")
        page.keyboard.press("A")
        saved(page)
        assert bench.mentions(number) == shown - {rejected}
        assert page.locator("#text .m.sug").count() == 0
        page.click("[data-view=project]")
        page.select_option("#export-layer", "ann")
        with page.expect_download() as download:
            page.click("#export")
        path = tmp_path / "out.jsonl"
        download.value.save_as(path)
        exported = {doc.id: {(m.label, m.parts) for m in doc.mentions} for doc in read(path)}
        assert exported[bench.project.documents.get(number).id] == shown - {rejected}
        until(lambda: not bench.project.learner.progress.running, 60)
        page.click("[data-view=learning]")
        page.wait_for_selector("#learning .chart .dot", state="attached")
        assert bench.complaints == []


def test_two_pages_at_once(bench: Bench) -> None:
    """A second page of the same annotator reads until it takes over; what the first does then is refused and shown."""
    one, two = bench.page(), bench.page()
    two.wait_for_selector("#banner:has-text('open in another page')")
    drag(two, 0, 0)
    two.click("#labels [data-label=DNA]")
    assert bench.mentions() == set()
    two.click("#take")
    two.wait_for_selector("#banner", state="hidden")
    drag(two, 0, 0)
    two.click("#labels [data-label=DNA]")
    saved(two)
    drag(one, 1, 1)
    one.click("#labels [data-label=cell]")
    one.wait_for_selector("#banner:has-text('open in another page')")
    assert bench.mentions() == {("DNA", ((0, 1),))}
    one.click("#take")
    one.wait_for_selector("#text .m[data-l=DNA]")
    assert [text for text in bench.complaints if "423" not in text] == []
    bench.complaints.clear()


def test_a_conflict_is_shown_and_nothing_overwritten(bench: Bench) -> None:
    page = bench.page()
    bench.project.sheets.change(1, "ann", 0, "add", Change(add=(Mention("protein", ((7, 9),)),)))
    drag(page, 0, 0)
    page.click("#labels [data-label=cell]")
    page.wait_for_selector("#banner:has-text('changed elsewhere')")
    page.wait_for_selector("#text .m[data-l=protein]")
    assert bench.mentions() == {("protein", ((7, 9),))}
    assert [text for text in bench.complaints if "409" not in text] == []
    bench.complaints.clear()


def test_reload_in_the_middle(bench: Bench) -> None:
    """The page that comes back shows the same document with all that was acknowledged, and may go on."""
    page = bench.page()
    page.locator("#queue .row").nth(1).click()
    page.wait_for_selector("#doc-name:text-is('two')")
    drag(page, 0, 1)
    page.click("#labels [data-label=cell]")
    saved(page)
    page.reload()
    page.wait_for_selector("#text .m[data-l=cell]")
    assert page.inner_text("#doc-name") == "two"
    page.focus("#text")
    page.keyboard.press("z")
    saved(page)
    assert bench.mentions(2) == set()


def test_annotators_are_compared_and_settled(bench: Bench) -> None:
    for name, mentions in (("ann", {("cell", (0, 5)), ("DNA", (7, 10))}), ("bea", {("cell", (0, 5))})):
        made = tuple(Mention(label, (part,)) for label, part in mentions)
        bench.project.sheets.change(1, name, 0, "add", Change(add=made, confirm=(0,)))
    page = bench.page()
    page.click("[data-view=compare]")
    page.wait_for_selector("#compare .card:has-text('F1 66.7 %')")
    page.click("[data-compare='1']")
    page.wait_for_selector("#pairs .m.only[data-l=DNA]")
    page.click("[data-settle=one]")
    page.wait_for_selector("#pairs h3:text-is('Settled')")
    assert bench.mentions(1, "adjudicated") == {("cell", ((0, 5),)), ("DNA", ((7, 10),))}
    box = page.get_by_role("checkbox", name="DNA IL-2 receptor gene ann")
    assert box.is_checked()
    box.uncheck()
    page.click("[data-settle=both]")
    until(lambda: bench.mentions(1, "adjudicated") == {("cell", ((0, 5),))})
    page.wait_for_selector("#pairs input:enabled:not(:checked)")
    page.get_by_role("checkbox", name="DNA IL-2 receptor gene ann").check()
    page.click("[data-settle=both]")
    until(lambda: bench.mentions(1, "adjudicated") == {("cell", ((0, 5),)), ("DNA", ((7, 10),))})


def test_text_from_right_to_left(bench: Bench) -> None:
    """Arrow keys go where they point."""
    bench.project.add([Document([Sentence(["أعلنت", "هيئة", "الصحة", "في", "القاهرة"])], "rtl")])
    page = bench.page()
    page.locator("#queue .row").nth(2).click()
    page.wait_for_selector("#doc-name:text-is('rtl')")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("1")
    saved(page)
    assert bench.mentions(3) == {("cell", ((1, 3),))}
    first, second = (page.locator("#text .t").nth(n).bounding_box() for n in (0, 1))
    assert first["x"] > second["x"]
    tick = page.locator("#text .tick").bounding_box()
    assert tick["x"] >= first["x"] + first["width"]  # beside the text, not over it


def test_script_in_text_labels_and_names_is_text(bench: Bench) -> None:
    script = "<img src=x onerror=document.title='owned'>"
    bench.project.add([Document([Sentence([script, "b"], [Mention(script, ((0, 1),))])], script)])
    page = bench.page(annotator="<b>x</b>")
    page.select_option("#queue select >> nth=1", "all")
    page.locator("#queue .row").nth(2).click()
    page.wait_for_selector("#text .m")
    for view in ("compare", "learning", "project", "annotate"):
        page.click(f"[data-view={view}]")
        page.wait_for_timeout(100)
    assert page.locator("img[src=x]").count() == 0
    assert page.inner_text("#doc-name") == script
    assert "owned" not in page.title()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(bench: Bench, scheme: str) -> None:
    """Names, roles, contrast: the rules of axe-core, in all views."""
    needs("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    bench.project.add(list(read("sample:train", domain="news"))[:3])
    bench.project.sheets.change(1, "ann", 0, "add", Change(add=(Mention("DNA", ((7, 10),)),), confirm=(0,)))
    bench.project.sheets.change(1, "bea", 0, "add", Change(add=(Mention("cell", ((7, 10),)),), confirm=(0,)))
    page = bench.page(color_scheme=scheme, bypass_csp=True)
    page.focus("#text")
    page.keyboard.press("n")
    found = {}
    for view in ("annotate", "compare", "learning", "project"):
        page.click(f"[data-view={view}]")
        page.wait_for_timeout(200)
        told = Axe().run(page).response
        assert len(told["passes"]) > 10
        for one in told["violations"]:
            found[view, one["id"]] = [node["html"][:120] for node in one["nodes"]][:3]
    assert found == {}
