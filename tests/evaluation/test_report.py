"""Tables of a report on sentences from the papers, counted by hand."""

from __future__ import annotations

import json

import pytest

from spanloom.base.errors import ParameterError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation import Score, evaluate


def m(label: str, *parts: tuple[int, int]) -> Mention:
    """A mention, briefly."""
    return Mention(label, parts)


# Muis & Lu 2017, figure 1.
RADIO = Sentence(
    [
        "At",
        "issue",
        "is",
        "the",
        "liability",
        "of",
        "a",
        "Pennsylvania",
        "radio",
        "station",
        "under",
        "the",
        "federal",
        "wiretap",
        "statute",
        ".",
    ],
    [m("GPE", (7, 8)), m("ORG", (6, 10))],
)
CAT = Sentence(
    [
        "CAT",
        "expression",
        "directed",
        "by",
        "the",
        "IL2",
        "regulatory",
        "region",
        "or",
        "by",
        "a",
        "multimer",
        "of",
        "the",
        "NF-AT",
        "-binding",
        "site",
        "was",
        "lower",
        ".",
    ],
    [m("DNA", (5, 6)), m("DNA", (5, 8)), m("PROT", (14, 15)), m("DNA", (11, 17))],
)
# McDonald, Crammer & Pereira 2005, figures 1b, 2a and 2b.
GATES = Sentence(
    ["Bill", "Clinton", "and", "Microsoft", "founder", "Bill", "Gates", "met", "today", "for", "20", "minutes", "."],
    [m("PER", (0, 2)), m("ORG", (3, 4)), m("PER", (5, 7))],
)
CLINTON = Sentence(
    ["Today", ",", "Bill", "and", "Hilary", "Clinton", "traveled", "to", "Canada", "."],
    [m("PER", (2, 3), (5, 6)), m("PER", (4, 6))],
)
P450 = Sentence(
    ["purified", "bovine", "P450", "11", "beta", "/", "18", "/", "19", "-", "hydroxylase", "was"],
    [m("enzyme", (2, 5), (9, 11)), m("enzyme", (2, 3), (6, 7), (9, 11)), m("enzyme", (2, 3), (8, 11))],
)
GOLD = [RADIO, CAT, GATES, CLINTON, P450]
PREDICTED = [
    [m("ORG", (6, 10))],
    [m("DNA", (5, 8)), m("DNA", (5, 6)), m("DNA", (14, 15)), m("DNA", (11, 17))],
    [m("PER", (0, 2)), m("PER", (5, 7)), m("PER", (3, 7))],
    [m("PER", (4, 6))],
    [m("enzyme", (2, 5), (9, 11)), m("enzyme", (2, 11))],
]


@pytest.fixture(scope="module")
def report():
    """The report on all five sentences."""
    return evaluate(GOLD, PREDICTED)


def test_micro(report):
    """Gold 2+4+3+2+3 = 14, predicted 1+4+3+1+2 = 11, right 1+3+2+1+1 = 8."""
    assert report.micro == Score(14, 11, 8, 8)


@pytest.mark.parametrize(
    ("kind", "score"),
    [
        # Gold: the three of GATES, found but for Microsoft. Predicted: ORG of RADIO, Bill Clinton, Hilary Clinton.
        ("flat", Score(3, 3, 2, 3)),
        # Gold: Pennsylvania, IL2, NF-AT. Predicted: IL2, DNA 14 (wrong), Bill Gates in 3–7, P450 11 beta in 2–11.
        ("embedded", Score(3, 4, 1, 3)),
        # Gold: ORG, IL2 region, multimer. Predicted: IL2 region, multimer, PER 3–7 (wrong), enzyme 2–11 (wrong).
        ("containing", Score(3, 4, 3, 2)),
        ("nested", Score(6, 8, 4, 5)),
        # Gold: IL2 in IL2 region. Predicted: all eight nested ones, since DNA 14 is DNA here.
        ("same_type_nested", Score(2, 8, 2, 5)),
        # Gold: both Clintons, and the three enzymes pairwise. None is predicted as crossing.
        ("crossing", Score(5, 0, 2, 0)),
        # Gold: Bill … Clinton and three enzymes, one of them found. Predicted: that one.
        ("discontinuous", Score(4, 1, 1, 1)),
        ("overlapping_discontinuous", Score(4, 1, 1, 1)),
        ("not_flat", Score(11, 8, 6, 5)),
    ],
)
def test_kinds_by_mention(report, kind, score):
    """Recall over the gold mentions of a kind, precision over the predicted ones of that kind."""
    assert report.by_kind[kind] == score


