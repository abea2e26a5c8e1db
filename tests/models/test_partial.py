"""Partial annotation: the structures that a component allows are those whose reading agrees with what is known."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from oracles import log_z
from spanloom import Recognizer
from spanloom._native import ChoiceStructure, SegmentLayout, StructuredLoss, Supervision
from spanloom.corpus import Document, Known, Mention, Sentence
from spanloom.evaluation import evaluate
from spanloom.models.chain import ChainComponent
from spanloom.models.component import Component, Shapes
from spanloom.models.edge import EdgeComponent
from spanloom.models.hypergraph import HypergraphComponent
from spanloom.models.segmental import SegmentalComponent
from spanloom.models.segments import all_segments
from spanloom.models.semimarkov import SegmentComponent
from spanloom.models.spans import SpanComponent
from spanloom.models.state import StateComponent
from spanloom.models.supervised import locally_known, supervise
from spanloom.schemes import Segments
from toy import OFFICES

TYPES = ("a", "b")
EXACT = ("IO", "IOB2", "IOE2", "IOBES", "BILOU", "BI", "IE", "BIES")


def chain(scheme: str) -> ChainComponent:
    prefixes = {p for m in range(1, 4) for p in Segments.learn(scheme, [([Mention("a", ((0, m),))], m)]).labels}
    return ChainComponent(
        Segments(scheme, [p.replace("-a", f"-{t}") for p in sorted(prefixes) for t in TYPES if "-a" in p]), True
    )


@st.composite
def annotations(draw, types=TYPES, most=4):
    """A sentence's length, some mentions that do not overlap, and what is known."""
    n = draw(st.integers(1, most))
    cuts = sorted(draw(st.sets(st.integers(0, n))))
    spans = [span for span in itertools.pairwise(cuts) if draw(st.booleans())]
    listed = [Mention(draw(st.sampled_from(types)), (span,)) for span in spans]
    labels = draw(st.none() | st.sets(st.sampled_from(types)).map(tuple))
    bits = draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))
    ranges = None if bits is None else tuple((t, t + 1) for t in range(n) if bits[t])
    return n, listed, Known(labels, ranges)


def allowed_sets(component: Component, mask: np.ndarray, shapes: Shapes) -> list[frozenset[Mention]]:
    """The readings of all structures under a mask."""
    structure = component.structure_for(shapes)
    sites = shapes.lattices.rows if shapes.lattices is not None else len(mask)
    graph = structure.graph(sites, mask=np.ascontiguousarray(mask.ravel()))
    found = []
    for _, edges in graph.k_best(np.zeros(sites * len(component.columns) + structure.global_cells), 100_000):
        cells = np.sort(graph.cells_of(edges))
        cells = cells[cells < sites * len(component.columns)]
        (mentions,) = component.decode_all(cells, np.array([0, len(cells)], np.int64), shapes)
        found.append(frozenset(mentions))
    return found


def all_sets(component: Component, n: int, shapes: Shapes) -> list[frozenset[Mention]]:
    rows = n if shapes.lattices is None else component.structure_for(shapes).choices(shapes.lattices.rows)
    return allowed_sets(component, np.ones((rows, len(component.columns)), np.uint8), shapes)


@settings(max_examples=60, deadline=None)
@given(annotations(most=3), st.sampled_from(EXACT))
def test_chain(case, scheme):
    """Of all legal label sequences, those whose mentions agree; a sequence of labels is read in one way."""
    n, listed, known = case
    component, shapes = chain(scheme), Shapes([n])
    listed = component.decode(component.encode(listed, n)[:n], n)  # what the labels tell apart
    allowed = allowed_sets(component, component.allowed(listed, known, n), shapes)
    right = [found for found in all_sets(component, n, shapes) if known.agrees(found, listed)]
    assert sorted(map(sorted, allowed)) == sorted(map(sorted, right))
    assert right


@settings(max_examples=60, deadline=None)
@given(annotations(most=3), st.integers(1, 3), st.sampled_from([SegmentComponent, SpanComponent]))
def test_segments_and_spans(case, longest, kind):
    """Of all segmentations, and of all sets of candidates, those whose mentions agree."""
    n, listed, known = case
    component, shapes = kind(TYPES), Shapes([n], all_segments([n], longest, SegmentLayout(inside=True)))
    listed = [m for m in listed if len(m) <= longest]
    if kind is SpanComponent and n > 2:
        component = kind(("a",))
        listed = [m for m in listed if m.label == "a"]
    allowed = allowed_sets(component, component.allowed_in(listed, known, shapes, 0), shapes)
    right = [found for found in all_sets(component, n, shapes) if known.agrees(found, listed)]
    assert sorted(map(sorted, allowed)) == sorted(map(sorted, right))
    assert right


