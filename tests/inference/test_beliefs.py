"""Probabilities of mentions in dense rows are those of the trellis, and what dense rows cannot hold goes to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom import Recognizer, Sentence, read
from spanloom._native import ChainStructure, chain_reader
from spanloom._native import Trellis as NativeTrellis
from spanloom.inference import Reading, segment_reading, separator_reading
from spanloom.learning import LBFGS
from spanloom.models import Chains, Edge, Hypergraph, Model, State
from spanloom.models.believing import Finder
from spanloom.models.separators import separator_chain
from spanloom.models.structured import Structured
from spanloom.schemes import Segments

SEGMENTS = Segments("IOBES", [f"{p}-{t}" for t in ("a", "b") for p in "BIES"])


def readings() -> dict[str, tuple[ChainStructure, Reading]]:
    size = len(SEGMENTS.labels)
    every = np.ones(size, np.uint8)
    legal = np.array([SEGMENTS.allowed(a, b) for a in range(size) for b in range(size)], np.uint8)
    start = np.array([SEGMENTS.may_start(a) for a in range(size)], np.uint8)
    end = np.array([SEGMENTS.may_end(a) for a in range(size)], np.uint8)
    return {
        "constrained": (ChainStructure(size, legal, start, end), segment_reading(SEGMENTS, unique=True)),
        "unconstrained": (
            ChainStructure(size, np.ones(size * size, np.uint8), every, every),
            segment_reading(SEGMENTS, unique=False),
        ),
        "separators": (separator_chain(), separator_reading("a")),
    }


@pytest.mark.parametrize("name", ["constrained", "unconstrained", "separators"])
@given(st.integers(1, 7), st.integers(0, 10_000), st.sampled_from([0.1, 3.0, 60.0, 900.0]), st.sampled_from([0.0, 0.2]))
def test_every_mention_has_the_probability_of_the_trellis(
    name: str, sites: int, seed: int, width: float, forbidden: float
) -> None:
    """Also where scores are so far apart that dense rows cannot hold them, and where cells are forbidden."""
    structure, reading = readings()[name]
    rng = np.random.default_rng(seed)
    columns = structure.columns
    scores = rng.normal(size=(sites, columns)) * width
    scores[:, 1:][rng.random((sites, columns - 1)) < forbidden] = -np.inf  # O and X stay: there is a path
    pairs = rng.normal(size=columns * columns) * width
    places = [(s, e, t) for s in range(sites) for e in range(s + 1, sites + 1) for t in range(len(reading.types))]
    starts, ends, types = np.array(places, np.int32).T.copy()
    trellis = NativeTrellis(structure, scores.ravel(), pairs)
    expected = trellis.probabilities(reading.native, starts, ends, types)
    ptr, first = np.array([0, sites]), np.array([0, len(places)])
    reader = chain_reader(structure, pairs, reading.native)
    found = reader.probabilities(scores.ravel(), ptr, first, starts, ends, types, 1)
    np.testing.assert_allclose(found, np.minimum(expected, 1.0), rtol=1e-9, atol=1e-14)


MODELS: dict[str, Model] = {"chains": Chains(), "edge": Edge(), "state": State(), "hypergraph": Hypergraph()}


@pytest.fixture(scope="module", params=MODELS)
def trained(request: pytest.FixtureRequest) -> Recognizer:
    train = list(read("sample:train"))
    return Recognizer(MODELS[request.param], keep="longest", trainer=LBFGS(max_iter=15), threads=1).fit(train)


def test_one_pass_finds_what_the_distribution_holds(trained: Recognizer) -> None:
    """Mentions above a probability, and probabilities of the best structure, whatever the mention penalty."""
    sentences = [s for doc in read("sample:test") for s in doc.sentences]
    model = trained.trained_
    judged = {}
    for penalty in (0.0, 1.5):
        trained.set_mention_penalty(penalty)
        for sentence, found in zip(sentences, model.find_with_probabilities(sentences, 1), strict=True):
            belief = model.distribution(sentence)
            assert [m.prob for m in found] == pytest.approx([belief.prob(m) for m in found], rel=1e-9)
            judged[penalty] = judged.get(penalty, 0) + len(found)
    trained.set_mention_penalty(0.0)
    assert 0 < judged[0.0] < judged[1.5]
    for sentence, above in zip(sentences, model.find_above(sentences, 0.02, 1), strict=True):
        expected = model.distribution(sentence).mentions(0.02)
        assert above == expected
        assert [m.prob for m in above] == pytest.approx([m.prob for m in expected], rel=1e-9)


def test_threads_do_not_matter(trained: Recognizer) -> None:
    sentences = [s for doc in read("sample:train") for s in doc.sentences] * 3

    def answers(threads: int) -> list[list[tuple[Any, ...]]]:
        found = trained.trained_.find_above(sentences, 0.1, threads)
        return [[(m.label, m.parts, m.prob) for m in own] for own in found]

    assert answers(1) == answers(3)


def test_an_empty_sentence_has_no_mentions(trained: Recognizer) -> None:
    empty = Sentence([])
    assert trained.trained_.find_above([empty, empty], 0.1) == [[], []]
    assert trained.trained_.find_with_probabilities([empty]) == [[]]


def test_components_with_a_label_in_common_are_not_searched_in_one_pass(trained: Recognizer) -> None:
    """Their probabilities have to be put together; nor are components that are no chains."""
    model = trained.trained_
    assert isinstance(model, Structured)
    assert model.finder is not None
    twice, weights = [model.components[0]] * 2, [model.weights[0]] * 2
    assert Finder.of(twice, weights, model.decoder) is None
    assert Recognizer("semimarkov", keep="longest").fit(read("sample:dev")).trained_.finder is None  # type: ignore[attr-defined]
