"""Explanations: log-odds and score differences against the list of all structures, contributions that add up."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from spanloom import Document, Mention, Recognizer, Sentence
from spanloom.base.errors import ParameterError
from spanloom.decisions.calibration import Calibration
from spanloom.decisions.rule import Rule
from spanloom.learning import LBFGS, LogLinear
from spanloom.models import (
    Cascade,
    Chain,
    Chains,
    Edge,
    Hypergraph,
    Joined,
    Layered,
    Memm,
    Multilabel,
    Segmental,
    SemiMarkov,
    Spans,
    State,
)
from spanloom.schemes.joined import read_runs
from spanloom.schemes.words import separator_words

FLAT = [
    Sentence(["the", "lacZ", "gene", "was", "seen"], [Mention("DNA", ((1, 3),))]),
    Sentence(["IL-2", "binds", "the", "p53", "gene"], [Mention("protein", ((0, 1),)), Mention("DNA", ((3, 5),))]),
    Sentence(["we", "saw", "NF-AT", "here"], [Mention("protein", ((2, 3),))]),
    Sentence(["nothing", "was", "seen", "here"]),
]
NESTED = [*FLAT, Sentence(["the", "IL-2", "gene"], [Mention("DNA", ((1, 3),)), Mention("protein", ((1, 2),))])]
SENTENCE = Sentence(["the", "IL-6", "gene", "binds"])
FOUND, MISSED = Mention("DNA", ((1, 3),)), Mention("protein", ((2, 3),))

STRUCTURED = [
    Chain(),
    Chain(scheme="BIES", constrained=True),
    Chain(scheme="IOB1"),
    Chains(),
    Edge(),
    State(),
    SemiMarkov(longest=3),
    Segmental(longest=3),
    Spans(longest=2),
]
BELIEVED = [*STRUCTURED, Hypergraph(), Memm(order=1), Memm(order=2)]


def train(model: object, corpus: list[Sentence] = FLAT) -> Recognizer:
    return Recognizer(model, features=["bias", "word[-1..1]", "shape(word)", "suffix(word, 2)"], threads=1).fit(corpus)


def all_structures(ner: Recognizer, label: str) -> list[tuple[float, frozenset[Mention]]]:
    """Score and reading of every structure of the component that finds a label, listed by the reference graph."""
    trained = ner.trained_
    number = next(i for i, c in enumerate(trained.components) if label in c.types)
    component = trained.components[number]
    rows, shapes = trained._rows([SENTENCE], 1)
    scores = trained.decoder.scores(rows, 1, number)
    sites = len(scores) // len(component.columns)
    graph = component.structure_for(shapes).graph(sites, 0)
    every = np.concatenate([scores, trained.weights[number].globals])
    found = []
    for _, edges in graph.k_best(every, 10**6):
        cells = graph.cells_of(edges)
        own = np.sort(cells[cells < len(scores)]).astype(np.int32)
        mentions = component.decode_all(own, np.array([0, len(own)], np.int64), shapes)[0]
        found.append((math.fsum(every[cells]), frozenset(mentions)))
    return found


@pytest.mark.parametrize("model", STRUCTURED, ids=repr)
@pytest.mark.parametrize("mention", [FOUND, MISSED], ids=["found", "missed"])
def test_log_odds_and_difference_are_those_of_all_structures(model: object, mention: Mention) -> None:
    ner = train(model)
    structures = all_structures(ner, mention.label)
    given = [score for score, found in structures if mention in found]
    without = [score for score, found in structures if mention not in found]
    why = ner.explain(SENTENCE, mention)
    assert why.log_odds == pytest.approx(np.logaddexp.reduce(given) - np.logaddexp.reduce(without), abs=1e-9)
    assert why.score_difference == pytest.approx(max(given) - max(without), abs=1e-6)
    assert why.score_difference == pytest.approx(sum(why.groups().values()), abs=1e-9)
    assert why.score_difference == pytest.approx(sum(value for *_, value in why.places()), abs=1e-9)
    assert why.score_difference == pytest.approx(sum(value for _, value, _ in why.features()), abs=1e-9)
    assert len({name for name, _, _ in why.features()}) == len(why.features())
    assert mention in why.best
    assert mention not in why.rival


@pytest.mark.parametrize("model", BELIEVED, ids=repr)
def test_contributions_sum_to_the_log_ratio_of_the_two_best_sets(model: object) -> None:
    """Where every mention set is one structure, score(a) − score(b) = log P(a) − log P(b)."""
    ner = train(model)
    for mention in (FOUND, MISSED):
        why = ner.explain(SENTENCE, mention)
        probs = {tuple(found): p for p, found in ner.k_best(SENTENCE, 20_000)}
        expected = math.log(probs[tuple(why.best)]) - math.log(probs[tuple(why.rival)])
        assert why.score_difference == pytest.approx(expected, abs=1e-6)
        assert why.prob == pytest.approx(ner.distribution(SENTENCE).prob(mention), abs=1e-9)


@pytest.mark.parametrize("model", [Layered(), Cascade(), Cascade(base=Memm(order=1))], ids=repr)
def test_reductions_explain_the_part_that_finds_the_mention(model: object) -> None:
    ner = train(model, NESTED)
    why = ner.explain(SENTENCE, FOUND)
    part, seen = ner.trained_.responsible(SENTENCE, FOUND)
    belief = part.distribution(*seen([SENTENCE]))
    probs = {tuple(found): p for p, found in belief.k_best(20_000)}
    expected = math.log(probs[tuple(why.best)]) - math.log(probs[tuple(why.rival)])
    assert why.score_difference == pytest.approx(expected, abs=1e-6)
    assert why.prob == pytest.approx(belief.prob(FOUND), abs=1e-6)


def test_joined_labels_explain_the_structures_that_the_two_best_sets_stand_for() -> None:
    ner = train(Joined(), NESTED)
    why = ner.explain(SENTENCE, FOUND)
    base = {tuple(found): p for p, found in ner.parts_[0].distribution(SENTENCE).k_best(20_000)}
    likely = []
    for wanted in (why.best, why.rival):
        alike = [p for found, p in base.items() if set(read_runs(found)) == set(wanted)]
        likely.append(max(alike))
    assert why.score_difference == pytest.approx(math.log(likely[0]) - math.log(likely[1]), abs=1e-6)


@pytest.mark.parametrize("mention", [Mention("DNA", ((1, 3),)), Mention("DNA", ((0, 1), (3, 4)))], ids=repr)
def test_multilabel_contributions_sum_to_the_score_above_the_threshold(mention: Mention) -> None:
    apart = Sentence(["alpha", "and", "beta", "gene"], [Mention("DNA", ((0, 1), (3, 4))), Mention("DNA", ((2, 4),))])
    ner = Recognizer(Multilabel(), features="mcdonald-words", trainer=LogLinear(), threads=1).fit([*FLAT, apart, apart])
    ner.set_threshold(-0.25)
    scored = {m: score for score, m in ner.trained_.unrestricted([SENTENCE], 10_000, -math.inf, 1)[0]}
    why = ner.explain(SENTENCE, mention)
    assert why.log_odds == pytest.approx(scored[mention] + 0.25, abs=1e-6)
    assert why.score_difference == pytest.approx(scored[mention] + 0.25, abs=1e-6)
    assert {c.group for c in why.contributions} >= {"threshold"}


def test_a_weight_that_is_known_is_told() -> None:
    """With one feature a gap, every contribution is that weight."""
    ner = Recognizer(Edge(), features=["word"], trainer=LBFGS(max_iter=5), threads=1).fit(FLAT)
    why = ner.explain(SENTENCE, Mention("DNA", ((1, 3),)))
    weights = ner.trained_.weights[[c.type for c in ner.trained_.components].index("DNA")].features
    names = ner.trained_.extractor.names()
    for one in why.contributions:
        expected = weights[names.index(one.feature), ("X", "S", "E", "ES", "C", "CS", "EC", "ECS").index(one.column)]
        assert one.weight == pytest.approx(float(expected))
        assert one.contribution == pytest.approx(float(expected) if one.with_mention else -float(expected))
        # word[0] at a gap is the token after it.
        assert SENTENCE.tokens[one.site[0][0]] == one.feature.removeprefix("word[0]=")


def test_edge_columns_are_told_in_words() -> None:
    words = {one.words for one in train(Edge()).explain(SENTENCE, FOUND).contributions if one.with_mention}
    assert "a DNA starts before “IL-6”" in words
    assert "a DNA ends after “gene”" in words
    assert separator_words(6, "DNA", "“gene”", "“x”") == "a DNA ends after “gene”, another goes on"


def test_chain_columns_are_told_in_words() -> None:
    words = {one.words for one in train(Chain()).explain(SENTENCE, FOUND).contributions}
    assert "“gene” is the last token of a DNA" in words


def test_groups_go_by_template() -> None:
    groups = {c.feature.partition("=")[0]: c.group for c in train(Chain()).explain(SENTENCE, FOUND).contributions}
    assert groups["word[-1]"] == "neighbours"
    assert groups["shape(word)[0]"] == "word and shape"
    assert groups["suffix(word, 2)[0]"] == "affixes"
    assert groups["B-DNA → E-DNA"] == "transitions"


def test_support_is_the_training_mention_with_the_common_words() -> None:
    ner = train(Edge())
    corpus = [Document(FLAT, "train")]
    why = ner.explain(Sentence(["the", "lacZ", "gene", "binds"]), FOUND, corpus=corpus)
    assert why.support[0].sentence.text == FLAT[0].text
    assert why.support[0].mention == FLAT[0].mentions[0]
    assert why.support[0].document == "train"
    assert [s.shared for s in why.support] == sorted((s.shared for s in why.support), reverse=True)
    assert not ner.explain(SENTENCE, FOUND).support


def test_a_mention_of_a_document_is_looked_up_in_its_sentence() -> None:
    ner = train(Edge())
    inside = ner.explain(Document([FLAT[3], SENTENCE]), Mention("DNA", ((5, 7),)))
    assert inside.mention == FOUND
    assert inside.log_odds == ner.explain(SENTENCE, FOUND).log_odds


def test_what_cannot_be_is_refused() -> None:
    ner = train(Edge())
    with pytest.raises(ParameterError, match="finds no 'cell'"):
        ner.explain(SENTENCE, Mention("cell", ((0, 1),)))
    with pytest.raises(ParameterError, match="beyond the last"):
        ner.explain(SENTENCE, Mention("DNA", ((4, 5),)))
    with pytest.raises(ParameterError, match="no structure"):
        ner.explain(SENTENCE, Mention("DNA", ((0, 1), (2, 3))))


def test_a_threshold_that_decides_is_said() -> None:
    ner = train(Edge())
    ner.rule_ = Rule({"DNA": 0.999999, "protein": 0.01})
    why = ner.explain(SENTENCE, FOUND)
    assert FOUND not in ner.predict(SENTENCE).mentions
    assert 0.5 < why.prob < 0.999999
    assert why.note.endswith("DNA from a probability of 0.999999 on; this mention is below that, and not in the answer")
    assert why.note in str(why)
    ner.rule_ = Rule({"DNA": 0.5})
    assert ner.explain(SENTENCE, FOUND).note.endswith("from a probability of 0.5 on; this mention is not below that")
    assert "no probability" in ner.explain(SENTENCE, MISSED).note
    ner.rule_ = Rule()
    assert ner.explain(SENTENCE, FOUND).note == ""


def test_calibrated_probabilities_are_said() -> None:
    """Mentions of the best answer have a curve, and others have another."""
    ner = train(Edge())
    ner.rule_ = Rule(calibration=Calibration("temperature", (0.5, 0.0), Calibration("temperature", (0.25, 0.0))))
    (found,) = ner.predict(SENTENCE, probabilities=True).mentions
    assert found == FOUND
    assert f"calibrated, the probability is {found.prob:.4f};" in ner.explain(SENTENCE, FOUND).note
    why = ner.explain(SENTENCE, MISSED)
    expected = 1 / (1 + math.exp(-0.25 * why.log_odds))
    assert f"calibrated, the probability is {expected:.4f};" in why.note


def test_html_is_escaped_and_asks_for_nothing() -> None:
    ner = train(Edge(), [*FLAT, Sentence(["<script>", "x"], [Mention("DNA", ((0, 1),))])])
    html = ner.explain(Sentence(["<script>", "gene"]), Mention("DNA", ((0, 1),)))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert not re.search(r"https?:|src=|@import|url\(", html)
    assert "prefers-color-scheme:dark" in html


def test_text_tells_the_figures() -> None:
    why = train(Edge()).explain(SENTENCE, FOUND)
    text = str(why)
    assert f"log-odds {why.log_odds:+.3f}" in text
    assert f"score difference {why.score_difference:+.3f}" in text
