"""Mentions of the hypergraph, found and judged natively: against every mention set, and against its trellis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import consistent_hyperpaths
from spanloom._native import hypergraph_reader
from spanloom.base.arrays import Floats
from spanloom.inference import unfolded_trellis
from spanloom.schemes.hypergraph import EDGES
from spanloom.schemes.separators import decode_separators


def spans(n: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(n) for b in range(a + 1, n + 1)]


def found(scores: Floats) -> Floats:
    """The probabilities of all spans, by the native reader."""
    n = len(scores)
    starts, ends = np.array(spans(n), np.int32).T.copy()
    types = np.zeros(len(starts), np.int32)
    ptr, first = np.array([0, n]), np.array([0, len(starts)])
    return np.asarray(hypergraph_reader().probabilities(scores.ravel(), ptr, first, starts, ends, types, 1))


def enumerated(scores: Floats) -> Floats:
    """The same from every mention set, its choices counted as often as its tokens are reached."""
    n = len(scores)
    weights = [(score, set(decode_separators(np.array(y, np.int32)))) for score, y in consistent_hyperpaths(scores)]
    top = max(score for score, _ in weights)
    z = math.fsum(math.exp(score - top) for score, _ in weights)
    return np.array([math.fsum(math.exp(s - top) for s, held in weights if span in held) / z for span in spans(n)])


@given(st.integers(1, 5), st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 5.0, 100.0]))
def test_every_mention_has_its_share_of_all_mention_sets(n: int, seed: int, width: float) -> None:
    scores = np.random.default_rng(seed).normal(size=(n, len(EDGES))) * width
    np.testing.assert_allclose(found(scores), enumerated(scores), rtol=1e-9, atol=1e-14)


@given(st.integers(6, 20), st.integers(0, 10_000), st.sampled_from([0.5, 3.0, 30.0]))
def test_longer_sentences_are_judged_as_by_the_trellis(n: int, seed: int, width: float) -> None:
    scores = np.random.default_rng(seed).normal(size=(n, len(EDGES))) * width
    trellis = unfolded_trellis(scores.ravel(), "a")
    assert trellis.exact
    starts, ends = np.array(spans(n), np.int32).T.copy()
    expected = trellis.native.probabilities(trellis.reading.native, starts, ends, np.zeros(len(starts), np.int32))
    np.testing.assert_allclose(found(scores), np.minimum(expected, 1.0), rtol=1e-7, atol=1e-12)


def test_counts_beyond_the_trellis_are_followed() -> None:
    """Forty mentions that start one after the other and end together: nothing else has a chance."""
    n = 40
    scores = np.zeros((n, len(EDGES)))
    scores[:, EDGES.index("T→I")] = 50.0
    scores[:, EDGES.index("I→I")] = 50.0
    probs = dict(zip(spans(n), found(scores).tolist(), strict=True))
    assert all(probs[start, n] == pytest.approx(1.0, abs=1e-12) for start in range(n))
    assert math.fsum(probs.values()) == pytest.approx(n, abs=1e-9)
