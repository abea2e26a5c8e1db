"""semimarkov, weak-semimarkov, dgm and dgm-s through the Recognizer: learning, holding, keeping, what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles import log_z, segment_rows, segment_structures
from spanloom import Mention, Recognizer, Sentence
from spanloom.base.errors import CorpusError, EncodingError, ModelFileError, ParameterError
from spanloom.corpus import valid_spans
from spanloom.learning import LBFGS, Auto, Perceptron
from spanloom.models import MODELS, SemiMarkov, WeakSemiMarkov
from spanloom.models.semimarkov import SegmentComponent
from spanloom.models.spans import SpanComponent

NAMES = ["semimarkov", "weak-semimarkov", "dgm", "dgm-s"]
FEATURES = ["bias", "first(word)[-1..0]", "last(word)[0..1]", "left(word, 1..2)", "right(word, 1..2)", "size", "word"]


def sentence(words, heads, *mentions):
    """Words and heads as text; mentions as (label, start, end)."""
    tokens = words.split()
    columns = {
        "head": heads.split(),
        "deprel": ["root" if h == "0" else "dep" for h in heads.split()],
        "pos": [word[:1] for word in tokens],
    }
    return Sentence(tokens, [Mention(label, ((a, b),)) for label, a, b in mentions], columns)


TRAIN = [
    sentence("Lee Ann Womack won Single of the Year", "3 3 4 0 4 5 8 6", ("PER", 0, 3), ("MISC", 4, 8)),
    sentence("yesterday Ann Lee won", "4 3 4 0", ("PER", 1, 3)),
    sentence("Womack won Song of the Year", "2 0 2 3 6 4", ("PER", 0, 1), ("MISC", 2, 6)),
    sentence("nothing here", "2 0"),
    sentence("", ""),
]


@pytest.mark.parametrize("model", NAMES)
def test_it_learns_what_it_was_shown(model):
    """The training mentions are found again; with dgm-s those that one arc covers."""
    ner = Recognizer(model, features=FEATURES, trainer=LBFGS(l2=0.01), keep="longest").fit(TRAIN)
    assert ner.labels_ == (("PER",) if model == "dgm-s" else ("MISC", "PER"))
    found = ner.predict(TRAIN)
    # "Single of the Year" is a chain of two arcs, Single–of and of–Year.
    lost = [(0, TRAIN[0].mentions[1]), (2, TRAIN[2].mentions[1])] if model == "dgm-s" else []
    assert ner.lost_ == lost
    for number, (gold, predicted) in enumerate(zip(TRAIN, found, strict=True)):
        gone = [m for n, m in lost if n == number]
        assert sorted(predicted.mentions) == sorted(m for m in gold.mentions if m not in gone)


@pytest.mark.parametrize("model", NAMES)
def test_k_best_probabilities_equal_enumeration(model):
    """All segmentations of a sentence, listed by definition and scored with the learned weights."""
    ner = Recognizer(MODELS[model](longest=3), features=FEATURES, trainer=LBFGS(l2=0.5), keep="longest").fit(TRAIN)
    probe = TRAIN[1]
    n, heads = len(probe), [int(h) for h in probe.columns["head"]]
    spans = [(i, j) for i in range(n) for j in range(i + 1, min(n, i + 3) + 1)]
    if model.startswith("dgm"):
        spans = valid_spans(heads, longest=3, single=model == "dgm-s")
    (component,) = ner.trained_.components
    shapes = ner.model_.shapes([probe], ner.extractor_.layout)
    rows = ner.extractor_.transform([probe], 1, shapes.lattices)
    weights = ner.trained_.weights[0]
    scores = np.array(
        [weights.features[rows.ids[rows.row_ptr[r] : rows.row_ptr[r + 1]]].sum(axis=0) for r in range(rows.rows)],
        np.float64,
    )
    width = len(component.columns)
    listed = segment_structures(
        spans, n, segment_rows(spans, n, ner.extractor_.layout), scores, weights.globals.reshape(width, width)
    )
    total = log_z(listed)
    found = ner.k_best(probe, len(listed))
    assert len(found) == len(listed)  # every segmentation reads as a mention set of its own
    assert sum(p for p, _ in found) == pytest.approx(1.0)
    expected = sorted((math.exp(score - total) for score, _ in listed), reverse=True)
    np.testing.assert_allclose([p for p, _ in found], expected, rtol=1e-4)
    assert found[0][1] == sorted(ner.predict(probe).mentions)


def test_the_weak_field_is_the_semi_markov_field():
    """No feature joins the type before a segment with its length, so both learn the same weights, to the bit."""
    one, other = (
        Recognizer(model, features=FEATURES, trainer=LBFGS(l2=0.1)).fit(TRAIN).trained_.weights[0]
        for model in (SemiMarkov(longest=4), WeakSemiMarkov(longest=4))
    )
    assert one.features.tobytes() == other.features.tobytes()
    assert one.globals.tobytes() == other.globals.tobytes()


@pytest.mark.parametrize("model", NAMES)
def test_a_model_file_finds_the_same(model, tmp_path):
    """Saved and loaded, also without the training data's longest mention being asked for."""
    ner = Recognizer(model, features="jie-semi+dep", trainer=Auto(max_iter=20), keep="longest").fit(TRAIN)
    ner.save(tmp_path / "model.loom")
    again = Recognizer.load(tmp_path / "model.loom")
    assert again.model_.longest == ner.model_.longest
    assert [s.mentions for s in again.predict(TRAIN)] == [s.mentions for s in ner.predict(TRAIN)]


