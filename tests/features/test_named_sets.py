"""Feature sets by name: all are documented; clusters are seen wherever they are given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spanloom import Mention, Recognizer, Sentence
from spanloom.features import FeatureSet
from spanloom.features.sets import NAMED
from spanloom.learning import Auto

PAGE = Path(__file__).parents[2] / "docs" / "features.md"
TRAIN = [Sentence(["the", "p53", "gene"], [Mention("DNA", ((1, 3),))])] * 2


@pytest.mark.parametrize("name", NAMED)
def test_every_named_set_is_in_the_table(name: str) -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## Named sets")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    assert any(f"`{name}`" in row for row in rows)


@pytest.fixture
def paths(tmp_path: Path) -> Path:
    (tmp_path / "paths").write_text("0110\tgene\t3\n0111\tp53\t2\n")
    return tmp_path / "paths"


@pytest.mark.parametrize("features", ["default", ["word"], FeatureSet(["word"])])
def test_clusters_are_seen_by_sets_that_do_not_speak_of_them(features, paths: Path, tmp_path: Path) -> None:
    ner = Recognizer("chain", features=features, clusters=paths, trainer=Auto(max_iter=5)).fit(TRAIN)
    ner.save(tmp_path / "m.loom")
    for one in (ner, Recognizer.load(tmp_path / "m.loom")):
        names = [name for name in one.extractor_.names() if name.startswith("cluster(word, brown, 4, 6, 10, 20)[0]=")]
        assert {name.partition("]=")[2] for name in names} == {"0110", "0111"}


def test_clusters_are_left_to_templates_that_speak_of_them(paths: Path) -> None:
    ner = Recognizer(
        "chain", features=["bias", "cluster(lower(word), brown, 2)"], clusters=paths, trainer=Auto(max_iter=5)
    ).fit(TRAIN)
    assert set(ner.extractor_.names()) == {"bias", "cluster(lower(word), brown, 2)[0]=01"}


def test_at_gaps_the_default_set_looks_at_both_sides_alike() -> None:
    """What is seen of the word after the gap is seen of the word before it, and so on outwards."""
    features = FeatureSet.named("default").at("gaps")
    single = {(str(a.view), a.offset) for t in features.parsed() if len(t.atoms) == 1 for a in t.atoms if a.view.column}
    words = {(view, offset) for view, offset in single if view != "bias"}
    assert {(view, -1 - offset) for view, offset in words} == words


def test_what_is_added_to_the_default_set_stays_at_gaps() -> None:
    given = FeatureSet.named("default+dep").plus(["pos"])
    made = replace(given, min_count=3).at("gaps")
    assert made.name == "default-gaps+dep"
    assert made.min_count == 3
    assert set(made.templates) == {*FeatureSet.named("default-gaps+dep").templates, "pos"}
    assert made.at("gaps") is made
    assert given.at("tokens") is given
    assert FeatureSet(["word"], name="default").at("gaps").templates == ("word",)


@pytest.mark.parametrize(("model", "name"), [("edge", "default-gaps"), ("state", "default-gaps"), ("chain", "default")])
def test_models_of_gaps_take_the_default_set_for_gaps(model: str, name: str) -> None:
    ner = Recognizer(model, trainer=Auto(max_iter=1), threads=1)
    ner.fit([Sentence(["a", "b"], [Mention("X", ((0, 1),))])])
    assert ner.extractor_.features.name == name
