"""A workbench that is served, and a browser that looks at it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from spanloom.workbench.app import make_app
from spanloom.workbench.project import Project
from spanloom.workbench.run import listen

SLOW = """
const at_once = window.fetch.bind(window);
const later = () => new Promise((go) => setTimeout(go, %d * Math.random()));
window.fetch = async (...what) => {
  await later();
  const answer = await at_once(...what);
  await later();
  return answer;
};
"""

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


class Bench:
    """A project, its server and the pages that look at it.

    SPANLOOM_SLOW_PAGE=400 delays what pages ask for, by up to 400 ms each way: what tests do not wait for is seen then.
    """

    def __init__(self, project: Project, browser: Browser, address: str) -> None:
        self.project, self.browser, self.address = project, browser, address
        self.complaints: list[str] = []
        self.asked: set[str] = set()

    def page(self, annotator: str = "ann", **options: Any) -> Page:
        """Open a page in a browser profile of its own; what its console complains of is kept."""
        context = self.browser.new_context(**{"viewport": {"width": 1400, "height": 850}, **options})
        if os.environ.get("SPANLOOM_SLOW_PAGE"):
            context.add_init_script(SLOW % int(os.environ["SPANLOOM_SLOW_PAGE"]))
        page = context.new_page()
        page.on("console", lambda one: self.complaints.append(one.text) if one.type in ("error", "warning") else None)
        page.on("pageerror", lambda one: self.complaints.append(str(one)))
        page.on("request", lambda one: self.asked.add(one.url))
        page.goto(f"{self.address}?annotator={annotator}")
        page.wait_for_selector("body[data-ready]")
        return page

    def mentions(self, document: int = 1, annotator: str = "ann") -> set[tuple[str, tuple[tuple[int, int], ...]]]:
        """Return what is stored."""
        return {(m.label, m.parts) for m in self.project.sheets.get(document, annotator).mentions}


@contextmanager
def served(folder: Path) -> Iterator[Bench]:
    """Serve a project from a thread."""
    project = Project(folder)
    place = listen(0)
    server = uvicorn.Server(uvicorn.Config(make_app(project), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        try:
            yield Bench(project, browser, f"http://127.0.0.1:{place.getsockname()[1]}/")
        finally:
            browser.close()
            server.should_exit = True
            thread.join(10)
            place.close()
            project.close()


def token(page: Page, number: int) -> Any:
    """Return the place of a token on the page."""
    return page.locator("#text .t").nth(number)


def drag(page: Page, first: int, last: int, *, ctrl: bool = False) -> None:
    """Drag from one token to another."""
    if ctrl:
        page.keyboard.down("Control")
    for number, act in ((first, page.mouse.down), (last, page.mouse.up)):
        box = token(page, number).bounding_box()
        page.mouse.move(box["x"] + 3, box["y"] + 8)
        act()
    if ctrl:
        page.keyboard.up("Control")


def saved(page: Page) -> None:
    """Wait until everything is stored."""
    page.wait_for_selector("#saved:text-is('all saved')", state="attached")


def until(happens: Any, seconds: float = 20.0) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)
