"""The scripts of the quick starts do what the pages say; CI runs them (``.ci/run``)."""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path

import pytest

from spanloom import read

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))
sys.path.insert(0, str(ROOT / "tools"))

import gallery  # noqa: E402
import make_data  # noqa: E402


def commands(text: str) -> list[str]:
    return [line for line in text.splitlines() if re.match(r"(echo .*\| )?spanloom ", line)]


@pytest.mark.parametrize("name", ["novels", "tags", "abstracts"])
def test_the_page_shows_the_commands_of_the_script(name: str) -> None:
    page = (ROOT / "docs" / f"quickstart-{name}.md").read_text(encoding="utf-8")
    shown = [line for block in re.findall(r"```sh\n(.*?)```", page, re.S) for line in commands(block)]
    assert shown == commands((ROOT / "examples" / f"{name}.sh").read_text(encoding="utf-8"))
    assert len(shown) >= 4


def test_novels_nest(tmp_path: Path) -> None:
    """Every mention is placed, and some are inside others of the same label."""
    make_data.novels(tmp_path / "novels")
    documents = list(read(tmp_path / "novels" / "train"))
    assert len(documents) == 40
    inner = [
        (a.label, b.label)
        for doc in documents
        for a in doc.mentions
        for b in doc.mentions
        if a.start <= b.start and b.end <= a.end and a.parts != b.parts
    ]
    assert {("PERSON", "PERSON"), ("PERSON", "PLACE"), ("HOUSE", "PLACE")} <= set(inner)


def test_tags_have_two_layers(tmp_path: Path) -> None:
    make_data.tags(tmp_path / "tags")
    (doc,) = read(f"conll:{tmp_path}/tags/train.conll?tags=1,2&scheme=IOB2")
    assert len(doc.sentences) == 300
    assert {m.label for m in doc.mentions} == {"PERSON", "HOUSE", "PLACE"}


def test_abstracts_have_fields_of_their_own(tmp_path: Path) -> None:
    make_data.abstracts(tmp_path / "abstracts", 5)
    with gzip.open(tmp_path / "abstracts" / "abstracts.jsonl.gz", "rt") as file:
        assert [sorted(json.loads(line)) for line in file] == [["abstract", "pmid", "title"]] * 5
    documents = list(read(tmp_path / "abstracts" / "train.jsonl"))
    assert len(documents) == 200
    assert all(doc.mentions for doc in documents)


def test_the_gallery_is_drawn_by_its_command(tmp_path: Path) -> None:
    """The committed pictures are those that ``tools/gallery.py`` draws, and the page shows all of them."""
    gallery.main(tmp_path)
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for name in gallery.PICTURES:
        drawn = (tmp_path / f"{name}.svg").read_bytes()
        assert drawn == (ROOT / "docs" / "gallery" / f"{name}.svg").read_bytes()
        assert f"gallery/{name}.svg" in page
