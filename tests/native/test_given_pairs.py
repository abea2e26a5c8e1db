"""A likelihood over given pairs of feature and column: the same with bundles, with cells and with all pairs at hand."""

from __future__ import annotations

import numpy as np
import pytest

from spanloom._native import ChainStructure, CompressedRows, Likelihood, SparseRows, Supervision, paired_likelihood

LABELS, FEATURES, SITES = 9, 40, 120


def problem() -> tuple[SparseRows, ChainStructure, Supervision, np.ndarray]:
    """Rows in which features come along with others, as those of a word do; a random set of pairs."""
    random = np.random.default_rng(3)
    word = random.integers(0, 8, SITES)
    ids = np.stack([word, 8 + word, 16 + word, 24 + random.integers(0, 16, SITES)], 1).astype(np.uint32)
    groups = np.arange(0, SITES + 1, 10)
    rows = SparseRows(groups.astype(np.int64), np.arange(0, 4 * SITES + 1, 4), ids.ravel(), FEATURES)
    ones = np.ones(LABELS, np.uint8)
    chain = ChainStructure(LABELS, np.ones(LABELS * LABELS, np.uint8), ones, ones)
    gold = random.integers(0, LABELS, SITES).reshape(-1, 10)
    sites = np.arange(10) * LABELS + gold
    pairs = 10 * LABELS + gold[:, :-1] * LABELS + gold[:, 1:]
    cells = np.concatenate([sites, pairs], 1).astype(np.int32)
    known = Supervision(np.arange(0, cells.size + 1, 19), cells.ravel())
    allowed = random.random((FEATURES, LABELS)) < 0.4
    allowed[0:24] = np.tile(allowed[0:8], (3, 1))  # features that are merged have the same pairs
    return rows, chain, known, allowed


@pytest.mark.parametrize(("merge", "bundles"), [(False, False), (False, True), (True, False), (True, True)])
def test_given_pairs_are_the_whole_objective_with_other_weights_at_zero(merge, bundles):
    """Value and gradient at a random point, from the objective that has a weight for every pair."""
    rows, chain, known, allowed = problem()
    whole = Likelihood(CompressedRows(rows, merge=False, bundles=False), chain, known, threads=1)
    compressed = CompressedRows(rows, merge=merge, bundles=bundles)
    assert (compressed.bundles > 0) == bundles
    ptr = np.concatenate([[0], np.cumsum(allowed.sum(1))])
    columns = np.nonzero(allowed)[1].astype(np.uint32)
    given = paired_likelihood(compressed, chain, known, (ptr, columns), threads=2)
    random = np.random.default_rng(4)
    x = random.normal(size=given.size)
    weights = given.pair_weights(x)
    table = np.zeros((FEATURES, LABELS))
    table[allowed] = weights
    transitions = given.global_weights(x)
    value, gradient = given.evaluate(x)
    expected, slope = whole.evaluate(np.concatenate([table.ravel(), transitions]))
    assert value == pytest.approx(expected, rel=1e-6)
    # By the chain rule: the slope along any direction is the same in both.
    step = random.normal(size=given.size)
    moved = np.zeros((FEATURES, LABELS))
    moved[allowed] = given.pair_weights(step)
    along = np.concatenate([moved.ravel(), given.global_weights(step)])
    assert gradient @ step == pytest.approx(slope @ along, rel=1e-4)


def test_pairs_that_do_not_fit_are_refused():
    rows, chain, known, _ = problem()
    merged = CompressedRows(rows, merge=True, bundles=False)
    columns = np.arange(FEATURES, dtype=np.uint32) % LABELS
    for ptr, complaint in ((np.arange(FEATURES + 1), "merged"), (np.arange(FEATURES), "do not fit")):
        with pytest.raises(ValueError, match=complaint):
            paired_likelihood(merged, chain, known, (ptr, columns))
    whole = Likelihood(merged, chain, known)
    with pytest.raises(ValueError, match="no list of pairs"):
        whole.pair_weights(np.zeros(whole.size))
