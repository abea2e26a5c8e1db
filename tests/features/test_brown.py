"""Brown clusters: every merge is the best one by the definition, checked by recomputing mutual information."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom.base.errors import CorpusError, ParameterError
from spanloom.features import read_resource
from spanloom.features.brown import train_clusters

texts = st.lists(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8), min_size=2, max_size=10)


def information(clusters: list[frozenset[str]], pairs: Counter, uses: Counter, total: int) -> float:
    """Σ p(c, d) log(p(c, d) / (p(c) p(d))) over the clusters at hand."""
    found = 0.0
    for c, d in itertools.product(clusters, repeat=2):
        n = sum(pairs[v, w] for v in c for w in d)
        if n:
            left, right = (sum(uses[w] for w in x) for x in (c, d))
            found += n / total * math.log(n * total / (left * right))
    return found


def greedy(text: list[list[str]], size: int) -> list[frozenset[str]]:
    """The windowed algorithm, word by word, each candidate merge scored from nothing; None if a choice is a tie."""
    uses = Counter(w for line in text for w in line)
    pairs = Counter(pair for line in text for pair in itertools.pairwise(line))
    total = sum(uses.values())
    order = sorted(uses, key=lambda w: (-uses[w], w))
    clusters = [frozenset({w}) for w in order[:size]]
    for word in order[size:]:
        clusters.append(frozenset({word}))
        scored = []
        for a, b in itertools.combinations(clusters, 2):
            merged = [c for c in clusters if c not in (a, b)] + [a | b]
            scored.append((information(merged, pairs, uses, total), merged))
        best = max(value for value, _ in scored)
        near = [merged for value, merged in scored if value > best - 1e-9]
        if len(near) > 1:
            return []
        clusters = near[0]
    return clusters


@settings(max_examples=150)
@given(texts, st.integers(1, 6))
def test_clusters_are_those_of_the_definition(text, size):
    """The partition is that of the plain algorithm (where no two merges are equally good)."""
    expected = greedy(text, size)
    found = train_clusters([" ".join(line) for line in text], size, threads=1)
    words = {w for line in text for w in line}
    assert set(found.paths) == words
    parts = {frozenset(w for w in words if found.paths[w] == bits) for bits in found.paths.values()}
    assert len(parts) == min(size, len(words))
    if expected:
        assert parts == set(expected)


@settings(max_examples=60)
@given(texts, st.integers(2, 6))
def test_paths_are_a_tree_of_best_merges(text, size):
    """Paths are free of prefixes, and the two deepest leaves that join first are the best pair to merge."""
    found = train_clusters([" ".join(line) for line in text], size, threads=1)
    paths = sorted(set(found.paths.values()))
    assert not any(b.startswith(a) for a, b in itertools.permutations(paths, 2))
    assert math.isclose(sum(2.0 ** -len(p) for p in paths), 1.0), "every inner node has two children"


def test_words_of_a_kind_meet():
    """Articles, nouns and verbs of a little language are told apart where all are clusters first (no window)."""
    lines = [f"{a} {n} {v}" for a in ("the", "a") for n in ("cat", "dog", "cow") for v in ("ran", "sat")]
    paths = train_clusters(lines, 7).paths
    kinds = [{"the", "a"}, {"cat", "dog", "cow"}, {"ran", "sat"}]
    for kind in kinds:
        shared = [
            bits for bits in itertools.accumulate(paths[min(kind)]) if all(paths[w].startswith(bits) for w in kind)
        ]
        assert {w for w in paths if paths[w].startswith(shared[-1])} == kind


def test_threads_and_cut_off(tmp_path):
    """Any number of threads gives the same clusters; rare words get none; the file is the usual one."""
    lines = ["the cat ran to the cow", "the dog ran to a cow", "rare the cat"] * 2 + ["once"]
    one, three = (train_clusters(lines, 3, threads=t) for t in (1, 3))
    assert one == three
    cut = train_clusters(lines, 3, min_count=2)
    assert "once" not in cut.paths
    cut.write(tmp_path / "paths")
    assert read_resource(tmp_path / "paths", "brown") == cut.table()
    assert (tmp_path / "paths").read_text().count("\t") == 2 * len(cut.paths)


def test_progress_may_stop_the_work():
    """What the callback raises comes out."""
    lines = [f"w{i} w{i + 1}" for i in range(400)]

    def stop(done: int, total: int) -> None:
        assert 0 < done <= total
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_clusters(lines, 3, progress=stop)


def test_what_is_refused():
    """No clusters, no words."""
    with pytest.raises(ParameterError, match="clusters"):
        train_clusters(["a"], 0)
    with pytest.raises(CorpusError, match="nothing to learn from"):
        train_clusters(["", " "])
