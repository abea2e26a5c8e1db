"""A plugin of pytest: which tests run which lines of some rooms.

``pytest -p lines_run`` with ``SPANLOOM_LINES_OF=PACKAGE``, ``SPANLOOM_LINES_IN="ROOM ROOM"`` and
``SPANLOOM_LINES_TO=FILE``. The file gets JSON: ``lines``, from ``path:line`` to the tests that run it, and ``seconds``,
what each test took. What runs before a test starts may be shared with others of its file, so these count, too.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = os.environ["SPANLOOM_LINES_OF"] + os.sep
ROOMS = tuple(f"{FOLDER}{room}{os.sep}" for room in os.environ["SPANLOOM_LINES_IN"].split())
lines: dict[str, set[str]] = defaultdict(set)
shared: dict[str, set[str]] = defaultdict(set)
seconds: dict[str, float] = {}


def _watch(seen: set[tuple[str, int]]) -> None:
    """Note each line of the rooms' files that runs from now on."""

    def line(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def call(frame: Any, event: str, _: Any) -> Any:
        return line(frame, "line", None) if frame.f_code.co_filename.startswith(ROOMS) else None

    sys.settrace(call)
    threading.settrace(call)


def _noted(into: dict[str, set[str]], test: str) -> Iterator[None]:
    seen: set[tuple[str, int]] = set()
    _watch(seen)
    began = time.process_time()
    yield
    seconds[test] = seconds.get(test, 0.0) + time.process_time() - began
    sys.settrace(None)
    threading.settrace(None)
    for path, number in seen:
        into[f"{path[len(FOLDER) :]}:{number}"].add(test)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    yield from _noted(shared, item.nodeid)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield from _noted(lines, item.nodeid)


def pytest_sessionfinish() -> None:
    files = defaultdict(set)
    for test in seconds:
        files[test.partition("::")[0]].add(test)
    for place, tests in shared.items():
        for test in tests:
            lines[place] |= files[test.partition("::")[0]]
    found = {place: sorted(tests, key=lambda test: (seconds[test], test)) for place, tests in sorted(lines.items())}
    Path(os.environ["SPANLOOM_LINES_TO"]).write_text(json.dumps({"lines": found, "seconds": seconds}), encoding="utf-8")
