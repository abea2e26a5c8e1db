"""The same text in other tokens, other sentences, another order."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.base.errors import CorpusError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation import evaluate
from spanloom.evaluation.rejoin import rejoin


def m(label: str, *parts: tuple[int, int]) -> Mention:
    """A mention, briefly."""
    return Mention(label, parts)


def test_finer_tokens_match_where_the_text_is_the_same():
    """Gold "IL-2 gene"; predicted tokens IL, -, 2, gene: the whole and its first word are the same text."""
    gold = Document([Sentence(["the", "IL-2", "gene"], [m("DNA", (1, 3)), m("protein", (1, 2))])])
    other = Document(
        [Sentence(["the", "IL", "-", "2", "gene"], [m("DNA", (1, 5)), m("protein", (1, 4)), m("X", (2, 3))])]
    )
    report = evaluate([gold], [other])
    assert (report.micro.found, report.micro.gold, report.micro.predicted) == (2, 2, 3)
    assert report.aligned.sentences[0].tokens == ["the", "IL", "-", "2", "gene"]
    assert report.aligned.sentences[0].text == "the IL-2 gene"


def test_a_border_inside_a_gold_token_is_a_boundary_mistake_not_an_error():
    """Gold has no border between IL and -2."""
    gold = Document([Sentence(["IL-2", "gene"], [m("DNA", (0, 2))], {"pos": ["NN", "NN"]})])
    report = evaluate([gold], [Document([Sentence(["IL", "-2", "gene"], [m("DNA", (1, 3))])])])
    assert report.mistakes[0].kind == "boundary"
    assert report.mistakes[0].shifts() == ("starts late",)
    assert report.aligned.sentences[0].columns["pos"] == ["NN", "NN", "NN"]


def test_other_sentences_are_cut_at_the_gold_ones():
    """One predicted sentence over two gold ones: each mention goes to its gold sentence."""
    gold = Document([Sentence(["a", "b"], [m("X", (0, 2))]), Sentence(["c", "d"], [m("X", (1, 2))])], id="d")
    other = Document([Sentence(["a", "b", "c", "d"], [m("X", (0, 2)), m("X", (3, 4)), m("Y", (2, 3))])], id="d")
    report = evaluate([gold], [other])
    assert [list(p) for p in report.aligned.predicted] == [[m("X", (0, 2))], [m("X", (1, 2)), m("Y", (0, 1))]]
    assert report.recall == 1.0


def test_a_mention_over_a_sentence_border_joins_the_sentences():
    """It is wrong, but it is there; the gold keeps its mentions and alternatives."""
    second = Sentence(["c"], [m("X", (0, 1))], meta={"alternatives": [m("Z", (0, 1))]})
    gold = Document([Sentence(["a", "b"], [m("X", (0, 2))], {"p": ["1", "2"]}), second, Sentence(["e"])])
    other = Document([Sentence(["a", "b", "c", "e"], [m("X", (1, 3))])])
    sentences, found = rejoin(gold, other)
    assert [s.tokens for s in sentences] == [["a", "b", "c"], ["e"]]
    assert sentences[0].mentions == [m("X", (0, 2)), m("X", (2, 3))]
    assert sentences[0].meta["alternatives"] == [m("Z", (2, 3))]
    assert sentences[0].columns == {}
    assert found == [[m("X", (1, 3))], []]


def test_another_text_is_refused_with_its_place():
    """What comes before, and both ways on."""
    gold, other = Document([Sentence(["good", "day"])], id="d7"), Document([Sentence(["good", "night"])], id="d7")
    with pytest.raises(CorpusError, match=r"document 'd7' has another text .* after 'good' the gold goes on 'day'"):
        evaluate([gold], [other])


def test_documents_are_found_by_their_ids():
    """In any order; not if one is missing, and by order if ids do not tell them apart."""
    a, b = (Document([Sentence([i], [m(i, (0, 1))])], id=i) for i in "ab")
    assert evaluate([a, b], [b, a]).f1 == 1.0
    with pytest.raises(CorpusError, match=r"1 only in the gold \(b\) and 1 only in the prediction \(c\)"):
        evaluate([a, b], [a, Document([Sentence(["b"])], id="c")])
    with pytest.raises(CorpusError, match="the gold has 2 documents and the prediction 1"):
        evaluate([a, a], [a])
    assert evaluate([a, a], [a, a]).micro.correct == 2


@pytest.mark.parametrize(("number", "said"), [(3, r"\(1, 2, 3\)"), (4, r"\(1, 2, 3, …\)")])
def test_at_most_three_documents_are_named(number, said):
    """Of those that only the gold has."""
    gold = [Document([Sentence(["a"])], id=str(i)) for i in range(number + 1)]
    with pytest.raises(CorpusError, match=rf"{number} only in the gold {said}"):
        evaluate(gold, [*gold[:1], *(Document([Sentence(["a"])], id=f"x{i}") for i in range(number))])


@st.composite
def two_cuts(draw):
    """A text in two tokenisations and sentence splits, and mentions of the text for each side."""
    text = draw(st.text("abc", min_size=1, max_size=14))
    n = len(text)

    def document(mentions):
        cuts = sorted(
            {0, n, *(e for label, parts in mentions for p in parts for e in p)} | draw(st.sets(st.integers(0, n)))
        )
        tokens = [text[a:b] for a, b in pairwise(cuts)]
        place = {c: i for i, c in enumerate(cuts)}
        # A sentence may end wherever no mention goes on.
        inside = {i for _, parts in mentions for i in range(parts[0][0] + 1, parts[-1][1])}
        stops = [c for c in cuts if 0 < c < n and c not in inside and draw(st.booleans())]
        sentences, low = [], 0
        for high in [*stops, n]:
            own = [(label, parts) for label, parts in mentions if low <= parts[0][0] and parts[-1][1] <= high]
            base = place[low]
            shifted = [Mention(x, tuple((place[a] - base, place[b] - base) for a, b in ps)) for x, ps in own]
            sentences.append(Sentence(tokens[base : place[high]], shifted, text=text[low:high]))
            low = high
        return Document(sentences, text=text)

    def mentions():
        found = draw(st.lists(st.tuples(st.sampled_from("XY"), st.sets(st.integers(0, n - 1), min_size=1)), max_size=4))
        return [(label, Mention(label, tuple((i, i + 1) for i in chars)).parts) for label, chars in found]

    gold, predicted = mentions(), mentions()
    return document(gold), document(predicted), set(gold), set(predicted)


@given(two_cuts())
def test_the_score_is_that_of_sets_of_characters(case):
    """Whatever the tokens and sentences, exact matches are equal stretches of text with equal labels."""
    gold, predicted, ours, theirs = case
    score = evaluate([gold], [predicted]).micro
    assert (score.gold, score.predicted, score.correct) == (len(ours), len(theirs), len(ours & theirs))
