"""Where it gets long, extreme or certain; the Markov model; and what the hypergraph's distribution is not."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest

from oracles import Believed, consistent_hyperpaths
from spanloom import Mention, Recognizer, Sentence
from spanloom._native import EdgeStructure, Lattices, SegmentLayout
from spanloom.base.errors import ParameterError
from spanloom.inference import Trellis, segment_reading
from spanloom.learning import LBFGS
from spanloom.models import Memm
from spanloom.models.chain import ChainComponent
from spanloom.models.component import Shapes
from spanloom.models.edge import EdgeComponent
from spanloom.models.hypergraph import HypergraphComponent
from spanloom.models.semimarkov import SegmentComponent
from spanloom.models.spans import SpanComponent
from spanloom.models.state import StateComponent
from spanloom.models.tagger import TagComponent
from spanloom.models.tree import TreeComponent
from spanloom.schemes import Segments, decode_separators
from spanloom.schemes.biohd import Biohd

N = 10_000
IOBES = Segments("IOBES", [f"{p}-{t}" for t in ("a", "b", "c") for p in "BIES"])


def long_case(name: str) -> tuple[object, int, int, Shapes]:
    """Component, sites, global cells and shapes of a sentence of N tokens."""
    lattices = Lattices.up_to(np.array([N]), 4, SegmentLayout())
    made = {
        "chain": (ChainComponent(IOBES, True), N, 169),
        "chain free": (ChainComponent(IOBES, False), N, 169),
        "BIOHD": (ChainComponent(Biohd(["B-a", "I-a", "BD-a", "BH-a"]), True), N, 25),
        "tagger": (TagComponent([f"t{i}" for i in range(12)]), N, 144),
        "edge": (EdgeComponent("a"), N + 1, 0),
        "state": (StateComponent("a"), N + 1, 64),
        "hypergraph": (HypergraphComponent("a"), N, 0),
        "semimarkov": (SegmentComponent(["a", "b"]), lattices.rows, 9),
        "spans": (SpanComponent(["a", "b"]), lattices.rows, 0),
        "tree": (TreeComponent(["a", "b"], [("a", "b")]), lattices.rows, 8),
    }
    component, sites, pairs = made[name]
    return component, sites, pairs, Shapes([N], lattices)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["chain", "chain free", "BIOHD", "tagger", "edge", "state", "hypergraph", "semimarkov", "spans", "tree"]
)
def test_ten_thousand_tokens_take_seconds(name: str) -> None:
    component, sites, pairs, shapes = long_case(name)
    random = np.random.default_rng(1)
    # Sharp scores, as trained ones are.
    scores, global_scores = 6 * random.normal(size=(sites, len(component.columns))), random.normal(size=pairs)
    if name == "BIOHD":  # listed structures see little of a long sentence, unless the model is quite sure of it
        scores = 500 * scores
        scores[:, 3:] -= 1e5  # every D goes with every H of the sentence: thousands of them are no sentence
    begun = time.process_time()
    found = component.distribution(scores.ravel(), global_scores, shapes)
    mentions = found.mentions(0.5)
    assert mentions
    some = mentions[len(mentions) // 2]
    assert found.prob(some) == pytest.approx(some.prob, abs=1e-9)
    assert found.entropy() > 0
    (p, best), *_ = found.k_best(2)
    assert 0 <= p <= 1
    assert best
    assert len(found.sample(2, 1)) == 2
    clamped = found.clamp(must=[some])
    assert clamped.log_z - found.log_z == pytest.approx(math.log(some.prob), abs=1e-6)
    assert clamped.prob(some) == pytest.approx(1.0)
    assert time.process_time() - begun < 30


def test_listed_structures_that_are_not_all_give_lower_bounds() -> None:
    """3^9 label sequences, all equally good: a third of them begin with B, and 4,096 of them are listed."""
    component = ChainComponent(Biohd(["B-a", "BD-a"]), False)
    found = component.distribution(np.zeros(27), np.zeros(9), Shapes([9]))
    assert not found.exact
    assert 0 < found.prob(Mention("a", ((0, 1),))) < 1 / 3
    assert sum(p for p, _ in found.k_best(5000)) == pytest.approx(4096 / 3**9)
    with pytest.raises(ParameterError, match="none of the 4096 structures that are listed has it"):
        found.clamp(must=[Mention("a", ((0, 10),))])


@pytest.mark.parametrize("name", ["chain", "edge", "hypergraph", "state"])
def test_an_empty_sentence_has_the_empty_set(name: str) -> None:
    component = long_case(name)[0]
    sites = 1 if name in ("edge", "state") else 0
    pairs = component.structure.global_cells
    found = component.distribution(np.zeros(sites * len(component.columns)), np.zeros(pairs), Shapes([0]))
    assert found.k_best(3) == [(1.0, [])]
    assert found.mentions(0.1) == []
    assert found.log_z == 0.0
    assert found.entropy() == 0.0
    assert found.prob(Mention("a", ((0, 1),))) == 0.0
    with pytest.raises(ParameterError, match=r"'a' \(\(0, 1\),\) must be there, but no structure"):
        found.clamp(must=[Mention("a", ((0, 1),))])


def test_one_token_by_hand() -> None:
    """Four labels with weights 1, 2, 3 at one token, of which B and I cannot stand alone."""
    segments = Segments("IOBES", ["B-a", "I-a", "E-a", "S-a"])
    component = ChainComponent(segments, True)
    scores = np.log(np.array([1.0, 5.0, 5.0, 5.0, 3.0]))
    found = component.distribution(scores, np.zeros(25), Shapes([1]))
    assert found.prob(Mention("a", ((0, 1),))) == pytest.approx(0.75)
    assert found.log_z == pytest.approx(math.log(4))
    assert found.entropy() == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))


def test_what_is_next_to_impossible_can_be_clamped() -> None:
    """A log-odds of −30,000 is no probability that doubles hold, but a difference of log Z."""
    component = EdgeComponent("a")
    scores = np.zeros((3, 8))
    scores[:, 0] = 10_000.0  # X X X
    found = component.distribution(scores.ravel(), np.zeros(0), Shapes([2]))
    whole = Mention("a", ((0, 2),))
    assert found.prob(whole) == 0.0
    clamped = found.clamp(must=[whole])
    # S C E and S EC E: two sequences of score 0; S CS E has the whole as well, and so has S ECS E.
    assert clamped.log_z == pytest.approx(math.log(4))
    assert found.log_z == 30_000.0
    assert clamped.prob(whole) == pytest.approx(1.0)
    assert clamped.prob(Mention("a", ((0, 1),))) == pytest.approx(0.5)


def test_the_hypergraph_counts_as_often_as_it_unfolds() -> None:
    """So its best set is not that of EDGE scores which count each token once; ours is the decoder's."""
    component = HypergraphComponent("a")
    scores = np.zeros((2, 5))
    scores[0] = [5.0, 0.0, 10.0, 0.0, -20.0]  # T→I, T→X, I→I, I→X, I→(I,X)
    scores[1] = [3.0, 0.0, 0.0, -5.0, 0.0]
    found = component.distribution(scores.ravel(), np.zeros(0), Shapes([2]))
    cells = component.structure.best(scores.ravel(), np.zeros(0))[1]
    decoded = component.decode(cells, 2)
    assert found.k_best(1)[0][1] == decoded == [Mention("a", ((0, 2),))]
    once = np.zeros((3, 8))
    for g, y in itertools.product(range(3), range(8)):
        once[g, y] += scores[g, 0 if y & 1 else 1] if g < 2 else 0.0
        if g and y & 6:
            once[g, y] += scores[g - 1, {4: 2, 2: 3, 6: 4}[y & 6]]
    other = EdgeStructure().best(once.ravel(), np.zeros(0))[1] % 8
    assert decode_separators(other) == [(1, 2), (0, 2)]


