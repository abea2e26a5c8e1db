"""The workbench in a browser: how fast keys are answered, and how soon new suggestions come.

    python benchmarks/workbench.py [--genia ../shared/data/genia] [--write]

Keys: a document of 5,000 tokens and 500 mentions (nested, crossing and discontinuous); from the key event to the first
frame that shows what it did, and to the first that says that it is stored; beside it the script alone.
Learning: from the click to the suggestions in the open document, first from zero, then again after a correction.
``--write`` puts the tables into ``benchmarks/results/workbench.md``.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import tables  # noqa: E402

from browsing import Bench, served, until  # noqa: E402
from spanloom import Document, Mention, Sentence, read  # noqa: E402
from spanloom.workbench.changes import Change  # noqa: E402
from spanloom.workbench.labels import put_settings  # noqa: E402

RESULTS = tables.RESULTS / "workbench.md"
KEY = """async (key) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const text = document.querySelector("#text"), saved = document.querySelector("#saved");
  text.focus();
  let changed = false;
  const watch = new MutationObserver(() => { changed = true; });
  watch.observe(text, { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] });
  const start = performance.now();
  const shiftKey = key.startsWith("Shift+");
  text.dispatchEvent(new KeyboardEvent("keydown", { key: key.split("+").pop(), shiftKey, bubbles: true }));
  const work = performance.now() - start;
  do await frame(); while (!changed);
  await new Promise((done) => setTimeout(done, 0)); // after the frame
  const shown = performance.now() - start;
  while (saved.textContent === "saving…") await frame();
  watch.disconnect();
  return [work, shown, performance.now() - start];
}"""


def large() -> Document:
    """Return 5,000 tokens in sentences of 25, with 500 mentions."""
    rng = random.Random(1)
    sentences = []
    for _ in range(200):
        words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 9))) for _ in range(25)]
        found: set[Mention] = set()
        while len(found) < 2:
            start = rng.randrange(22)
            found.add(Mention(rng.choice("ABCDE"), ((start, start + rng.randint(1, 3)),)))
        if len(sentences) % 2:
            found.add(Mention("E", ((3, 5), (8, 9))))
        sentences.append(Sentence(words, sorted(found)))
    return Document(sentences, "large")


def keys(bench: Bench) -> list[tuple[str, list[tuple[float, ...]]]]:
    """Return the milliseconds of each kind of key: the script, until it is shown, until it is stored."""
    bench.project.add([large()])
    page = bench.page()
    page.select_option("#queue select >> nth=1", "all")
    page.locator("#queue .row").first.click()
    page.wait_for_selector("#text .m")
    rows: dict[str, list[tuple[float, ...]]] = {}
    for turn in range(25):
        for name, key in (
            ("move", "ArrowRight"), ("select", "Shift+ArrowRight"), ("annotate", "1"), ("grow", "]"), ("relabel", "2"),
            ("delete", "x"), ("undo", "z"), ("next sentence", "ArrowDown"),
        ):  # fmt: skip
            took = page.evaluate(KEY, key)
            if turn >= 3:
                rows.setdefault(name, []).append(tuple(took))
    return list(rows.items())


def learning(bench: Bench, name: str, document: int, scored: bool, again: int) -> list[Trial]:
    """Return the first learning, and the next ones, each after a correction."""
    page = bench.page()
    page.goto(f"{bench.address}?annotator=ann#{document}")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    made = []
    for number in range(1 + again):
        page.wait_for_selector("#learn:enabled")  # nobody can click it before
        began, used = time.perf_counter(), time.process_time()
        page.click("#learn")
        model = bench.project.learner.progress.model + 1
        page.wait_for_selector(f"#doc-state:has-text('model {model}')", timeout=600_000)
        took, cpu = time.perf_counter() - began, time.process_time() - used
        if not scored:
            bench.project.learner.stop()
        until(lambda: not bench.project.learner.progress.running, 1200)
        point = bench.project.learner.curve()[-1:]
        f1 = f"{point[0]['f1']:.3f} ({point[0]['how']})" if point else ""
        server = bench.project.learner.progress.seconds["suggestions"]
        turn = "again, after a correction" if number else "from zero"
        made.append(Trial((name, turn), took, server, cpu, f1))
        print(made[-1], flush=True)
        sheet = bench.project.sheets.get(document, "ann")
        doc = bench.project.documents.get(document)
        here = number % len(doc.sentences)
        change = Change(reopen=(here,)) if here in sheet.confirmed else Change(confirm=(here,))
        bench.project.sheets.change(document, "ann", sheet.version, "confirm", change)
    return made


@dataclass(frozen=True)
class Trial:
    """One click: seconds until the page shows new suggestions, until the server has them, of the processor; F1."""

    what: tuple[str, str]
    page: float
    server: float
    cpu: float
    f1: str


def trial_rows(trials: Sequence[Trial]) -> list[str]:
    """Return a row for each kind of trial."""
    rows = []
    for what in dict.fromkeys(one.what for one in trials):
        some = [one for one in trials if one.what == what]
        cells = []
        for took in ([one.page for one in some], [one.server for one in some], [one.cpu for one in some]):
            cells += [f"{min(took):.1f}", f"{statistics.median(took):.1f}"]
        rows.append(f"| {' | '.join(what)} | {len(some)} | {' | '.join(cells)} | {some[-1].f1} |")
    return rows


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--genia")
    parser.add_argument("--keys", action="store_true", help="measure keys only")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as bench:
        for name, took in keys(bench):
            cells = []
            for column in zip(*took, strict=True):
                cells += [f"{statistics.median(column):.0f}", f"{statistics.quantiles(column, n=20)[18]:.0f}"]
            rows.append(f"| {name} | {' | '.join(cells)} |")
            print(rows[-1], flush=True)
    found: list[Trial] = []
    for name, model, corpus in () if given.keys else corpora(given.genia):
        small = not name.startswith("GENIA")
        for _ in range(2 if small else 1):
            with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as bench:
                put_settings(bench.project.db, {"model": model})
                bench.project.add(corpus[:-1])
                bench.project.add(corpus[-1:], "none")
                found += learning(bench, name, len(corpus), small, 2 if small else 1)
    text = "\n".join(
        [
            "# The workbench in a browser", "",
            f"`python benchmarks/workbench.py {'--genia DIR ' if given.genia else ''}--write`", "",
            f"On {os.cpu_count()} cores, which the browser (without a graphics card) and the server share, load "
            f"average {os.getloadavg()[0]:.1f} at the end; commit {tables.commit()}.", "",
            "A key in a document of 5,000 tokens and 500 mentions, milliseconds until it is shown, and until the page "
            "says that it is on the disk:",
            "", "| key | script: median | 95 % | shown: median | 95 % | stored: median | 95 % |",
            "|---|---:|---:|---:|---:|---:|---:|", *rows, "",
            "From the click to new suggestions in the open document: seconds until the page shows them, until the "
            "server has them, and of the processor, least and median of the trials; and the F1 that the chart shows "
            "afterwards (on GENIA scoring, three more trainings, was stopped):", "",
            "| corpus | | trials | page: least | median | server: least | median | processor: least | median | F1 |",
            "|---|---|---:|---:|---:|---:|---:|---:|---:|---|", *trial_rows(found), "",
        ]
    )  # fmt: skip
    if given.write:
        RESULTS.write_text(text, encoding="utf-8")


def corpora(genia: str | None) -> Any:
    """Yield name, model and documents."""
    yield "sample, auto (multilabel)", "auto", list(read("sample:train"))
    yield "sample, edge", "edge", list(read("sample:train"))
    if genia:
        docs, n = [], 0
        for doc in islice(read(f"genia:{genia}?classes=5"), 2000):
            docs.append(doc)
            n += len(doc.sentences)
            if n >= 5000:
                break
        yield f"GENIA, {n:,} sentences, edge", "edge", docs


if __name__ == "__main__":
    main()
