"""Files of earlier versions open, and hold what they held then.

``fixtures/models-0.1`` has a file of spanloom 0.1 for every kind of model, trained on ten documents of the sample
corpus, and what that version found in ten documents with them. ``models-format-2`` has packed weights, and models and
decisions that came later. ``models-format-3`` has weights as multiples of a step. ``reports-0.1`` has what commands
print with ``--json``.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from running import run
from spanloom import Document, Mention, Recognizer, Sentence
from spanloom.base.errors import ModelFileError, SpanloomError
from spanloom.base.model_file import load_arrays, save_arrays
from spanloom.workbench.changes import Change
from spanloom.workbench.project import FILE, Project

FOLDER = Path(__file__).parent / "fixtures" / "models-0.1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
DOCUMENTS = [
    Document([Sentence(s["tokens"], [], {k: v for k, v in s.items() if k != "tokens"}) for s in sentences])
    for sentences in EXPECTED["documents"]
]
SETTINGS = {
    "chain-unconstrained": {"model__constrained": False, "trainer__l2": 0.03, "keep": "longest"},
    "chains": {"decide__penalty": -0.5},
    "memm": {"model__dictionary": 3, "model__order": 2},
    "memm-1": {"model__order": 1, "model__beam": 5},
    "dgm": {"model__longest": 6},
    "multilabel-rescored": {"model__rescore": True, "model__max_gap": 2, "trainer__max_iter": 3},
    "cascade": {"model__folds": 2, "model__base__scheme": "IOBES"},
    "innermost": {"model__base__order": 1},
    "outermost": {"model__base__longest": 6},
    "tagger": {"model__column": "pos", "trainer__support": "observed"},
    "annotators": {"repairs": ("parentheses", "abbreviations")},
    "penalty-on-dev": {"decide__penalty": "auto"},
}


def mentions(ner: Recognizer) -> list[list[Mention]]:
    return [document.mentions for document in ner.predict(DOCUMENTS)]


def test_there_is_a_file_of_every_model_of_the_first_version() -> None:
    first = {
        *("cascade", "chain", "chains", "dgm", "dgm-nested", "dgm-s", "edge", "hypergraph", "innermost", "joined"),
        *("layered", "memm", "multilabel", "outermost", "semimarkov", "spans", "state", "tagger", "weak-semimarkov"),
    }
    assert {Recognizer.load(path).trained_.model.name for path in FOLDER.glob("*.loom")} == first


@pytest.mark.parametrize("name", EXPECTED["mentions"])
def test_an_old_file_finds_what_it_found(name: str, tmp_path: Path) -> None:
    """Opened, and written and opened again."""
    expected = [
        [Mention(label, tuple(map(tuple, parts))) for label, *parts in found] for found in EXPECTED["mentions"][name]
    ]
    assert any(expected)
    old = Recognizer.load(FOLDER / f"{name}.loom", threads=1)
    assert mentions(old) == expected
    old.save(tmp_path / "new.loom")
    assert mentions(Recognizer.load(tmp_path / "new.loom", threads=1)) == expected


def test_an_old_tagger_gives_the_same_tags(tmp_path: Path) -> None:
    old = Recognizer.load(FOLDER / "tagger.loom", threads=1)
    old.save(tmp_path / "new.loom")
    for ner in (old, Recognizer.load(tmp_path / "new.loom", threads=1)):
        found = [[s.columns["pos"] for s in document.sentences] for document in ner.predict(DOCUMENTS)]
        assert found == EXPECTED["tags"]["tagger"]


@pytest.mark.parametrize("name", ["chain", "edge", "memm", "multilabel", "semimarkov"])
def test_a_header_of_many_labels_needs_weights_for_them(name: str, tmp_path: Path) -> None:
    """All pairs of labels would be made before the missing weights are noticed: minutes, or all memory."""
    arrays, header = load_arrays(FOLDER / f"{name}.loom")
    for key, value in header["model"].items():
        if isinstance(value, list):
            header["model"][key] = [*value, *(f"B-{k}" for k in range(30_000))]
    save_arrays(tmp_path / "m.loom", arrays, header)
    with pytest.raises(ModelFileError, match="no weights for so many"):
        Recognizer.load(tmp_path / "m.loom")


@pytest.mark.parametrize("name", SETTINGS)
def test_old_settings_are_where_they_belong_now(name: str, tmp_path: Path) -> None:
    """Flat settings of 0.1 are settings of the model, the trainer and the decision; a second file keeps them."""
    old = Recognizer.load(FOLDER / f"{name}.loom")
    old.save(tmp_path / "new.loom")
    for ner in (old, Recognizer.load(tmp_path / "new.loom")):
        found = ner.get_params()
        assert {key: found[key] for key in SETTINGS[name]} == SETTINGS[name]


SECOND = FOLDER.with_name("models-format-2")
PACKED = json.loads((SECOND / "expected.json").read_text())


@pytest.mark.parametrize("name", PACKED["mentions"])
def test_packed_weights_of_format_two_find_what_they_found(name: str) -> None:
    documents = [Document([Sentence(tokens) for tokens in sentences]) for sentences in PACKED["documents"]]
    assert name == "chain-float32" or load_arrays(SECOND / f"{name}.loom")[1]["packed"]
    ner = Recognizer.load(SECOND / f"{name}.loom", threads=1)
    found = [[[m.label, *map(list, m.parts)] for m in ner.predict(document).mentions] for document in documents]
    assert any(found)
    assert found == PACKED["mentions"][name]


@pytest.mark.parametrize("name", PACKED["probabilities"])
def test_models_of_format_two_believe_what_they_believed(name: str) -> None:
    """Models, decisions and calibrations that are younger than the first version."""
    ner = Recognizer.load(SECOND / f"{name}.loom", threads=1)
    for sentences, expected in zip(PACKED["documents"], PACKED["probabilities"][name], strict=True):
        found = ner.predict(Document([Sentence(tokens) for tokens in sentences]))
        assert [m.prob for m in found.mentions] == pytest.approx(expected, abs=1e-5)


THIRD = FOLDER.with_name("models-format-3")
FIXED = json.loads((THIRD / "expected.json").read_text())


@pytest.mark.parametrize("name", FIXED["mentions"])
def test_models_of_format_three_find_and_believe_what_they_did(name: str) -> None:
    assert "packed.0.steps" in load_arrays(THIRD / f"{name}.loom")[0]
    ner = Recognizer.load(THIRD / f"{name}.loom", threads=1)
    found = [ner.predict(Document([Sentence(tokens) for tokens in sentences])) for sentences in FIXED["documents"]]
    assert [[[m.label, *map(list, m.parts)] for m in d.mentions] for d in found] == FIXED["mentions"][name]
    probs = [m.prob for d in found for m in d.mentions]
    assert len(probs) > 10
    assert probs == pytest.approx([p for own in FIXED["probabilities"][name] for p in own], abs=1e-5)


REPORTS = FOLDER.with_name("reports-0.1")


def reports(model: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Run every command whose report programs may read, and yield its name and the first line that it printed."""
    other = SECOND / "tree.loom"
    for name, file in (("a", model), ("b", other)):
        assert run("tag", file, "sample:test", "-o", folder / f"{name}.jsonl").returncode == 0
    commands = {
        "evaluate": ["evaluate", model, "sample:test"],
        "stats": ["stats", "sample:test"],
        "compare": ["compare", folder / "a.jsonl", folder / "b.jsonl", "--gold", "sample:test"],
        "validate": ["validate", "sample:test"],
        "info": ["info", model],
        "train": ["train", "sample:dev", "--model", "edge", "--keep", "longest", "-o", folder / "m.loom"],
        "explain": ["explain", model, "IL-2 promoter activity"],
    }
    for name, words in commands.items():
        done = run(*words, "--json")
        assert done.returncode == 0, done.stderr
        yield name, done.stdout.splitlines()[0]


