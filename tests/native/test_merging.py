"""Rows are prepared to the same bits by any number of threads; features share a parameter only where they may."""

from __future__ import annotations

import numpy as np
import pytest
from test_bundles import chain, rows_of

from spanloom._native import (
    ChainStructure,
    CompressedRows,
    Lbfgs,
    Likelihood,
    SparseRows,
    Supervision,
    paired_likelihood,
)


def large(seed: int, values: bool = False) -> SparseRows:
    """Over 70,000 entries, enough for several threads; words bring features along, and rare ones come in equal columns.

    A row has a frequent word and its affixes, three features of a rare word, and one of its own.
    """
    random = np.random.default_rng(seed)
    sites = 10_000
    word, rare = random.integers(0, 60, sites), random.integers(0, sites, sites)
    ids = [word, 60 + word // 2, 120 + word // 5, 180 + rare * 3, 181 + rare * 3, 182 + rare * 3]
    table = np.stack([*ids, 180 + 3 * sites + np.arange(sites)], 1).astype(np.uint32)
    counts = random.integers(1, 3, table.size).astype(np.float32) if values else None
    groups = np.arange(0, sites + 1, 20, dtype=np.int64)
    return SparseRows(groups, np.arange(0, table.size + 1, 7, dtype=np.int64), table.ravel(), 180 + 4 * sites, counts)


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("merge", [False, True])
def test_any_number_of_threads_prepares_the_same_rows(merge, values):
    """The objective and its gradient are the same bits, whatever the number of threads that prepared the rows."""
    x = large(1, values)
    sites = x.group_ptr[-1]
    cells = np.tile(np.arange(20) * 3, sites // 20).astype(np.int32)
    ptr = np.arange(0, sites + 1, 20)
    seen = []
    for threads in (1, 2, 3, 7):
        rows = CompressedRows(x, merge=merge, threads=threads)
        objective = Likelihood(rows, chain(3), Supervision(ptr, cells), threads=1)
        value, gradient = objective.evaluate(np.random.default_rng(2).normal(size=objective.size))
        seen.append((rows.classes, rows.bundles, rows.entries, rows.class_of.tobytes(), value, gradient.tobytes()))
    assert (seen[0][1] > 0) == (not values)
    assert (seen[0][0] < x.width) == merge
    assert seen[1:] == seen[:1] * 3


def test_classes_are_the_sets_of_features_with_equal_columns():
    """By the definition: the sites of every feature, compared as lists."""
    x = large(3)
    ids, sites = x.ids, np.repeat(np.arange(len(x.row_ptr) - 1), 7)
    columns: dict[int, list[int]] = {}
    for site, feature in zip(sites.tolist(), ids.tolist(), strict=True):
        columns.setdefault(feature, []).append(site)
    numbers: dict[tuple[int, ...], int] = {}
    expected = [numbers.setdefault(tuple(columns.get(f, ())), len(numbers)) for f in range(x.width)]
    for threads in (1, 2):
        assert CompressedRows(x, bundles=False, threads=threads).class_of.tolist() == expected


def test_features_with_different_keys_stay_apart():
    rows = rows_of([[0, 1, 2], [3], [0, 1, 2]], [3], 6)
    assert CompressedRows(rows).class_of.tolist() == [0, 0, 0, 1, 2, 2]
    keys = np.array([5, 7, 5, 5, 1, 2], np.uint32)
    assert CompressedRows(rows, keys=keys).class_of.tolist() == [0, 1, 0, 2, 3, 4]
    with pytest.raises(ValueError, match="2 keys for 6 features"):
        CompressedRows(rows, keys=keys[:2])


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_merged_columns_under_l1_take_the_steps_of_those_that_stay_apart(l2):
    """Every step of OWL-QN and its weights; a parameter of m equal columns counts √m in the L1 penalty."""
    random = np.random.default_rng(5)
    words = random.integers(0, 9, 60).tolist()
    rows = rows_of([[w, 9 + w, 18 + w // 2, 23 + w // 2 * 2] for w in words], [20] * 3, 32)
    y = random.integers(0, 2, (3, 20))
    cells = np.concatenate([np.arange(20) * 2 + y, 40 + y[:, :-1] * 2 + y[:, 1:]], 1)
    known = Supervision(np.arange(0, cells.size + 1, 39), cells.astype(np.int32).ravel())
    ones = np.ones(2, np.uint8)
    structure = ChainStructure(2, np.ones(4, np.uint8), ones, ones)
    pairs = (np.arange(0, 65, 2), np.tile(np.arange(2, dtype=np.uint32), 32))
    apart, merged = (
        paired_likelihood(CompressedRows(rows, merge=m, bundles=False), structure, known, pairs) for m in (False, True)
    )
    assert merged.classes < apart.classes
    assert apart.scale().tolist() == [1.0] * apart.size
    one = Lbfgs(apart, np.zeros(apart.size), 0.2, l2)
    other = Lbfgs(merged, np.zeros(merged.size), 0.2, l2, l1_scale=merged.scale())
    for _ in range(8):
        a, b = one.iterate(), other.iterate()
        assert b.value == pytest.approx(a.value, rel=1e-6)
        assert b.gradient_norm == pytest.approx(a.gradient_norm, rel=1e-3, abs=1e-3)
        np.testing.assert_allclose(merged.pair_weights(other.x()), apart.pair_weights(one.x()), atol=1e-3)
    zero = apart.pair_weights(one.x()) == 0
    assert 0 < zero.sum() < zero.size
    with pytest.raises(ValueError, match="scales for 3"):
        Lbfgs(merged, np.zeros(merged.size), 0.2, l2, l1_scale=np.ones(3))
