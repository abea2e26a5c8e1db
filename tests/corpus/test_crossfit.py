"""Blocks of documents and cross-fitting, held to their definitions."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.base.errors import CorpusError
from spanloom.corpus.crossfit import blocks, cross_fit

SIZES = st.lists(st.integers(0, 6), max_size=12)


def nearest_cuts(sizes: list[int], folds: int) -> list[int]:
    """By trying every border for every cut."""
    n = sum(sizes)
    units = sizes if len([size for size in sizes if size]) >= 2 else [1] * n
    borders = {0, *accumulate(units)}
    return [min(sorted(borders), key=lambda border: abs(border - n * k // folds)) for k in range(folds + 1)]


@given(SIZES, st.integers(2, 7))
def test_cuts_are_the_nearest_borders_of_documents(sizes: list[int], folds: int) -> None:
    made = blocks(sizes, folds)
    assert [t for block in made for t in block] == list(range(sum(sizes)))
    assert all(made)
    assert sorted({0, *(block.stop for block in made)}) == sorted({*nearest_cuts(sizes, folds)})


@given(st.integers(0, 40), st.integers(2, 7))
def test_documents_of_one_sentence_are_cut_evenly(n: int, folds: int) -> None:
    ends = [n * k // folds for k in range(folds + 1)]
    assert blocks([1] * n, folds) == [range(a, b) for a, b in pairwise(ends) if b > a]
    assert blocks([n], folds) == blocks([1] * n, folds)  # one document alone is cut between sentences


@given(SIZES.filter(lambda sizes: sum(sizes) > 1), st.integers(2, 5))
def test_no_item_is_seen_by_a_model_that_learned_from_its_document(sizes: list[int], folds: int) -> None:
    owner = [d for d, size in enumerate(sizes) for _ in range(size)]
    items = list(enumerate(owner))
    together = cross_fit(items, folds, lambda rest: rest, lambda rest, block: [(i, rest) for i in block], sizes=sizes)
    assert [item for item, _ in together] == items
    several = len(set(owner)) > 1
    for (number, document), rest in together:
        assert number not in [i for i, _ in rest]
        assert not several or document not in [d for _, d in rest]
        # What is left out is one run of neighbours around the item.
        left_out = sorted({*range(len(items))} - {i for i, _ in rest})
        assert left_out == list(range(left_out[0], left_out[-1] + 1))


def test_nothing_to_learn_from_is_a_default_or_an_error() -> None:
    """Without the only 1, there is nothing."""
    options = {"train": lambda rest: max(rest) or None, "apply": lambda model, block: [model] * len(block)}
    assert cross_fit([1, 0, 0, 0], 2, **options, default=lambda: 9) == [9, 9, 1, 1]
    with pytest.raises(CorpusError, match="nothing to learn from without the items 0 to 1 of 4"):
        cross_fit([1, 0, 0, 0], 2, **options)


def test_blocks_may_run_in_another_way() -> None:
    """As long as results come in order."""

    def backwards(function, parts):
        return [function(part) for part in reversed(list(parts))][::-1]

    assert cross_fit([1, 2, 3, 4], 2, sum, lambda m, block: [m - i for i in block], run=backwards) == [6, 5, 0, -1]