def missing(old: Any, new: Any, at: str = "") -> list[str]:
    """Return the fields that a report had and has no longer, or has with a value of another kind."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            p for key in old for p in (missing(old[key], new[key], f"{at}.{key}") if key in new else [f"{at}.{key}"])
        ]
    if isinstance(old, list) and isinstance(new, list):
        return missing(old[0], new[0], f"{at}[0]") if old and new else []
    kinds = [float if isinstance(v, int | float) and not isinstance(v, bool) else type(v) for v in (old, new)]
    return [] if kinds[0] is kinds[1] else [f"{at}: {kinds[0].__name__}, now {kinds[1].__name__}"]


def test_fields_that_reports_had_are_there(tmp_path: Path) -> None:
    for name, printed in reports(SECOND / "edge-f1.loom", tmp_path):
        kept = json.loads((REPORTS / f"{name}.json").read_text())
        assert missing(kept, json.loads(printed)) == [], name


def test_a_field_that_goes_or_changes_its_kind_is_noticed() -> None:
    old = {"micro": {"f1": 0.5}, "rows": [{"n": 1}]}
    assert missing(old, {"micro": {"f1": 1, "new": 2}, "rows": [{"n": 2.5}]}) == []
    assert missing(old, {"micro": {"f1": "0.5"}, "rows": [{}]}) == [".micro.f1: float, now str", ".rows[0].n"]


def test_a_project_of_the_first_tables_opens(tmp_path: Path) -> None:
    """What was annotated, in parts too, is there, can be taken back, and can be added to."""
    (tmp_path / "p").mkdir()
    with closing(sqlite3.connect(tmp_path / "p" / FILE)) as connection:
        connection.executescript((FOLDER.with_name("project-1") / "project.sql").read_text())
    project = Project(tmp_path / "p")
    try:
        sheet = project.sheets.get(1, "ann")
        assert sheet.version == 3
        assert sheet.mentions == {Mention("DNA", ((1, 5),)), Mention("protein", ((6, 8), (9, 10)))}
        assert set(sheet.confirmed) == {0}
        assert project.documents.get(2).text == "Mara Lund left Oslo."
        changed = project.sheets.change(2, "ann", 0, "add", Change(add=(Mention("person", ((0, 2),)),)))
        assert changed.version == 1
    finally:
        project.close()


def test_a_project_of_newer_tables_is_refused(tmp_path: Path) -> None:
    Project(tmp_path / "p").close()
    with closing(sqlite3.connect(tmp_path / "p" / FILE)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(SpanloomError, match=r"written by a newer spanloom \(tables 99, known up to 1\)"):
        Project(tmp_path / "p")