def encodings(component: Component, n: int, known: Known, listed: list[Mention]) -> set[tuple[int, ...]]:
    """The site cells of every set of mentions of one label that agrees with what is known."""
    spans = [Mention("a", ((i, j),)) for i in range(n) for j in range(i + 1, n + 1)]
    sets = itertools.chain.from_iterable(itertools.combinations(spans, k) for k in range(len(spans) + 1))
    sites = (n if isinstance(component, HypergraphComponent) else n + 1) * len(component.columns)
    return {
        tuple(sorted(c for c in component.encode(chosen, n).tolist() if c < sites))
        for chosen in sets
        if known.agrees(chosen, listed)
    }


@settings(max_examples=80, deadline=None)
@given(annotations(types=("a",)), st.sampled_from([EdgeComponent, StateComponent, HypergraphComponent]))
def test_separators_and_hypergraph(case, kind):
    """No structure of an agreeing set of mentions, nested and crossing ones included, is forbidden.

    Where no listed mention has both known and unknown tokens, no other separators are allowed. The hypergraph has its
    spurious structures beside them.
    """
    n, listed, known = case
    component = kind("a")
    mask = component.allowed(listed, known, n)
    graph = component.structure.graph(len(mask), mask=np.ascontiguousarray(mask.ravel()))
    scores = np.zeros(mask.size + component.structure.global_cells)
    cells = [np.sort(graph.cells_of(edges)) for _, edges in graph.k_best(scores, 100_000)]
    allowed = {tuple(some[some < mask.size].tolist()) for some in cells}
    right = encodings(component, n, known, listed)
    assert right <= allowed
    inside = known.tokens(n)
    mixed = known.has_label("a") and any(len({inside[t] for t in m.tokens}) > 1 for m in listed)
    if not mixed and kind is not HypergraphComponent:
        assert right == allowed


def test_separators_cannot_tell_which_mention_goes_on():
    """The one case of too much: (0, 3) is listed, token 1 known; a mention over tokens 2 and 3 may not begin at 0."""
    known, listed = Known(ranges=((1, 2),)), [Mention("a", ((0, 3),))]
    mask = EdgeComponent("a").allowed(listed, known, 4)
    long = EdgeComponent("a").encode([*listed, Mention("a", ((0, 4),))], 4)
    assert not known.agrees([*listed, Mention("a", ((0, 4),))], listed)
    assert mask.ravel()[long].all()


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(["chain", "edge", "semimarkov", "segmental"]))
def test_supervision_is_the_probability_of_what_agrees(data, name):
    """log Z − log Z(agreeing) over the listed structures, beside a sentence of which all is known."""
    n, listed, known = data.draw(annotations(types=("a",), most=3))
    shapes, layout = Shapes([n, n]), SegmentLayout(gaps=name == "segmental")
    if name == "chain":
        component: Component = ChainComponent(Segments("IOBES", ["B-a", "I-a", "E-a", "S-a"]), True)
    elif name == "edge":
        component, known = EdgeComponent("a"), Known(data.draw(st.sampled_from([(), None])))
    else:
        component = SegmentComponent(["a"]) if name == "semimarkov" else SegmentalComponent("a")
        shapes = Shapes([n, n], all_segments([n, n], n, layout))
    sentences = [Sentence(["x"] * n, known=known), Sentence(["x"] * n)]
    supervision = supervise(component, sentences, [listed, listed], shapes)
    structure = component.structure_for(shapes)
    sites = n + 1 if name == "edge" else n if shapes.lattices is None else shapes.lattices.rows // 2
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    scores, pairs = random.normal(size=(2, sites * structure.columns)), random.normal(size=structure.global_cells)
    loss, *_ = StructuredLoss(structure, supervision, 1).evaluate(
        np.array([0, sites, 2 * sites]), scores.ravel(), pairs
    )
    expected = 0.0
    one = shapes if shapes.lattices is None else Shapes([n], all_segments([n], n, layout))
    one = Shapes([n], one.lattices)
    for row, what in zip(scores, (known, Known()), strict=True):
        graph, table = structure.graph(sites), np.concatenate([row, pairs])
        listed_all, right = [], []
        for score, edges in graph.k_best(table, 100_000):
            cells = np.sort(graph.cells_of(edges))
            own = cells[cells < len(row)]
            (mentions,) = component.decode_all(own, np.array([0, len(own)], np.int64), one)
            listed_all.append((score, ()))
            agrees = what.agrees(mentions, listed)
            if name == "edge":  # separators stand for sets that they are not read as
                agrees = tuple(own.tolist()) in encodings(component, n, what, listed)
            if agrees:
                right.append((score, ()))
        expected += log_z(listed_all) - log_z(right)
    assert loss == pytest.approx(expected, abs=1e-8)


