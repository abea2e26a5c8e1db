"""One decoder for several structures finds what each finds alone; offsets are added to every site."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from spanloom._native import ChainStructure, Decoder, EdgeStructure, HypergraphStructure, SparseRows

FEATURES = 12


def chain(labels: int) -> ChainStructure:
    return ChainStructure(labels, np.ones(labels**2, np.uint8), np.ones(labels, np.uint8), np.ones(labels, np.uint8))


def problem(seed: int):
    """Random rows of four sentences, and random weights for structures of different widths."""
    random = np.random.default_rng(seed)
    group_ptr = np.array([0, 3, 4, 9, 15])
    rows = [random.permutation(FEATURES)[: random.integers(0, FEATURES)] for _ in range(15)]
    row_ptr = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
    sparse = SparseRows(group_ptr, row_ptr, np.concatenate(rows).astype(np.uint32), FEATURES)
    structures = [EdgeStructure(), chain(3), HypergraphStructure(), chain(9), EdgeStructure()]
    weights = [random.normal(size=FEATURES * s.columns).astype(np.float32) for s in structures]
    return sparse, [(s, w, random.normal(size=s.global_cells)) for s, w in zip(structures, weights, strict=True)]


@pytest.mark.parametrize("seed", range(5))
def test_joined_is_each_alone(seed):
    """The same cells and the same scores, for one thread and for three."""
    rows, parts = problem(seed)
    joined = Decoder.joined(parts)
    assert joined.size == len(parts)
    for threads in (1, 3):
        for number, ((ptr, cells), part) in enumerate(zip(joined.best(rows, threads), parts, strict=True)):
            ((alone_ptr, alone_cells),) = Decoder(*part).best(rows, 1)
            assert ptr.tolist() == alone_ptr.tolist()
            assert cells.tolist() == alone_cells.tolist()
            np.testing.assert_array_equal(joined.scores(rows, threads, number), Decoder(*part).scores(rows, 1))


def test_offsets_are_added_to_columns():
    """One structure decodes as if its scores were higher by them; scores and other structures stay as they are."""
    rows, parts = problem(7)
    joined = Decoder.joined(parts)
    scores, offsets = joined.scores(rows, 1, 1).reshape(rows.rows, -1), np.array([0.5, -2.0, 0.0])
    before = [cells.tolist() for _, cells in joined.best(rows, 1)]
    structure, _, pairs = parts[1]
    groups = [slice(a, b) for a, b in itertools.pairwise(rows.group_ptr)]
    shifted = [cell for own in groups for cell in structure.best((scores[own] + offsets).ravel(), pairs)[1]]
    assert shifted != before[1]
    joined.set_offsets(1, offsets)
    assert [cells.tolist() for _, cells in joined.best(rows, 1)] == [before[0], shifted, *before[2:]]
    np.testing.assert_array_equal(joined.scores(rows, 1, 1), scores.ravel())
    joined.set_offsets(1, np.zeros(0))
    assert [cells.tolist() for _, cells in joined.best(rows, 1)] == before


def test_what_is_refused():
    """Offsets of another width or not finite, weights for different numbers of features, too few structures."""
    rows, parts = problem(3)
    joined = Decoder.joined(parts)
    for part, offsets in [(1, np.zeros(2)), (9, np.zeros(3)), (1, np.array([0.0, np.nan, 0.0]))]:
        with pytest.raises(ValueError, match="offsets"):
            joined.set_offsets(part, offsets)
    with pytest.raises(ValueError, match="features"):
        Decoder.joined([parts[0], (chain(3), np.zeros(6, np.float32), np.zeros(9))])
    with pytest.raises(ValueError, match="structures"):
        joined.best(rows, 1, [EdgeStructure()])
    with pytest.raises(IndexError):
        joined.scores(rows, 1, 9)