@pytest.mark.parametrize(
    ("kind", "score"),
    [
        ("flat", Score(3, 3, 2, 2)),  # GATES
        ("nested", Score(6, 5, 4, 4)),  # RADIO, CAT
        ("same_type_nested", Score(4, 4, 3, 3)),  # CAT
        ("crossing", Score(5, 3, 2, 2)),  # CLINTON, P450
        ("discontinuous", Score(5, 3, 2, 2)),
        ("overlapping", Score(11, 8, 6, 6)),
        ("without_overlap", Score(3, 3, 2, 2)),
    ],
)
def test_kinds_by_sentence(report, kind, score):
    """All mentions of the sentences whose gold has the kind; their sum over a partition is the whole."""
    assert report.by_sentence_kind[kind] == score


def test_a_sentence_without_mentions_is_flat():
    """What is predicted there counts against the flat sentences, not nowhere."""
    report = evaluate([Sentence(["a", "b"])], [[m("X", (0, 1))]])
    assert report.by_sentence_kind["flat"] == report.by_sentence_kind["without_overlap"] == Score(0, 1, 0, 0)


def test_length_counts_tokens_not_the_hull(report):
    """Bill … Clinton has two tokens. Length 2, gold: PER ×2 of GATES, both Clintons; 3 found."""
    assert report.by_length["2"] == Score(4, 3, 3, 3)
    assert report.by_length["5"] == Score(1, 1, 1, 1)  # P450 11 beta - hydroxylase
    assert report.by_length["9+"] == Score(0, 1, 0, 0)  # the predicted enzyme 2–11
    assert sum(report.by_length.values(), Score(0, 0, 0, 0)) == report.micro


def test_depth(report):
    """Embedded ones are at depth 2, all others at depth 1."""
    assert report.by_depth == {1: Score(11, 7, 7, 5), 2: Score(3, 4, 1, 3)}


def test_seen_and_unseen():
    """Training had "IL2" as DNA and "NF-AT" as DNA only; "NF-AT" as PROT was seen with another label."""
    train = [Sentence(["IL2", "and", "NF-AT"], [m("DNA", (0, 1)), m("DNA", (2, 3))])]
    report = evaluate([CAT], [PREDICTED[1]], train=train)
    assert report.by_novelty == {
        "seen": Score(1, 2, 1, 1),
        "seen_other_label": Score(1, 0, 0, 0),
        "unseen": Score(2, 2, 2, 2),
    }
    assert evaluate([CAT], [[]]).by_novelty == {}


def test_documents_and_genres():
    """Sums by document id and by what documents or sentences say about themselves."""
    gold = [
        Document([RADIO, GATES], id="news1", meta={"genre": "news"}),
        Document([CAT], id="med", meta={"genre": "bio"}),
        Document([CLINTON], id="news2", meta={"genre": "news"}),
    ]
    report = evaluate(gold, [PREDICTED[0], PREDICTED[2], PREDICTED[1], PREDICTED[3]])
    assert report.by_document == {"news1": Score(5, 4, 3, 3), "med": Score(4, 4, 3, 3), "news2": Score(2, 1, 1, 1)}
    assert report.by_group == {"genre": {"news": Score(7, 5, 4, 4), "bio": Score(4, 4, 3, 3)}}
    assert report.interval(by="document", resamples=100)["f1"].value == report.f1


def test_resampling_by_document_needs_documents(report):
    """The error says what is missing."""
    with pytest.raises(ParameterError, match="needs gold that comes in documents"):
        report.interval(by="document")
    with pytest.raises(ParameterError, match="by must be 'sentence' or 'document', not 'token'"):
        report.interval(by="token")


def test_forgiving_scores_are_in_the_report(report):
    """Boundaries: NF-AT is right without its label (9 of 11); alternatives only where there are some."""
    assert report.relaxed["boundaries"] == Score(14, 11, 9, 9)
    assert "alternatives" not in report.relaxed
    offered = Sentence(["a", "b"], [m("G", (0, 2))], meta={"alternatives": [m("G", (0, 1))]})
    assert evaluate([offered], [[m("G", (0, 1))]]).relaxed["alternatives"].f1 == 1.0


def test_throughput_is_words_over_seconds():
    """17 tokens in half a second."""
    assert evaluate([RADIO], [[]], seconds=0.5).throughput == {"seconds": 0.5, "words_per_second": len(RADIO) / 0.5}
    assert evaluate([RADIO], [[]]).throughput == {}


def test_json_has_the_promised_keys_and_survives_dumping(report):
    """Fractions are 0..1 and everything is plain."""
    data = json.loads(json.dumps(report.to_json()))
    assert data["micro"]["precision"] == 8 / 11
    assert data["micro"]["recall"] == 8 / 14
    assert set(data) >= {"micro", "macro", "by_label", "by_kind", "by_sentence_kind", "counts", "relaxed"}
    assert data["counts"]["missed"] == 6
    assert data["counts"]["spurious"] == 3


def test_an_empty_corpus_has_a_report():
    """No sentences, no error."""
    data = evaluate([], []).to_json()
    assert data["micro"]["f1"] == 0.0
    assert data["by_label"] == {}
