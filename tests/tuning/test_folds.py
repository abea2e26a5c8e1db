"""Folds part a corpus, never a document."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.base.counted import counted
from spanloom.base.errors import ParameterError
from spanloom.corpus import Document, Sentence
from spanloom.tuning.folds import folds, others


@given(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=30), st.integers(2, 6), st.integers(0, 3))
def test_every_document_is_in_one_fold_and_no_id_in_two(ids, k, seed):
    """A partition of the documents that is also one of the ids, as even as can be."""
    documents = [Document([], id=i) for i in ids]
    if len(set(ids)) < k:
        with pytest.raises(ParameterError, match=f"got {k} for {counted(len(set(ids)), 'document')}; mark"):
            folds(documents, k, seed=seed)
        return
    parts = folds(documents, k, seed=seed)
    assert sorted(i for part in parts for i in part) == list(range(len(ids)))
    names = [{ids[i] for i in part} for part in parts]
    assert sum(map(len, names)) == len(set(ids))
    assert max(map(len, names)) - min(map(len, names)) <= 1
    assert folds(documents, k, seed=seed) == parts


def test_sentences_and_nameless_documents_stand_alone():
    """Two equal sentences, and two documents without an id, are four things."""
    items = [Sentence(["a"]), Sentence(["a"]), Document([]), Document([])]
    assert sorted(map(len, folds(items, 4))) == [1, 1, 1, 1]


def test_seeds_shuffle():
    """Another seed, other folds."""
    documents = [Document([], id=str(i)) for i in range(40)]
    assert folds(documents, 5, seed=1) != folds(documents, 5, seed=2)


def test_one_fold_is_no_fold():
    """The message says what is possible."""
    with pytest.raises(ParameterError, match="between 2 and the number of documents, got 1 for 3 documents"):
        folds([Document([]) for _ in range(3)], 1)


def test_others_are_the_rest():
    """In order."""
    assert others(5, [1, 3]) == (0, 2, 4)
