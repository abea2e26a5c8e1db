"""``spanloom explain --mention``: every form in which a mention can be named, and what is said of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from spanloom import Document, Mention, Recognizer, Sentence
from spanloom.base.errors import SpanloomError
from spanloom.cli.app import app
from spanloom.cli.explain import find

LABELS = ("person", "person:first")
DOC = Document(
    [
        Sentence(
            ["Henry", "and", "Jane", "Linton", "met", "Henry", "Lint"],
            [Mention("person", ((2, 4),)), Mention("person", ((0, 1), (3, 4)))],
        )
    ]
)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("Jane Linton", Mention("person", ((2, 4),))),
        ("Henry … Linton", Mention("person", ((0, 1), (3, 4)))),
        ("person:Jane Linton", Mention("person", ((2, 4),))),
        ("person:Henry … Linton", Mention("person", ((0, 1), (3, 4)))),
        ("person:0-1,3-4", Mention("person", ((0, 1), (3, 4)))),
        ("person:0-1;3-4", Mention("person", ((0, 1), (3, 4)))),
        ("0-1;3-4", Mention("person", ((0, 1), (3, 4)))),
        ("2-4", Mention("person", ((2, 4),))),
        ("person:met Henry", Mention("person", ((4, 6),))),
        ("person:Jane … Henry", Mention("person", ((2, 3), (5, 6)))),
        ("person:Lint", Mention("person", ((6, 7),))),
        ("person:first:Jane", Mention("person:first", ((2, 3),))),
        ("person:first:2-3", Mention("person:first", ((2, 3),))),
    ],
)
def test_a_mention_is_named_by_words_or_places_with_or_without_label(wanted: str, expected: Mention) -> None:
    assert find(DOC, wanted, LABELS) == expected


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("Henry", "'Henry' is not found; the model finds .*'Jane Linton'.* Ask why not by LABEL:START-END"),
        ("5-6", "'5-6' has no label; labels are person, person:first. Ask by LABEL:START-END"),
        ("place:0-1", "has the label 'place', which the model does not know; labels are person"),
        ("place:Jane", "there is no label 'place'; labels are person, person:first"),
        ("person:0-1,0-2", "share a position"),
        ("person:6-9", "the text has tokens 0 to 7"),
        ("person:3-3", "the text has tokens 0 to 7"),
        ("person:Emma", "the text has no 'Emma' of whole tokens"),
        ("person:Hen", "the text has no 'Hen' of whole tokens"),
    ],
)
def test_what_names_no_mention_is_told_the_forms(wanted: str, message: str) -> None:
    with pytest.raises(typer.BadParameter, match=message):
        find(DOC, wanted, LABELS)


def test_a_discontinuous_mention_that_was_not_found_is_explained(tmp_path: Path) -> None:
    gold = [Mention("cell", ((0, 1), (3, 4))), Mention("cell", ((2, 4),))]
    broken = Sentence(["T", "and", "B", "cells", "grow"], gold)
    Recognizer("multilabel", threads=1).fit([broken] * 5).save(tmp_path / "m.loom")
    arguments = ["explain", str(tmp_path / "m.loom"), "T and B cells grow", "--mention", "cell:0-1,2-3", "--json"]
    done: Any = CliRunner().invoke(app, arguments, catch_exceptions=False)
    (line,) = done.stdout.splitlines()
    why = json.loads(line)
    assert why["mention"]["parts"] == [[0, 1], [2, 3]]
    assert why["prob"] < 0.5


def test_a_file_is_read_as_tag_reads_it(tmp_path: Path) -> None:
    """A name that looks like a file's is not taken for a text, also where there is none."""
    Recognizer("chain", threads=1).fit([Sentence(["Anna", "sings"], [Mention("person", ((0, 1),))])] * 5).save(
        tmp_path / "m.loom"
    )
    (tmp_path / "new.txt").write_text("Anna sings")
    (tmp_path / "two.jsonl").write_text('{"text": "Anna sings"}\n' * 2)

    def explained(text: object, *more: str) -> list[Any]:
        arguments = ["explain", str(tmp_path / "m.loom"), str(text), "--json", *more]
        done = CliRunner().invoke(app, arguments, catch_exceptions=False)
        return [done.exit_code, *(json.loads(line)["mention"]["parts"] for line in done.stdout.splitlines())]

    for text in ("Anna sings", tmp_path / "new.txt", f"text:{tmp_path}/new.txt"):
        assert explained(text) == [0, [[0, 1]]]
    assert explained(tmp_path / "new.txt", "--mention", "person:sings") == [0, [[1, 2]]]
    assert explained(tmp_path / "two.jsonl") == [0, [[0, 1]], [[0, 1]]]
    assert explained(tmp_path / "two.jsonl", "--mention", "Anna") == [2]
    with pytest.raises((SpanloomError, OSError), match="no such file"):
        explained(tmp_path / "absent.txt")
