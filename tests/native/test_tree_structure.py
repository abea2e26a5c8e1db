"""The kernel and the graphs of entity trees equal the list of all mention sets of which no two mentions cross."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import agree, nested_sets, segment_rows, tree_structures
from spanloom._native import Lattices, SegmentLayout, TreeStructure
from spanloom.schemes.nested import Contexts
from strategies import lattices


def contexts(width: int, random: np.random.Generator) -> np.ndarray:
    """The contexts of some pairs of labels."""
    labels = [f"t{y}" for y in range(width)]
    pairs = [(x, y) for x in labels for y in labels if random.random() < 0.5]
    return Contexts(labels, pairs).next


@st.composite
def cases(draw):
    """A random lattice of few mention sets, its rows, contexts and scores."""
    width = draw(st.integers(1, 3))
    n = draw(st.integers(0, {1: 4, 2: 3, 3: 2}[width]))
    layout = SegmentLayout(draw(st.integers(1, 3)), draw(st.integers(1, 3)), inside=draw(st.booleans()))
    spans, native = draw(lattices(n, 4, layout))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    following = contexts(width, random)
    spreads = st.sampled_from([0.1, 3.0, 50.0, 2000.0])
    scores = random.normal(size=(native.rows, width)) * draw(spreads)
    if draw(st.integers(0, 3)) == 0:
        scores[random.random(scores.shape) < 0.1] = -math.inf
    rules = random.normal(size=following.shape) * draw(spreads)
    listed = tree_structures(spans, segment_rows(spans, n, layout), scores, rules, following)
    return spans, native, TreeStructure(width, native, following.ravel()), scores, rules, listed, random


def check(structure, scores, rules, mask, listed):
    """log Z, expected uses, the best tree, k best and the count are those of the list."""
    agree(structure, scores, rules, mask, [(total, used) for total, used, _ in listed])


@settings(max_examples=300, deadline=None)
@given(cases())
def test_kernel_and_engine_equal_enumeration(case):
    """Also for scores that leave the range of the kernel."""
    _, _, structure, scores, rules, listed, _ = case
    check(structure, scores, rules, None, listed)


@settings(max_examples=300, deadline=None)
@given(cases(), st.sampled_from([0.0, 0.05, 0.2]), st.sampled_from([0.0, 0.1, 0.4]))
def test_masks_leave_the_sets_with_what_must_be_and_without_what_must_not(case, must, out):
    spans, _, structure, scores, rules, listed, random = case
    width = scores.shape[1]
    mask = random.choice(3, (len(spans), width), p=[out, 1 - out - must, must]).astype(np.uint8)
    forced = {(*spans[s], y) for s, y in np.argwhere(mask == 2).tolist()}
    never = {(*spans[s], y) for s, y in np.argwhere(mask == 0).tolist()}
    left = [one for one in listed if forced <= one[2] and not never & one[2]]
    check(structure, scores, rules, mask.ravel(), left)


@settings(max_examples=200, deadline=None)
@given(cases())
def test_a_whole_set_that_must_be_is_the_only_one(case):
    """Every set of the list, as a mask that forces it and forbids the rest, leaves one tree."""
    spans, _, structure, scores, rules, listed, random = case
    one = listed[random.integers(len(listed))]
    mask = np.zeros((len(spans), scores.shape[1]), np.uint8)
    for i, j, y in one[2]:
        mask[spans.index((i, j)), y] = 2
    check(structure, scores, rules, mask.ravel(), [one])


@pytest.mark.parametrize(("n", "width"), [(n, 1) for n in range(6)] + [(n, 2) for n in range(5)])
def test_there_are_as_many_trees_as_mention_sets(n, width):
    """One tree for each set of mentions of which no two cross: no more, no less."""
    spans = [(i, j) for i in range(n) for j in range(i + 1, n + 1)]
    lattices = Lattices.up_to(np.array([n]), max(n, 1), SegmentLayout())
    structure = TreeStructure(width, lattices, Contexts([str(y) for y in range(width)]).next.ravel())
    assert structure.graph(lattices.rows).count() == sum(1 for _ in nested_sets(spans, width))


def test_five_tokens_with_two_labels_by_hand():
    """Each segment of a set has one of 2² − 1 sets of labels. Single tokens and the whole: (1 + 3)⁶. Segments of two to
    four tokens that do not cross are dissections of a hexagon: 1, 9, 21, 14 of them with 0 to 3 diagonals (Cayley)."""
    lattices = Lattices.up_to(np.array([5]), 5, SegmentLayout())
    structure = TreeStructure(2, lattices, Contexts(["a", "b"]).next.ravel())
    assert structure.graph(lattices.rows).count() == 4**6 * (1 + 9 * 3 + 21 * 3**2 + 14 * 3**3)


@pytest.mark.parametrize("following", [[], [1], [1, 1], [0, 2, 1, 2, 1, 2], [1, 2, 1, 2, 3, 2], [2, 1, 1, 1, 1, 1]])
def test_tables_that_are_no_contexts_are_refused(following):
    lattices = Lattices.up_to(np.array([1]), 1, SegmentLayout())
    with pytest.raises(ValueError, match="TreeStructure"):
        TreeStructure(2, lattices, np.array(following, np.int32))


def test_memory_of_the_kernel_grows_with_the_longest_mention_and_not_with_its_square():
    """Ten thousand tokens, mentions of up to twenty: probabilities add up, and the best tree has the best score."""
    lattices = Lattices.up_to(np.array([10_000]), 20, SegmentLayout())
    following = Contexts(["a", "b"], [("a", "b")]).next
    structure = TreeStructure(2, lattices, following.ravel())
    random = np.random.default_rng(1)
    scores, rules = random.normal(size=(lattices.rows, 2)) - 1, random.normal(size=following.size)
    value, expected = structure.expectations(scores.ravel(), rules)
    score, cells = structure.best(scores.ravel(), rules)
    segments = expected[-rules.size - 2 * lattices.segments : -rules.size]
    assert segments.sum() == pytest.approx(expected[-rules.size :].sum())  # a rule for every mention
    assert segments.min() >= 0
    assert segments.max() <= 1 + 1e-9
    assert score < value
    assert len(cells) > 10_000
