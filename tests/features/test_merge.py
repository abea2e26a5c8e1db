"""Counts of the shards of a corpus merge into the table of the whole."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_extractor import RESOURCES, TEMPLATES, own, words
from test_segment_features import TEMPLATES as SEGMENTS

from spanloom import Sentence
from spanloom._native import Lattices
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.features import FeatureCounts, FeatureExtractor, FeatureSet

FEATURES = FeatureSet(TEMPLATES, resources=RESOURCES)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    n = draw(st.integers(1, 4))

    def some(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=n, max_size=n))

    pos = some(st.sampled_from("NV"))
    return Sentence(some(words), columns={"pos": pos}, features=some(own))  # type: ignore[arg-type]


def bytes_of(extractor: FeatureExtractor) -> dict[str, bytes]:
    arrays, _ = extractor.state()
    return {name: array.tobytes() for name, array in arrays.items()}


def cut(corpus: list[Sentence], at: list[int]) -> list[list[Sentence]]:
    borders = [0, *sorted(i % (len(corpus) + 1) for i in at), len(corpus)]
    return [corpus[a:b] for a, b in itertools.pairwise(borders)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(sentences(), min_size=1, max_size=6),
    st.lists(st.integers(0, 6), max_size=4),
    st.sampled_from(["tokens", "gaps"]),
    st.integers(1, 3),
)
def test_any_shards_give_the_table_of_the_whole(corpus, at, sites, min_count) -> None:  # type: ignore[no-untyped-def]
    """However a corpus is cut, even into empty shards, the table is that of ``fit``, to the byte."""
    features = FeatureSet(TEMPLATES, resources=RESOURCES, min_count=min_count)
    whole = FeatureExtractor(features, sites)
    rows = whole.fit(corpus, threads=1)
    shards = cut(corpus, at)
    parts = [FeatureExtractor(features, sites).count(shard, threads=2) for shard in shards]
    merged = FeatureExtractor(features, sites).fit_counts(parts, threads=2)
    assert bytes_of(merged) == bytes_of(whole)
    found = [merged.transform(shard, threads=1) for shard in shards]
    assert np.concatenate([some.ids for some in found]).tolist() == rows.ids.tolist()
    # Merging is associative: parts that follow each other may be merged first.
    extractor = FeatureExtractor(features, sites)
    middle = len(parts) // 2
    halves = [extractor.merge(half) for half in (parts[:middle], parts[middle:]) if half]
    assert bytes_of(extractor.fit_counts(halves)) == bytes_of(whole)


def test_segments() -> None:
    """Rows of lattices merge as those of tokens do."""
    features = FeatureSet([t for t in SEGMENTS if t != "own" and "pos" not in t and "head" not in t])
    corpus = [Sentence(["a", "b", "c"]), Sentence(["b", "c"]), Sentence(["c", "b", "a", "d"])]
    whole = FeatureExtractor(features, "segments")

    def lattices(some: list[Sentence]) -> Lattices:
        return Lattices.up_to(np.array([len(s) for s in some]), 3, whole.layout)

    whole.fit(corpus, 1, lattices(corpus))
    parts = [whole.count(some, 1, lattices(some)) for some in (corpus[:1], corpus[1:])]
    assert bytes_of(FeatureExtractor(features, "segments").fit_counts(parts)) == bytes_of(whole)


def test_counts_are_sums() -> None:
    """A word twice in one shard and once in another occurs three times; ``min_count`` counts over all shards."""
    extractor = FeatureExtractor(FeatureSet(["word"], min_count=3))
    parts = [extractor.count([Sentence(["a", "b", "a"])]), extractor.count([Sentence(["b", "a", "c"])])]
    merged = extractor.merge(parts)
    assert merged.rows == 6
    assert merged.size == 3
    assert sorted(merged.arrays["counts"].tolist()) == [1, 2, 3]
    assert extractor.fit_counts(parts).names() == ["word[0]=a"]


def test_counts_can_be_pickled() -> None:
    extractor = FeatureExtractor(FEATURES)
    part = extractor.count([Sentence(["a", "gene"], columns={"pos": ["D", "N"]}, features=[["f"], []])])
    again: FeatureCounts = pickle.loads(pickle.dumps(part))
    assert bytes_of(FeatureExtractor(FEATURES).fit_counts([again])) == bytes_of(extractor.fit_counts([part]))


@pytest.mark.parametrize(
    "other",
    [
        (FeatureSet(["word[1]"]),),
        (FeatureSet(["word"], min_count=2),),
        (FeatureSet(["word"]), "gaps"),
        (FeatureSet(["word"], resources={"brown": {"a": ["01"]}}),),
    ],
)
def test_counts_of_other_features(other: tuple[Any, ...]) -> None:
    """Counts of other templates, cut-offs, sites or lookup tables are refused."""
    with pytest.raises(ParameterError, match="part 0 are of other features"):
        FeatureExtractor(FeatureSet(["word"])).fit_counts([FeatureExtractor(*other).count([Sentence(["a"])])])


def test_no_parts() -> None:
    with pytest.raises(ParameterError, match="no counts"):
        FeatureExtractor(FEATURES).fit_counts([])


def test_damaged_counts() -> None:
    """Arrays that do not fit together are refused, whichever it is."""
    extractor = FeatureExtractor(FeatureSet(["bias", "word", "bag(word, 0..1)"]))
    part = extractor.count([Sentence(["a", "b", "a"])])
    for name, array in part.arrays.items():
        for other in (array[:-1], np.append(array, array[-1:]), array.astype(np.float64)):
            with pytest.raises(CorpusError, match="part 0 are damaged"):
                extractor.fit_counts([FeatureCounts({**part.arrays, name: other}, part.counted)])
    high = part.arrays["keys"].copy()
    high[-1] = 1000
    with pytest.raises(CorpusError, match="value 1000 does not exist"):
        extractor.fit_counts([FeatureCounts({**part.arrays, "keys": high}, part.counted)])
