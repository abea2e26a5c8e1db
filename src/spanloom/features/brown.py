"""Brown clusters from raw text: words with similar neighbours get similar bit strings.

The algorithm is in ``native/include/spanloom/features/brown.hpp``. Templates use clusters by prefix, e.g.
``cluster(word, brown, 4, 8, 12)`` with the resource ``read_resource("paths", "brown")``.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from spanloom._native import brown_clusters
from spanloom.base.errors import CorpusError
from spanloom.base.files import whole_file
from spanloom.base.parameters import check_count

NO_WORD = 2**32 - 1
START = re.compile(rb"[01]+\t")
"""How a ``paths`` file begins."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Clusters:
    """The cluster of every word.

    Attributes
    ----------
    paths
        By word: the bits of its cluster, from the root.
    counts
        By word: how often it occurs.
    """

    paths: dict[str, str]
    counts: dict[str, int]

    def table(self) -> dict[str, list[str]]:
        """Return the clusters as a resource of a ``FeatureSet``."""
        return {word: [bits] for word, bits in self.paths.items()}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the usual ``paths`` file: bits, word and count, separated by tabs; by cluster, then by count."""
        with whole_file(path) as out:
            for word in sorted(self.paths, key=lambda w: (self.paths[w], -self.counts[w], w)):
                out.write(f"{self.paths[word] or '0'}\t{word}\t{self.counts[word]}\n")


def words_of(lines: Iterable[str], min_count: int) -> tuple[list[list[str]], dict[str, int]]:
    """Return the words of each line, and how often those occur that are not rarer than that, the most frequent first.

    Examples
    --------
    >>> words_of(["a b a", "b c"], 2)
    ([['a', 'b', 'a'], ['b', 'c']], {'a': 2, 'b': 2})
    """
    check_count("min_count", min_count, low=1)
    sentences = [line.split() for line in lines]
    every = Counter(word for sentence in sentences for word in sentence)
    counts = {word: n for word, n in sorted(every.items(), key=lambda item: (-item[1], item[0])) if n >= min_count}
    if not counts:
        raise CorpusError(f"there is nothing to learn from: no word of the text occurs {min_count} times or more")
    return sentences, counts


def train_clusters(
    lines: Iterable[str],
    clusters: int = 1000,
    *,
    min_count: int = 1,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Clusters:
    """Cluster the words of a text.

    Parameters
    ----------
    lines
        Sentences, words separated by white space. Words are neighbours within a line only.
    clusters
        How many; at most as many as there are words.
    min_count
        Rarer words get no cluster.
    progress
        Called now and then with (steps done, steps in all).

    Examples
    --------
    >>> text = ["the cat ran", "the dog ran", "a cat sat", "a dog sat"]
    >>> found = train_clusters(text, 3)
    >>> found.paths["cat"] == found.paths["dog"]
    True
    """
    check_count("clusters", clusters, low=1)
    sentences, counts = words_of(lines, min_count)
    number = {word: i for i, word in enumerate(counts)}
    tokens = np.fromiter((number.get(w, NO_WORD) for s in sentences for w in s), np.uint32)
    line_ptr = np.zeros(len(sentences) + 1, np.int64)
    np.cumsum([len(s) for s in sentences], out=line_ptr[1:])
    cluster_of, paths = brown_clusters(tokens, line_ptr, len(counts), clusters, progress, threads or 0)
    return Clusters({word: paths[c] for word, c in zip(counts, cluster_of.tolist(), strict=True)}, counts)
