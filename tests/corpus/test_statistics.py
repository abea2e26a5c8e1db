"""Patterns, trees and counts on hand-worked examples, and the real corpora against their descriptions."""

from pathlib import Path

import pytest

from spanloom import Document, Mention, Sentence, read
from spanloom.corpus.patterns import nesting_patterns
from spanloom.corpus.statistics import statistics
from spanloom.corpus.trees import arcs_to_right, is_single_arc, is_valid_span


def m(label: str, start: int, end: int) -> Mention:
    return Mention(label, ((start, end),))


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        ([m("fusion", 0, 3), m("protein", 0, 1), m("protein", 2, 3)], ["( fusion ( protein t ) t ( protein t ) )"]),
        ([m("a", 0, 4), m("b", 1, 3), m("c", 1, 2)], ["( a t ( b ( c t ) t ) t )"]),
        ([m("a", 0, 2), m("b", 0, 1), m("a", 4, 6), m("c", 5, 6)], ["( a ( b t ) t )", "( a t ( c t ) )"]),
        ([m("a", 0, 3), m("b", 2, 5), m("c", 3, 4)], ["( b t ( c t ) t )"]),
        ([m("a", 0, 1), m("b", 2, 3)], []),
    ],
)
def test_nesting_patterns(mentions: list[Mention], expected: list[str]) -> None:
    assert nesting_patterns(mentions) == expected


def test_spans_in_a_tree() -> None:
    """'the lake near Oslo froze': the←lake, lake→Oslo, near←Oslo, lake←froze."""
    arcs = arcs_to_right(["2", "5", "4", "2", "0"])
    assert is_single_arc(m("x", 0, 2), arcs)
    assert is_single_arc(m("x", 1, 4), arcs)
    assert not is_single_arc(m("x", 0, 4), arcs)
    assert is_valid_span(m("x", 0, 4), arcs)  # the–lake, lake–Oslo
    assert not is_valid_span(m("x", 1, 3), arcs)  # no arc ends in 'near' from the left
    assert is_valid_span(m("x", 2, 3), arcs)
    assert not is_valid_span(Mention("x", ((0, 1), (3, 4))), arcs)


def test_counts_go_over_batches() -> None:
    docs = [Document([Sentence(["a", "b"], [m("x", 0, 2), m("y", 0, 1)])] * 5000)] * 2
    counts = statistics(docs)
    assert (counts.documents, counts.sentences, counts.tokens, counts.mentions) == (2, 10_000, 20_000, 20_000)
    assert counts.sentences_with["nested"] == 10_000
    assert counts.by_length == {1: 10_000, 2: 10_000}


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("split", "sentences", "overlapping", "same"),
    [("train", 3199, 8337, 4613), ("dev", 366, 915, 479), ("test", 448, 1217, 634)],
)
def test_muis_and_lu_table_1(shared_data: Path, split: str, sentences: int, overlapping: int, same: int) -> None:
    """The GENIA columns of the paper's table, to the last mention."""
    rows = statistics(read(f"genia:{shared_data}/genia?split={split}")).muis_lu()
    counts = [rows[name][0] for name in ("with overlap", "overlapping", "overlapping, same type")]
    assert counts == [sentences, overlapping, same]


@pytest.mark.corpus
def test_genia_all_classes(shared_data: Path) -> None:
    counts = statistics(read(f"genia:{shared_data}/genia?classes=22"))
    assert counts.mentions == 92_722
    assert round(counts.kinds["embedded"] / counts.mentions, 3) == 0.173
    assert max(counts.depth) == 4
    assert len(counts.by_label) == 22


@pytest.mark.corpus
@pytest.mark.parametrize(("ref", "valid", "single"), [("gum:{}/gum", 98.7, 80.1), ("uner:{}/uner-ewt", 99.0, 96.9)])
def test_spans_in_the_trees_of_the_corpora(shared_data: Path, ref: str, valid: float, single: float) -> None:
    trees = statistics(read(ref.format(shared_data) + "?split=train")).to_json()["trees"]
    assert 100 * trees["valid_span"] == pytest.approx(valid, abs=0.06)
    assert 100 * trees["single_arc"] == pytest.approx(single, abs=0.45)
