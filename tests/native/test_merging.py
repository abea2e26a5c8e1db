"""Rows are prepared to the same bits by any number of threads; features share a parameter only where they may."""

from __future__ import annotations

import numpy as np
import pytest
from test_bundles import chain, rows_of

from spanloom._native import CompressedRows, Likelihood, SparseRows, Supervision


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
