"""What of a sentence is annotated goes through files, and what makes no sense is refused."""

from __future__ import annotations

import json

import pytest

from spanloom import Document, Mention, Sentence, read, write
from spanloom.base.errors import CorpusError
from spanloom.corpus import Known

KNOWN = [None, Known(labels=("a",)), Known(ranges=((0, 1), (2, 3))), Known(("a", "b"), ()), Known()]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_what_is_known_comes_back(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    doc = Document([Sentence(["x", "y", "z"], [Mention("a", ((0, 1),))], known=known) for known in KNOWN])
    write([doc], tmp_path / f"d.{ending}")
    (back,) = read(tmp_path / f"d.{ending}")
    assert [s.known for s in back.sentences] == KNOWN


def first(tmp_path, **record) -> list[Known | None]:
    (tmp_path / "d.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (doc,) = read(tmp_path / "d.jsonl")
    return [s.known for s in doc.sentences]


def test_a_document_speaks_for_sentences_that_do_not(tmp_path):
    """Ranges count the tokens of the document, those of a sentence its own."""
    sentences = [[0, 2], {"range": [2, 4], "known": {"labels": ["b"]}}, [4, 5]]
    found = first(tmp_path, tokens=list("vwxyz"), sentences=sentences, known={"ranges": [[1, 5]]})
    assert found == [Known(ranges=((1, 2),)), Known(labels=("b",)), Known(ranges=((0, 1),))]
    assert first(tmp_path, text="One two.", known={"labels": []}) == [Known(labels=())]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"tokens": ["x"], "known": {"label": ["a"]}}, "known has an unknown field 'label'; known are labels, ranges"),
        ({"tokens": ["x"], "known": {"ranges": [[0, 2]]}}, "range of known"),
        ({"tokens": ["x", "y"], "known": {"ranges": [[1, 2], [0, 1]]}}, "half-open, ascending and apart"),
        ({"tokens": ["x"], "known": {"labels": "place"}}, 'known.labels must be a list, not "place"'),
        ({"tokens": ["x"], "known": {"ranges": 3}}, "known.ranges must be a list, not 3"),
        ({"text": "x", "known": {"ranges": [[0, 1]]}}, "ranges of known count tokens, but the document has no tokens"),
        (
            {"tokens": ["x", "y"], "sentences": [[0, 1], {"range": [1, 2], "known": {"ranges": [[0, 1]]}}]},
            "begins before token 1, the first of the sentence",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, record, message):
    with pytest.raises(CorpusError, match=message):
        first(tmp_path, **record)


def test_sentences_carry_what_is_known():
    sentence = Sentence(["x", "y"], known=Known(ranges=((1, 2),)))
    assert sentence.with_mentions([]).known == sentence.with_columns({"pos": ["A", "B"]}).known == sentence.known
    with pytest.raises(ValueError, match=r"known range \(1, 3\) ends after the last of 2 tokens"):
        Sentence(["x", "y"], known=Known(ranges=((1, 3),)))


@pytest.mark.parametrize(
    ("believed", "message"),
    [
        ({"weight": 10**400, "sets": [{"prob": 1, "mentions": []}]}, "weight of known.believed is too large"),
        ({"sets": [{"prob": 10**400, "mentions": []}]}, "prob of set 0 of known.believed is too large"),
        ({"sets": [{"prob": 1, "mentions": [{"label": "", "parts": [[0, 1]]}]}]}, "has no label"),
        ({"sets": [{"prob": 0.5, "mentions": []}]}, "add up to 1"),
        ({"weight": 1e300, "sets": [{"prob": 1, "mentions": []}]}, "at most 1e"),
    ],
)
def test_beliefs_that_make_no_sense_are_refused(tmp_path, believed, message):
    with pytest.raises(CorpusError, match=message):
        first(tmp_path, tokens=["x"], known={"labels": [], "believed": believed})
