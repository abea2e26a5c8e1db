"""One battery of properties over the distributions of every component, against the list of all structures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, find, given, settings
from hypothesis import strategies as st

import spanloom.models  # noqa: F401  (so that all components exist)
from spanloom import Mention
from spanloom.base.errors import ParameterError
from spanloom.corpus.mention import reading_order
from spanloom.inference import Batch
from spanloom.models.component import Component
from spanloom.models.segments import LatticeComponent
from spanloom.models.separators import SeparatorComponent
from strategies import CASES, Case, cases, mention_sets

NAMES = list(CASES)
CLOSE = {"rel": 1e-7, "abs": 1e-9}


def ready(data: st.DataObject, name: str) -> Case:
    case = data.draw(cases(name))
    assume(case.believed.structures)
    return case


def least_seen(name: str) -> float:
    """Sets less probable than this may be missing where structures are listed until 1e-9 is left."""
    return 1e-8 if "BIOHD" in name else 0.0


def test_every_component_is_here() -> None:
    """A component enters the battery by existing: without a maker in ``CASES`` this fails."""
    found, queue = set(), [Component]
    while queue:
        kind = queue.pop()
        found.add(kind)
        queue += kind.__subclasses__()
    shared = {Component, SeparatorComponent, LatticeComponent}
    ours = {kind for kind in found - shared if kind.__module__.startswith("spanloom.")}
    assert ours == {kind for kind, _ in CASES.values()}


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_log_z_and_entropy_are_those_of_all_structures(name: str, data: st.DataObject) -> None:
    case = ready(data, name)
    found = case.distribution()
    assert found.exact
    assert found.log_z == pytest.approx(case.believed.log_z, rel=1e-9, abs=1e-9)
    assert found.entropy() == pytest.approx(case.believed.entropy(), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_prob_is_the_sum_over_structures_whose_reading_has_the_mention(name: str, data: st.DataObject) -> None:
    """For every mention of any structure, and for random others, which may be of any kind."""
    case = ready(data, name)
    found = case.distribution()
    others = data.draw(mention_sets(case.n + 1))
    for mention in case.believed.mentions() | set(others):
        assert found.prob(mention) == pytest.approx(case.believed.prob(mention), **CLOSE)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data(), above=st.sampled_from([1e-6, 0.05, 0.3, 0.5, 0.9]))
def test_mentions_above_are_all_that_reach_it_in_reading_order(name: str, data: st.DataObject, above: float) -> None:
    case = ready(data, name)
    found = case.distribution().mentions(above)
    probs = {m: case.believed.prob(m) for m in case.believed.mentions()}
    assume(all(abs(p - above) > 1e-7 for p in probs.values()))
    assert set(found) == {m for m, p in probs.items() if p >= above}
    assert found == sorted(found, key=reading_order)
    for mention in found:
        assert mention.prob == pytest.approx(probs[mention], **CLOSE)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data(), k=st.integers(1, 12))
def test_k_best_are_the_most_probable_sets_with_their_probabilities(name: str, data: st.DataObject, k: int) -> None:
    case = ready(data, name)
    sets = case.believed.sets
    found = case.distribution().k_best(k)
    best = sorted(sets.values(), reverse=True)[:k]
    assert np.all(np.array(best[len(found) :]) < least_seen(name))
    assert [p for p, _ in found] == pytest.approx(best[: len(found)], **CLOSE)
    assert len({frozenset(own) for _, own in found}) == len(found)
    for p, own in found:
        assert p == pytest.approx(sets[frozenset(own)], **CLOSE)
        assert own == sorted(own, key=reading_order)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_all_sets_sum_to_one(name: str, data: st.DataObject) -> None:
    case = ready(data, name)
    found = case.distribution().k_best(len(case.believed.sets) + 1)
    assert math.fsum(p for p, _ in found) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("name", [name for name in NAMES if "free" not in name and "BIOHD" not in name])
@settings(max_examples=25)
@given(data=st.data())
def test_the_best_set_is_what_the_decoder_finds(name: str, data: st.DataObject) -> None:
    """Where each set is one structure; two sets that are equally good may change places."""
    case = ready(data, name)
    _, decoded = case.best()
    top = case.distribution().k_best(1)[0]
    assert frozenset(top[1]) == decoded or case.believed.sets[decoded] == pytest.approx(top[0], rel=1e-7)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_clamping_is_conditioning(name: str, data: st.DataObject) -> None:
    """On mentions that must be there and others that must not, in two steps as in one."""
    case = ready(data, name)
    pool = sorted(case.believed.mentions())
    assume(pool)
    must = data.draw(st.lists(st.sampled_from(pool), max_size=2, unique=True))
    never = data.draw(st.lists(st.sampled_from(pool), max_size=2, unique=True))
    given_these = case.believed.given(must, never)
    if not given_these.structures:
        with pytest.raises(ParameterError, match="must"):
            case.distribution().clamp(must, never)
        return
    # Structures that are not listed (BIOHD) are not seen here either.
    assume("BIOHD" not in name or given_these.log_z - case.believed.log_z > -5)
    once = case.distribution().clamp(must, never)
    assert once.log_z == pytest.approx(given_these.log_z, rel=1e-9, abs=1e-6)
    twice = case.distribution().clamp(never=never).clamp(must=must)
    assert twice.log_z == pytest.approx(once.log_z, rel=1e-9, abs=1e-9)
    for mention in pool:
        assert once.prob(mention) == pytest.approx(given_these.prob(mention), rel=1e-6, abs=1e-6)
    assert once.entropy() == pytest.approx(given_these.entropy(), rel=1e-5, abs=1e-5)
    best = sorted(given_these.sets.values(), reverse=True)[:5]
    again = once.k_best(5)
    assert np.all(np.array(best[len(again) :]) < least_seen(name))
    assert [p for p, _ in again] == pytest.approx(best[: len(again)], rel=1e-6, abs=1e-6)
    for drawn in once.sample(3, 7):
        assert set(must) <= set(drawn)
        assert not set(never) & set(drawn)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8)
@given(data=st.data())
def test_samples_have_the_frequencies_of_the_distribution(name: str, data: st.DataObject) -> None:
    """No set is drawn more or less often than six standard deviations allow; impossible sets never are."""
    case = ready(data, name)
    found, sets, n = case.distribution(), case.believed.sets, 2000
    drawn = [frozenset(own) for own in found.sample(n, 5)]
    assert drawn == [frozenset(own) for own in found.sample(n, 5)]
    assert set(drawn) <= set(sets)
    for own, p in sets.items():
        assert abs(drawn.count(own) - n * p) <= 6 * math.sqrt(n * p * max(0.0, 1 - p)) + 3


@pytest.mark.parametrize("name", [name for name in NAMES if CASES[name][0] is not CASES["spans"][0]])
@settings(max_examples=15)
@given(data=st.data())
def test_marginals_are_those_of_the_engine(name: str, data: st.DataObject) -> None:
    """Where a site holds one column, rows are distributions and equal the structure's expectations."""
    case = ready(data, name)
    found = case.distribution().marginals()
    assert found.probs.shape == (len(found.sites), len(found.names))
    if name in ("semimarkov", "segmental", "tree"):
        for row, site in zip(found.probs, found.sites, strict=True):
            for p, label in zip(row, found.names, strict=True):
                assert label == "O" or p == pytest.approx(case.believed.prob(Mention(label, site)), **CLOSE)
        return
    assert found.probs.sum(axis=1) == pytest.approx(np.ones(len(found.sites)), abs=1e-8)
    if name != "hypergraph":
        structure = case.component.structure_for(case.shapes)
        expected = structure.expectations(case.scores.ravel(), case.global_scores.ravel())[1]
        assert found.probs.ravel() == pytest.approx(expected[: case.scores.size], **CLOSE)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(data=st.data())