@pytest.mark.parametrize("model", NAMES)
def test_any_number_of_threads_gives_the_same_model(model):
    """Bit by bit."""
    settings = {"features": "jie-semi", "keep": "longest", "trainer": Auto(max_iter=10)}
    one, two = (Recognizer(model, threads=t, **settings).fit(TRAIN).trained_.weights[0] for t in (1, 2))
    assert one.features.tobytes() == two.features.tobytes()
    assert one.globals.tobytes() == two.globals.tobytes()


@pytest.mark.parametrize("model", NAMES)
def test_the_perceptron_learns_too(model):
    """Through the best segmentation and its cells."""
    ner = Recognizer(model, features=FEATURES, trainer=Perceptron(max_iter=30), keep="longest").fit(TRAIN)
    assert ner.history_[-1].objective == 0  # no wrong sentence in the last epoch


def test_token_features_see_every_token_of_a_segment():
    """A set made for tokens works for segments as it is."""
    ner = Recognizer("semimarkov", features="default", trainer=LBFGS(l2=0.01)).fit(TRAIN)
    assert ner.score(TRAIN).f1 == 1.0


def test_longest_is_taken_from_the_data_or_given():
    """None: the longest training mention. Given: what is longer is refused, or left out and counted."""
    assert Recognizer("semimarkov", features=FEATURES, trainer=Auto(max_iter=2)).fit(TRAIN).model_.longest == 4
    with pytest.raises(EncodingError, match=r"mention 0 MISC \(\(4, 8\),\) has 4 tokens, more than longest=3"):
        Recognizer(SemiMarkov(longest=3), features=FEATURES).fit(TRAIN)
    ner = Recognizer(SemiMarkov(longest=3), features=FEATURES, trainer=Auto(max_iter=2), keep="longest").fit(TRAIN)
    assert ner.ceiling_ == 3 / 5
    assert [n for n, _ in ner.lost_] == [0, 2]
    with pytest.raises(ParameterError, match=r"'longest' parameter must be an integer of at least 1\. Got 0"):
        Recognizer(SemiMarkov(longest=0)).fit(TRAIN)


def test_mentions_that_the_tree_does_not_allow_are_named():
    """The sentence, the mention, the reason, the way out."""
    bad = sentence("Lee won Ann", "2 0 2", ("PER", 0, 2), ("PER", 2, 3))
    chain = sentence("a b c", "2 3 0", ("PER", 0, 3))
    Recognizer("dgm", features=FEATURES, trainer=Auto(max_iter=1)).fit([bad, chain])
    with pytest.raises(EncodingError, match=r"is not covered by one arc of the sentence's tree.*keep=\"longest\""):
        Recognizer("dgm-s", features=FEATURES, trainer=Auto(max_iter=1)).fit([bad, chain])
    apart = sentence("a b c", "0 1 0", ("PER", 1, 3))
    with pytest.raises(EncodingError, match="is not covered by a chain of arcs"):
        Recognizer("dgm", features=FEATURES).fit([apart])


