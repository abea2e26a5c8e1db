"""BIOHD labels: what they say, what they lose, and the chain that learns them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import EncodingError, ParameterError
from spanloom.learning import Auto
from spanloom.models import Chain
from spanloom.schemes.biohd import Biohd, biohd_mentions, biohd_tags, lost

PEOPLE = [Mention("PER", ((0, 1), (3, 4))), Mention("PER", ((2, 4),))]
LYMPHOCYTES = [Mention("cell", ((0, 2), (4, 5))), Mention("cell", ((0, 1), (3, 5)))]  # human T and B lymphocytes


@pytest.mark.parametrize(
    ("mentions", "n", "tags"),
    [
        (PEOPLE, 5, "BD-PER O BD-PER BH-PER O"),
        (LYMPHOCYTES, 5, "BH-cell BD-cell O BD-cell BH-cell"),
        ([Mention("X", ((1, 3),)), Mention("X", ((3, 4),))], 5, "O B-X I-X B-X O"),
        ([Mention("X", ((0, 2), (3, 4)))], 4, "BD-X ID-X O BD-X"),
        ([Mention("X", ((0, 2),)), Mention("X", ((1, 3),))], 3, "BD-X BH-X BD-X"),
        ([], 2, "O O"),
    ],
)
def test_tags_by_hand_and_back(mentions: list[Mention], n: int, tags: str) -> None:
    assert biohd_tags(mentions, n) == tags.split()
    assert biohd_mentions(tags.split()) == sorted(mentions)
    assert lost(mentions) == []


@pytest.mark.parametrize(
    ("mentions", "gone"),
    [
        ([Mention("X", ((0, 3),)), Mention("X", ((0, 2),))], [1]),  # embedded: no token of its own
        ([Mention("X", ((0, 1), (2, 3))), Mention("X", ((4, 5), (6, 7)))], [0, 1]),  # two broken ones become one
        ([Mention("X", ((0, 3),)), Mention("Y", ((1, 2),))], [0, 1]),  # two labels on a token
    ],
)
def test_what_the_labels_cannot_say_is_told(mentions: list[Mention], gone: list[int]) -> None:
    assert lost(mentions) == [mentions[i] for i in gone]


def test_an_inside_label_follows_its_own_kind_only() -> None:
    labels = Biohd(["B-X", "I-X", "BD-X", "ID-X", "BH-X", "IH-X", "ID-Y"])
    number = {name: i for i, name in enumerate(labels.labels)}
    after = {name: {left for left in number if labels.allowed(number[left], number[name])} for name in number}
    assert after["I-X"] == {"B-X", "I-X"}
    assert after["ID-X"] == {"BD-X", "ID-X"}
    assert after["IH-X"] == {"BH-X", "IH-X"}
    assert after["ID-Y"] == {"ID-Y"}
    assert after["BD-X"] == after["O"] == set(number)
    assert [name for name in number if labels.may_start(number[name])] == ["O", "B-X", "BD-X", "BH-X"]


def test_labels_of_other_schemes_are_refused() -> None:
    with pytest.raises(ParameterError, match="'S-X' is not valid in BIOHD"):
        Biohd(["S-X"])


def test_a_chain_learns_broken_mentions(tmp_path: Path) -> None:
    names = [("Bill", "Hilary", "Clinton"), ("Anna", "Otto", "Miller"), ("Ivo", "Rosa", "Blum")]
    train = [Sentence([a, "and", b, c, "left"], PEOPLE) for a, b, c in names]
    ner = Recognizer(Chain(scheme="BIOHD"), trainer=Auto(max_iter=50)).fit(train)
    new = Sentence(["Lea", "and", "Max", "Jones", "left"])
    assert sorted(ner.predict(new).mentions) == PEOPLE
    ner.save(tmp_path / "m.loom")
    assert Recognizer.load(tmp_path / "m.loom").predict(new) == ner.predict(new)


def test_what_does_not_come_back_raises_or_is_left_out() -> None:
    nested = Sentence(["IL-2", "gene", "x"], [Mention("DNA", ((0, 2),)), Mention("protein", ((0, 1),))])
    with pytest.raises(EncodingError, match="does not come back from its BIOHD labels"):
        Recognizer(Chain(scheme="BIOHD")).fit([nested])
    ner = Recognizer(Chain(scheme="BIOHD"), trainer=Auto(max_iter=2), keep="longest").fit([nested])
    assert ner.lost_ == [(0, Mention("protein", ((0, 1),)))]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_many_sentences_are_read_as_each_by_itself(count: int) -> None:
    labels = Biohd.learn([(PEOPLE, 5)])
    codes = labels.encode(PEOPLE, 5)
    found = labels.decode_all(np.tile(codes, count), 5 * np.arange(count + 1))
    assert found == [sorted(PEOPLE)] * count