def test_probabilities_of_a_batch_are_those_of_the_sentences(name: str, data: st.DataObject) -> None:
    """Of given mentions, also of ones that cannot be; the sentence stands twice, the second time without mentions."""
    case = ready(data, name)
    asked = [*sorted(case.believed.mentions())[:6], *data.draw(mention_sets(case.n + 1))]
    if case.shapes.lattices is None:
        table, ptr, lists = np.vstack([case.scores] * 2), [0, len(case.scores), 2 * len(case.scores)], [asked, []]
        shapes = type(case.shapes)([case.n, case.n])
    else:
        table, ptr, lists, shapes = case.scores, [0, len(case.scores)], [asked], case.shapes
    flat, pairs = np.ascontiguousarray(table).ravel(), case.global_scores.ravel()
    batch = Batch(flat, np.array(ptr, np.int64), pairs, lists, threads=1)
    found = case.component.probabilities(batch, shapes)
    assert len(found) == len(lists)
    assert found[0] == pytest.approx([case.believed.prob(m) for m in asked], **CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_bad_questions_are_refused(name: str) -> None:
    """With the parameter, its value and what is allowed; an unknown label is named with the known ones."""
    case = CASES[name][1](_least)
    found = case.distribution()
    with pytest.raises(ParameterError, match=r"'above'.*above 0"):
        found.mentions(0.0)
    with pytest.raises(ParameterError, match="'k'"):
        found.k_best(0)
    with pytest.raises(ParameterError, match=r"'cell' \(\(0, 1\),\) must be there, but the model knows"):
        found.clamp(must=[Mention("cell", ((0, 1),))])
    assert found.clamp(never=[Mention("cell", ((0, 1),))]).log_z == found.log_z


def _least(strategy: st.SearchStrategy) -> object:
    """The simplest value of a strategy."""
    return find(strategy, lambda _: True)