def test_a_missing_tree_names_the_way_out():
    """In training and in finding."""
    bare = Sentence(["Lee", "won"], [Mention("PER", ((0, 1),))])
    with pytest.raises(CorpusError, match=r"has no tree: it lacks the column 'head'.*parser"):
        Recognizer("dgm", features=FEATURES).fit([bare])
    ner = Recognizer("dgm", features=FEATURES, trainer=Auto(max_iter=2)).fit(TRAIN)
    with pytest.raises(CorpusError, match=r"sentence 1 .* has no tree"):
        ner.predict([TRAIN[0], bare])


def test_overlapping_mentions_are_refused():
    """Segments do not overlap."""
    both = sentence("a b c", "2 3 0", ("PER", 0, 2), ("ORG", 1, 3))
    with pytest.raises(EncodingError, match="crosses mention 1"):
        Recognizer("semimarkov", features=FEATURES).fit([both])


NESTED = [
    sentence("the mayor of New York spoke", "2 6 5 5 2 0", ("PER", 0, 5), ("LOC", 3, 5), ("PER", 1, 2)),
    sentence("a mayor of Rome won", "2 5 4 2 0", ("PER", 0, 4), ("LOC", 3, 4), ("PER", 1, 2)),
    sentence("nothing here", "2 0"),
]


@pytest.mark.parametrize("model", ["spans", "dgm-nested"])
def test_sets_of_segments_hold_nested_mentions_of_one_type(model, tmp_path):
    """Found again after training and loading; the most probable sets have the products of single probabilities."""
    ner = Recognizer(model, features=[*FEATURES, "segment(word)"], trainer=LBFGS(l2=0.01)).fit(NESTED)
    assert ner.ceiling_ == 1.0
    assert [sorted(s.mentions) for s in ner.predict(NESTED)] == [sorted(s.mentions) for s in NESTED]
    ner.save(tmp_path / "nested.loom")
    again = Recognizer.load(tmp_path / "nested.loom")
    assert [s.mentions for s in again.predict(NESTED)] == [s.mentions for s in ner.predict(NESTED)]
    best = ner.k_best(NESTED[0], 2)
    assert sorted(best[0][1]) == sorted(NESTED[0].mentions)
    assert 0 < best[1][0] < best[0][0] < 1


def test_sets_of_segments_refuse_what_has_parts():
    """And valid spans are asked for where a tree guides."""
    parts = Sentence(["a", "b", "c"], [Mention("X", ((0, 1), (2, 3)))], {"head": ["2", "0", "2"]})
    with pytest.raises(EncodingError, match="has 2 parts"):
        Recognizer("spans", features=FEATURES).fit([parts])
    with pytest.raises(EncodingError, match="is not covered by a chain of arcs"):
        Recognizer("dgm-nested", features=FEATURES).fit([sentence("a b c", "0 1 0", ("PER", 1, 3))])


def test_damaged_headers_are_model_file_errors():
    """Whatever is missing or of the wrong kind."""
    for name in NAMES:
        for header in ({}, {"longest": None, "types": []}, {"longest": 0, "types": ["a"]}, {"longest": 2, "types": 3}):
            with pytest.raises(ModelFileError, match="damaged"):
                MODELS[name].from_header(header)


@pytest.mark.parametrize("component", [SegmentComponent, SpanComponent])
def test_a_sentence_alone_comes_back(component):
    """Without the candidates of a corpus, those are all segments; a set of segments may nest."""
    mentions = [Mention("A", ((0, 1),)), Mention("B", ((2, 5),))]
    if component is SpanComponent:
        mentions.append(Mention("A", ((2, 3),)))
    one = component(["A", "B"])
    for n in (5, 7):
        assert sorted(one.decode(one.encode(mentions, n), n)) == sorted(mentions)
    assert one.decode(one.encode([], 4), 4) == []
