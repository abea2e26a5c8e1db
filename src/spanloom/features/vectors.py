"""Word vectors from raw text: words with similar neighbours get similar vectors.

The positive pointwise mutual information of words and the words around them, reduced to a few dimensions (Levy &
Goldberg 2014; Levy, Goldberg & Dagan 2015): near a word counts more than far from it, frequent neighbours count less,
and a dimension counts by the square root of its singular value. Templates use vectors through clusters of several sizes
at once: words are cut into two halves, each half into two, and so on, and the way to a word is a bit string as that of
Brown clusters.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from spanloom.base.arrays import Floats
from spanloom.base.errors import ParameterError
from spanloom.base.files import whole_file
from spanloom.base.parameters import check_count
from spanloom.features.brown import Clusters, words_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SMOOTHED = 0.75
"""Probabilities of neighbours are taken to this power, so that rare ones seem less rare."""
PASSES = 6
"""Of the subspace iteration; singular values of text fall fast enough for so few."""
MORE = 20
"""So many dimensions more are followed than are kept."""
ROUNDS = 20
"""Of two-means, at most."""
START = re.compile(rb"\d+ \d+\n")
"""How a file of vectors begins."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class WordVectors:
    """A vector of length 1 for every word, the most frequent first."""

    words: tuple[str, ...]
    counts: tuple[int, ...]
    vectors: Floats

    def nearest(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """Return the words with the most similar vectors, and the cosines."""
        if word not in self.words:
            raise ParameterError(f"there is no vector for {word!r}; it is too rare, or not in the text")
        at = self.words.index(word)
        cosines = self.vectors @ self.vectors[at]
        order = [i for i in np.argsort(-cosines, kind="stable").tolist() if i != at]
        return [(self.words[i], float(cosines[i])) for i in order[:k]]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the usual text form: the numbers of words and dimensions, then a word and its numbers a line."""
        with whole_file(path) as out:
            out.write(f"{len(self.words)} {self.vectors.shape[1]}\n")
            for word, vector in zip(self.words, self.vectors, strict=True):
                out.write(f"{word} {' '.join(f'{x:.5f}' for x in vector)}\n")

    def clusters(self, count: int = 1000, *, seed: int = 1, progress: Progress | None = None) -> Clusters:
        """Cut the words into clusters, always the one that has most to gain into two; paths are as Brown's.

        ``progress`` is called with (clusters so far, clusters in all, at most).
        """
        check_count("count", count, low=1)
        check_count("seed", seed, low=0)
        random = np.random.default_rng(seed)
        weights = np.sqrt(np.array(self.counts, np.float64))
        paths = dict.fromkeys(range(len(self.words)), "")
        heap: list[tuple[float, str, npt.NDArray[np.int64]]] = []

        def add(members: npt.NDArray[np.int64], path: str) -> None:
            heappush(heap, (-_spread(self.vectors[members], weights[members]), path, members))

        add(np.arange(len(self.words)), "")
        most = min(count, len(self.words))
        while len(heap) < most and heap[0][0] < 0:
            _, path, members = heappop(heap)
            side = _halves(self.vectors[members], weights[members], random)
            add(members[~side], f"{path}0")
            add(members[side], f"{path}1")
            if progress is not None:
                progress(len(heap), most)
        for _, path, members in heap:
            for i in members.tolist():
                paths[i] = path
        counts = dict(zip(self.words, self.counts, strict=True))
        return Clusters({self.words[i]: path for i, path in paths.items()}, counts)


def train_vectors(
    lines: Iterable[str],
    size: int = 100,
    *,
    window: int = 5,
    min_count: int = 5,
    seed: int = 1,
    progress: Progress | None = None,
) -> WordVectors:
    """Learn word vectors from a text.

    Parameters
    ----------
    lines
        Sentences, words separated by white space. Words are neighbours within a line only.
    size
        Dimensions; at most as many as there are words.
    window
        How far neighbours may be; one at distance d counts 1 / d.
    min_count
        Rarer words get no vector, and are passed over.
    progress
        Called now and then with (steps done, steps in all).

    Examples
    --------
    >>> text = ["the cat ran", "the dog ran", "a cat sat", "a dog sat", "he ran to a house", "she sat in the house"] * 5
    >>> train_vectors(text, 4).nearest("cat", 1)[0][0]
    'dog'
    """
    check_count("size", size, low=1)
    check_count("window", window, low=1)
    check_count("seed", seed, low=0)
    sentences, counts = words_of(lines, min_count)
    number = {word: i for i, word in enumerate(counts)}
    kept = [[number[w] for w in sentence if w in number] for sentence in sentences]
    steps = window + PASSES + 1
    tell = progress or (lambda done, total: None)
    matrix = _information(kept, len(counts), window, lambda done: tell(done, steps))
    vectors = _reduced(matrix, min(size, len(counts)), seed, lambda done: tell(window + done, steps))
    tell(steps, steps)
    return WordVectors(tuple(counts), tuple(counts.values()), vectors)


def _information(kept: list[list[int]], words: int, window: int, tell: Callable[[int], None]) -> csr_matrix:
    """Return positive pointwise mutual information, ``[word, neighbour]``."""
    from scipy.sparse import coo_matrix, csr_matrix

    tokens = np.fromiter((i for one in kept for i in one), np.int64)
    line = np.repeat(np.arange(len(kept)), [len(one) for one in kept])
    total = csr_matrix((words, words))
    for distance in range(1, window + 1):
        same = line[:-distance] == line[distance:] if len(tokens) > distance else np.zeros(0, bool)
        left, right = tokens[: len(same)][same], tokens[distance : distance + len(same)][same]
        found = coo_matrix((np.full(len(left), 1 / distance), (left, right)), (words, words)).tocsr()
        total = total + found + found.T
        tell(distance)
    rows = np.asarray(total.sum(axis=1)).ravel()
    smooth = rows**SMOOTHED
    made = total.tocoo()
    with np.errstate(divide="ignore"):
        values = np.log(made.data * smooth.sum()) - np.log(rows[made.row] * smooth[made.col])
    positive = values > 0
    return csr_matrix((values[positive], (made.row[positive], made.col[positive])), (words, words))


def _reduced(matrix: csr_matrix, size: int, seed: int, tell: Callable[[int], None]) -> Floats:
    """Return left singular vectors times roots of singular values, each row of length 1 (Halko et al. 2011)."""
    words = matrix.shape[0]
    if size + MORE >= words:  # all directions: none is to be looked for
        basis = np.identity(words)
    else:
        random = np.random.default_rng(seed)
        basis, _ = np.linalg.qr(matrix @ random.normal(size=(words, size + MORE)))
        for step in range(PASSES):
            basis, _ = np.linalg.qr(matrix.T @ basis)
            basis, _ = np.linalg.qr(matrix @ basis)
            tell(step + 1)
    left, singular, _ = np.linalg.svd((matrix.T @ basis).T, full_matrices=False)
    vectors = (basis @ left)[:, :size] * np.sqrt(singular[:size])
    vectors *= np.where(np.abs(vectors.min(axis=0)) > vectors.max(axis=0), -1.0, 1.0)  # a sign of its own for each
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0), np.float64)


def _spread(vectors: Floats, weights: Floats) -> float:
    """The weighted sum of squared distances from the mean."""
    if len(vectors) < 2:
        return 0.0
    mean = weights @ vectors / weights.sum()
    return max(0.0, float(weights @ np.square(vectors - mean).sum(axis=1)))


def _halves(vectors: Floats, weights: Floats, random: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Cut vectors in two by two-means; both sides have some."""
    mean = weights @ vectors / weights.sum()
    direction = random.normal(size=vectors.shape[1])
    for _ in range(3):  # towards the direction of most variance
        direction = (vectors - mean).T @ (weights * ((vectors - mean) @ direction))
        direction /= max(float(np.linalg.norm(direction)), 1e-300)
    side: npt.NDArray[np.bool_] = (vectors - mean) @ direction > 0
    for _ in range(ROUNDS):
        if not side.any() or side.all():
            break
        one, two = (weights[s] @ vectors[s] / weights[s].sum() for s in (~side, side))
        nearer = np.square(vectors - two).sum(axis=1) < np.square(vectors - one).sum(axis=1)
        if (nearer == side).all():
            break
        side = nearer
    if not side.any() or side.all():  # all alike
        side = np.arange(len(vectors)) >= len(vectors) // 2
    return side
