"""The page of the workbench when the server is away, when answers are lost, and when another page holds a document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from extras import needs

needs("starlette", "uvicorn", "playwright")
pytestmark = pytest.mark.browser

from playwright.sync_api import Page, Route  # noqa: E402

from browsing import Bench, drag, saved, served, until  # noqa: E402
from spanloom.corpus import Document, Sentence  # noqa: E402

if not Path("/usr/bin/chromium").exists():
    pytest.skip("Chromium is not at /usr/bin/chromium", allow_module_level=True)

WORDS = ["human", "T", "and", "B", "cells", "express", "the", "IL-2", "receptor", "gene"]
ADDRESS = "**/api/**"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with served(tmp_path / "project") as bench:
        bench.project.add([Document([Sentence(WORDS)], "one"), Document([Sentence(["p53", "binds"])], "two")])
        bench.project.labels.add(["cell", "protein", "DNA"])
        yield bench


def away(page: Page) -> None:
    """Nothing reaches the server any more."""
    page.route(ADDRESS, lambda route: route.abort("connectionrefused"))


def test_what_was_done_without_a_server_is_stored_when_it_is_back(bench: Bench) -> None:
    """It is never called saved before; the banner stays, and leaving the page is asked about."""
    page = bench.page()
    away(page)
    for token, label in ((7, "protein"), (4, "cell")):
        drag(page, token, token)
        page.click(f"#labels [data-label={label}]")
    page.wait_for_selector("#banner:has-text('your last actions are not saved')")
    assert page.locator("#banner button:text-is('Close')").count() == 0
    assert page.inner_text("#saved") == "no connection"
    assert page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")
    page.locator("#queue .row").nth(1).click()
    page.wait_for_selector("#status:has-text('opens when your last actions are saved')")
    page.unroute(ADDRESS)
    until(lambda: page.inner_text("#doc-name") == "two")  # the document opens after all was stored
    saved(page)
    assert bench.mentions() == {("protein", ((7, 8),)), ("cell", ((4, 5),))}
    assert page.locator("#banner").is_hidden()
    assert not page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")


def test_what_is_given_up_is_gone(bench: Bench) -> None:
    page = bench.page()
    away(page)
    drag(page, 7, 7)
    page.click("#labels [data-label=protein]")
    page.click("#banner button:text-is('Give them up')")
    page.unroute(ADDRESS)
    saved(page)
    assert page.locator("#text .m").count() == 0
    assert bench.mentions() == set()


@pytest.mark.parametrize("way", ["actions", "undo"])
def test_an_action_whose_answer_was_lost_is_made_once(bench: Bench, way: str) -> None:
    """It is sent again; the server has it already, which is no conflict."""
    page = bench.page()
    lost: list[str] = []

    def lose(route: Route) -> None:
        if lost:
            route.continue_()
        else:
            lost.append(route.fetch().text())
            route.abort("connectionreset")

    if way == "actions":
        page.route("**/actions", lose)
    drag(page, 7, 7)
    page.click("#labels [data-label=protein]")
    if way == "undo":
        saved(page)
        page.route("**/undo", lose)
        page.keyboard.press("z")
    until(lambda: page.evaluate("true") and lost)  # the page must be asked, or the route is not run
    page.wait_for_selector("#banner:not([hidden])", state="attached")
    saved(page)
    assert page.locator("#banner").is_hidden()
    assert bench.mentions() == ({("protein", ((7, 8),))} if way == "actions" else set())
    assert bench.project.sheets.get(1, "ann").version == (1 if way == "actions" else 2)
    drag(page, 4, 4)
    page.click("#labels [data-label=cell]")  # and it goes on from there
    saved(page)
    assert ("cell", ((4, 5),)) in bench.mentions()


def test_a_document_is_taken_when_the_other_page_is_closed(bench: Bench) -> None:
    first, second = bench.page(), bench.page()
    second.wait_for_selector("#banner:has-text('open in another page')")
    first.close(run_before_unload=True)
    until(lambda: second.locator("#banner").is_hidden())
    drag(second, 7, 7)
    second.click("#labels [data-label=protein]")
    saved(second)
    assert bench.mentions() == {("protein", ((7, 8),))}


def test_the_keys_work_after_learn_was_clicked(bench: Bench) -> None:
    page = bench.page()
    page.click("#learn")
    until(lambda: page.evaluate("document.activeElement.id") == "text")


def test_a_search_needs_no_enter_and_says_that_nothing_was_found(bench: Bench) -> None:
    page = bench.page()
    page.fill("#search", "p53")
    until(lambda: page.locator("#queue .row").count() == 1)
    page.fill("#search", "aspirin")
    page.wait_for_selector("#queue :text('Nothing was found.')")