def test_deep_unfoldings_are_followed_as_far_as_they_matter() -> None:
    """Eight tokens where a start everywhere is likely: counts go up to 8, beyond the first bound."""
    scores = np.random.default_rng(3).normal(size=(7, 5))
    scores[:, 0] += 2
    scores[:, 2] += 1
    believed = Believed([(s, frozenset(decode_separators(gaps))) for s, gaps in consistent_hyperpaths(scores)])
    found = HypergraphComponent("a").distribution(scores.ravel(), np.zeros(0), Shapes([7]))
    assert found.exact
    assert found.log_z == pytest.approx(believed.log_z, abs=1e-9)
    for part in believed.mentions():
        assert found.prob(Mention("a", (part,))) == pytest.approx(believed.prob(part), abs=1e-9)


@pytest.mark.parametrize("settings", [{"order": 1}, {"order": 2}, {"order": 2, "constrained": False}])
def test_the_markov_model_over_states(settings: dict[str, object]) -> None:
    """A chain over states, each read as its last label: probabilities are sums over all label sequences."""
    train = [
        Sentence(["the", "lacZ", "gene", "works"], [Mention("DNA", ((1, 3),))]),
        Sentence(["p53", "binds", "p53"], [Mention("protein", ((0, 1),)), Mention("protein", ((2, 3),))]),
        Sentence(["nothing", "here"], []),
    ]
    ner = Recognizer(Memm("IOB2", **settings), features=["word[0]", "word[-1]"], trainer=LBFGS(l2=0.05, max_iter=30))
    model = ner.fit(train).trained_
    sentence = Sentence(["the", "p53", "gene"], [])
    structure, transitions = model.trellis()
    local = model.local_scores([sentence], 1)
    reading = segment_reading(model.segments, unique=model.model.constrained, states=model.last.tolist())
    found = Trellis.of(structure, model.state_scores(local), transitions, reading)
    listed = []
    for labels in itertools.product(range(model.size), repeat=3):
        total, state = 0.0, None
        for t, y in enumerate(labels):
            step = model.first_step if state is None else model.step[state]
            total += (local[t] + step)[y] - np.logaddexp.reduce(local[t] + step)
            state = model.first_state[y] if state is None else model.goes[state, y]
        legal = not model.model.constrained or not model.segments.illegal(labels)
        listed.append((total if legal else -math.inf, frozenset(model.segments.decode(labels))))
    believed = Believed(listed)
    assert found.log_z == pytest.approx(believed.log_z, abs=1e-9)
    for mention in believed.mentions():
        assert found.prob(mention) == pytest.approx(believed.prob(mention), abs=1e-9)
    best = sorted(believed.sets.values(), reverse=True)[:4]
    assert [p for p, _ in found.k_best(4)] == pytest.approx(best, abs=1e-9)
    assert found.marginals().names == model.segments.labels
    if model.model.constrained:
        assert found.k_best(1)[0][1] == model.find([sentence], 1)[0]