def test_without_known_the_cells_are_those_of_encoding():
    component = EdgeComponent("a")
    gold = [[Mention("a", ((0, 2),)), Mention("b", ((0, 1),))], []]
    sentences = [Sentence(["x", "y"], known=Known(labels=("a",))), Sentence(["z"])]
    found = supervise(component, sentences, gold, Shapes([2, 1]))
    cells = [component.encode([gold[0][0]], 2), component.encode([], 1)]
    assert found.cells.tolist() == np.concatenate(cells).tolist()
    assert found.ptr.tolist() == [0, 3, 5]
    assert found.mask(0) is None


def test_local_models_count_tokens_with_known_labels_and_histories():
    """Four tokens, the third unknown: with one label of history the loss is that of tokens 0 and 1, by hand."""
    mask = locally_known(np.array([[1, 0], [0, 1], [1, 1], [1, 0]], np.uint8), 1)
    scores = np.random.default_rng(0).normal(size=(4, 2))
    known = Supervision(np.array([0, 0]), np.zeros(0, np.int32), masks=(np.array([0, 8]), mask.ravel()))
    loss, gradient, _ = StructuredLoss(ChoiceStructure(2), known, 1).evaluate(
        np.array([0, 4]), scores.ravel(), np.zeros(0)
    )
    expected = sum(np.logaddexp(*scores[t]) - scores[t, y] for t, y in ((0, 0), (1, 1)))
    assert loss == pytest.approx(expected)
    np.testing.assert_allclose(gradient.reshape(4, 2)[2:], 0, atol=1e-15)


def test_a_tagger_of_columns_takes_sentences_whose_mentions_are_known_in_part():
    """What is unknown are mentions; the column is whole."""
    words = Sentence(["a", "b"], [], {"pos": ["N", "V"]}, known=Known(labels=("x",)))
    ner = Recognizer("tagger", features=["word"]).fit([words] * 3)
    assert ner.predict(words).columns["pos"] == ["N", "V"]


def test_what_the_annotation_leaves_open_is_neither_right_nor_wrong():
    """By hand: of three that are found, one is right, one is wrong, one is of a label that nobody annotated."""
    right, wrong, open_ = Mention("A", ((0, 1),)), Mention("A", ((1, 2),)), Mention("B", ((1, 2),))
    gold = Sentence(["x", "y"], [right], known=Known(labels=("A",)))
    found = [right, wrong, open_]
    for one, other in (([gold], [found]), ([Document([gold])], [Document([gold.with_mentions(found)])])):
        score = evaluate(one, other).micro
        assert (score.gold, score.predicted, score.correct) == (1, 2, 1)
    assert gold.judgeable(found) == [right, wrong]


def test_settings_are_chosen_on_sentences_that_are_annotated_completely():
    """Half of the development data have no annotation at all: what is found there must not count as wrong."""
    whole = OFFICES * 4
    bare = [replace(s, mentions=[], known=Known(labels=())) for s in whole]
    ner = Recognizer("edge", keep="longest", threads=1)
    assert ner.fit(whole, dev=whole).to_bytes() == clone(ner).fit(whole, dev=[*whole, *bare]).to_bytes()
    ner.tune_mention_penalty(whole)
    alone = ner.training_["penalty_curve"]
    ner.tune_mention_penalty([*whole, *bare])
    assert ner.training_["penalty_curve"] == alone


def test_what_is_known_has_the_types_that_it_needs():
    with pytest.raises(
        ValueError, match=r"known labels are a list of labels, not 'protein'; one alone is \('protein',\)"
    ):
        Known(labels="protein")
    with pytest.raises(ValueError, match=r"believed is a spanloom\.corpus\.Believed, not dict"):
        Known(labels=(), believed={"sets": []})


def test_development_data_that_are_all_annotated_in_part_are_scored_by_what_they_say():
    """Only places are annotated there: organisations and persons that are found are not wrong."""
    places = [
        replace(s, mentions=[m for m in s.mentions if m.label == "LOC"], known=Known(labels=("LOC",)))
        for s in OFFICES * 3
    ]
    ner = Recognizer("edge", keep="longest", threads=1).fit(OFFICES * 4, dev=places)
    assert ner.training_["dev_f1"] == pytest.approx(ner.score(places).f1)
    assert ner.training_["dev_f1"] > 0.9
