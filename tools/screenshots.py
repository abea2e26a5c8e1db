"""Make the pictures of docs/workbench.md: ``python tools/screenshots.py``. Needs playwright and Chromium.

The project is the bundled sample corpus: a quarter of it comes annotated, the rest is annotated mention by mention
while the recogniser learns, some documents are to do, two annotators differ.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browsing import Bench, saved, served, until  # noqa: E402
from spanloom import Document, Mention, read  # noqa: E402
from spanloom.workbench.changes import Change  # noqa: E402
from spanloom.workbench.labels import put_guideline  # noqa: E402

FOLDER = ROOT / "docs" / "images"
TEXTS = {
    "protein": ("Proteins, families and complexes of them.", ["IL-2", "NF-kappa B"]),
    "DNA": ("Genes, promoters, sites: what is on a chromosome.", ["IL-2 gene", "CD14 promoter"]),
    "cell_type": ("Kinds of cells in the body, also in plural.", ["T cells", "resting monocytes"]),
}


def prepare(bench: Bench) -> int:
    """Fill the project and learn four times; return the document to show."""
    project = bench.project
    docs = list(read("sample:train", domain="biomedical"))
    quarter = len(docs) // 4
    project.add(docs[:quarter])
    project.add(docs[quarter:], "none")
    for part in range(1, 4):
        project.learner.start()
        project.learner.wait()
        for number in range(part * quarter, len(docs) if part == 3 else (part + 1) * quarter):
            annotate(bench, number + 1, docs[number])
    project.add(read("sample:dev", domain="biomedical"), "none")
    labels = [{**one, "description": "", "examples": []} for one in project.labels.all()]
    for one in labels:
        one["description"], one["examples"] = TEXTS.get(one["name"], ("", []))
    project.labels.put([{k: v for k, v in one.items() if k != "count"} for one in labels])
    put_guideline(project.db, "Mark every mention, also within others. Leave out articles.\n\nIn doubt, ask.")
    first = sorted(project.sheets.get(1, "ann").mentions)
    project.sheets.change(1, "ann", 0, "delete", Change(remove=(first[0],)))
    project.sheets.change(1, "bea", 0, "relabel", Change(remove=(first[1],), add=(Mention("RNA", first[1].parts),)))
    shown = next(n for n, doc in enumerate(project.documents.numbers(), 1) if n > len(docs))
    project.learner.start([shown])
    project.learner.wait()
    return shown


def annotate(bench: Bench, number: int, doc: Document) -> None:
    """Make the annotation of a document, one action a mention, and confirm it."""
    sheets = bench.project.sheets
    for version, mention in enumerate(doc.mentions):
        sheets.change(number, "ann", version, "add", Change(add=(mention,)))
    everything = Change(confirm=tuple(range(len(doc.sentences))))
    sheets.change(number, "ann", len(doc.mentions), "confirm", everything)


def main() -> None:
    """Take all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "genes") as bench:
        shown = prepare(bench)
        for scheme in ("light", "dark"):
            page = bench.page(
                "ann" if scheme == "light" else "dora", color_scheme=scheme, viewport={"width": 1280, "height": 560}
            )
            page.goto(f"{bench.address}#{shown}")
            page.reload()
            page.wait_for_selector("#text .m.sug")
            page.focus("#text")
            if scheme == "light":
                page.keyboard.press("n")
                page.keyboard.press("a")
                saved(page)
                page.keyboard.press("n")
            page.click("#tab-guideline" if scheme == "dark" else "#tab-mentions")
            page.wait_for_timeout(400)
            page.screenshot(path=FOLDER / f"workbench-{scheme}.png")
            page.context.close()
        page = bench.page("ann", viewport={"width": 1280, "height": 660})
        page.click("[data-view=compare]")
        page.click("[data-compare='1']")
        page.wait_for_selector("#pairs .m.only")
        page.wait_for_timeout(300)
        page.screenshot(path=FOLDER / "workbench-compare.png")
        until(lambda: not bench.project.learner.progress.running)
        page.click("[data-view=learning]")
        page.wait_for_selector("#learning .dot", state="attached")
        page.screenshot(path=FOLDER / "workbench-learning.png")


if __name__ == "__main__":
    main()
