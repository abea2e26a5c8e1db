"""Brute force: what the fast code must equal, written from the definitions and nothing else.

A structure here is ``(score, cells)``: every structure of a graph or a model is listed, and sums, maxima and
probabilities are taken over the list.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from spanloom._native import SegmentLayout

Structure = tuple[float, tuple[int, ...]]
Edges = Sequence[tuple[Sequence[int], Sequence[int]]]


def hypergraph_structures(nodes: Sequence[Edges], scores: Sequence[float]) -> list[Structure]:
    """Every way to unfold the last node: choose an edge into it, then unfold each of its tails, independently."""

    def unfold(v: int) -> Iterator[tuple[int, ...]]:
        for tails, cells in nodes[v]:
            for parts in itertools.product(*(list(unfold(t)) for t in tails)):
                yield tuple(itertools.chain(cells, *parts))

    return [(sum(scores[c] for c in cells), cells) for cells in unfold(len(nodes) - 1)]


def chain_structures(
    scores: npt.NDArray[np.float64],
    transitions: npt.NDArray[np.float64],
    allowed: Callable[[int, int], bool],
    start: Callable[[int], bool],
    end: Callable[[int], bool],
) -> list[Structure]:
    """Every legal label sequence of ``scores[t, y]``; cells are ``t * L + y``, then ``n * L + y' * L + y``."""
    n, size = scores.shape
    found = []
    for y in itertools.product(range(size), repeat=n):
        if n and not (start(y[0]) and end(y[-1]) and all(allowed(a, b) for a, b in itertools.pairwise(y))):
            continue
        total = sum(scores[t, k] for t, k in enumerate(y)) + sum(transitions[a, b] for a, b in itertools.pairwise(y))
        sites = [t * size + k for t, k in enumerate(y)]
        pairs = [n * size + a * size + b for a, b in itertools.pairwise(y)]
        found.append((float(total), tuple(sites + pairs)))
    return found


def segment_rows(spans: Sequence[tuple[int, int]], n: int, layout: SegmentLayout) -> dict[tuple[int, int], list[int]]:
    """The rows that each segment reads: kind after kind, each by token and length; what one segment alone would read
    from the left or right is part of its span."""
    left, right, inside = layout.left, layout.right, layout.inside
    names: list[tuple[object, ...]] = [("inside", t) for t in range(n) if inside]
    starting = {i: sorted(e - s for s, e in spans if s == i) for i in range(n)}
    ending = {j: sorted(e - s for s, e in spans if e == j) for j in range(1, n + 1)}
    # The lengths but the longest, if the next shorter one does not exhaust the indexed tokens.
    names += [("left", i, b) for i, all_ in starting.items() for a, b in _steps(all_) if a < left]
    names += [("right", j, b) for j, all_ in ending.items() for a, b in _steps(all_) if a < right]
    names += [("span", *span) for span in sorted(spans)]
    number = {name: row for row, name in enumerate(names)}
    return {
        (s, e): sorted(
            number[name]
            for name in [
                *(("inside", t) for t in range(s, e) if inside),
                *(("left", s, size) for size in range(1, e - s + 1)),
                *(("right", e, size) for size in range(1, e - s + 1)),
                ("span", s, e),
            ]
            if name in number
        )
        for s, e in spans
    }


def _steps(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Every length but the last, after the one before it, or 0."""
    return list(itertools.pairwise([0, *lengths[:-1]]))


def segment_structures(
    spans: Sequence[tuple[int, int]],
    n: int,
    rows: dict[tuple[int, int], list[int]],
    scores: npt.NDArray[np.float64],
    transitions: npt.NDArray[np.float64],
) -> list[Structure]:
    """Every way to cut n tokens into spans and give each a column, column 0 to single words only."""
    height, width = scores.shape

    def cuts(at: int) -> Iterator[list[tuple[int, int]]]:
        if at == n:
            yield []
        for span in spans:
            if span[0] == at:
                for rest in cuts(span[1]):
                    yield [span, *rest]

    found = []
    for cut in cuts(0):
        for columns in itertools.product(*(range(1 if e - s > 1 else 0, width) for s, e in cut)):
            cells = sorted(row * width + y for span, y in zip(cut, columns, strict=True) for row in rows[span])
            cells += [height * width + a * width + b for a, b in itertools.pairwise(columns)]
            total = sum(scores[row, y] for span, y in zip(cut, columns, strict=True) for row in rows[span])
            total += sum(transitions[a, b] for a, b in itertools.pairwise(columns))
            found.append((float(total), tuple(cells)))
    return found


def log_z(structures: Iterable[Structure]) -> float:
    """The log of the sum of exp(score)."""
    scores = [score for score, _ in structures if score > -math.inf]
    if not scores:
        return -math.inf
    top = max(scores)
    return top + math.log(math.fsum(math.exp(score - top) for score in scores))


def expected_cells(structures: Sequence[Structure], cells: int) -> npt.NDArray[np.float64]:
    """The expected number of uses of each cell."""
    total = log_z(structures)
    out = np.zeros(cells)
    for score, used in structures:
        for cell in used:
            out[cell] += math.exp(score - total)
    return out


def finite_differences(
    function: Callable[[npt.NDArray[np.float64]], float], x: npt.NDArray[np.float64], step: float
) -> npt.NDArray[np.float64]:
    """The gradient by central differences."""
    out = np.zeros_like(x)
    for i in range(len(x)):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        out[i] = (function(up) - function(down)) / (2 * step)
    return out


def separator_of(mentions: Sequence[tuple[int, int]], gap: int) -> frozenset[str]:
    """S, E, C at a gap, from the paper's three cases."""
    cases = set()
    if any(start == gap for start, _ in mentions):
        cases.add("S")
    if any(end == gap for _, end in mentions):
        cases.add("E")
    if any(start < gap < end for start, end in mentions):
        cases.add("C")
    return frozenset(cases)


def separator_sequences(n: int) -> list[tuple[frozenset[str], ...]]:
    """Every separator sequence that some set of spans of ``n`` tokens has, found by going through all sets."""
    spans = [(a, b) for a in range(n) for b in range(a + 1, n + 1)]
    found = dict.fromkeys(
        tuple(separator_of(chosen, gap) for gap in range(n + 1))
        for size in range(len(spans) + 1)
        for chosen in itertools.combinations(spans, size)
    )
    return list(found)


def mention_hyperpaths(n: int) -> list[tuple[tuple[str, ...], ...]]:
    """Every hyperpath of the mention hypergraph of one type: for each token its choice at T, and at I if reached."""
    paths: list[tuple[tuple[tuple[str, ...], ...], bool]] = [((), False)]  # and whether the next I is reached
    for k in range(n):
        longer = []
        for path, reached in paths:
            for t in ("T→I", "T→X"):
                if t == "T→X" and not reached:
                    longer.append(((*path, (t,)), False))
                    continue
                for i in ("I→X",) if k == n - 1 else ("I→I", "I→X", "I→(I,X)"):
                    longer.append(((*path, (t, i)), i != "I→X"))
        paths = longer
    return [path for path, _ in paths]


def separator_structures(scores: npt.NDArray[np.float64], transitions: npt.NDArray[np.float64]) -> list[Structure]:
    """Every sequence of separators S + 2 E + 4 C, one a gap, whose neighbours agree on the token between them."""
    left = [bool(y & 6) for y in range(8)]  # E or C: the token before the gap is in a mention
    right = [bool(y & 5) for y in range(8)]  # S or C: the token after it is
    return chain_structures(
        scores, transitions, lambda a, b: right[a] == left[b], lambda y: not left[y], lambda y: not right[y]
    )


def consistent_hyperpaths(scores: npt.NDArray[np.float64]) -> list[tuple[float, tuple[int, ...]]]:
    """Every hyperpath that chooses alike at each token, as (score, separators); ``scores[token, choice]``.

    I of a token is unfolded once for T of this token and once for every unfolding of I before it that goes on.
    """
    names = ("T→I", "T→X", "I→I", "I→X", "I→(I,X)")
    n = len(scores)
    found = []
    for path in mention_hyperpaths(n):
        total, reached = 0.0, 0
        gaps = [0] * (n + 1)
        for k, choices in enumerate(path):
            starts = choices[0] == "T→I"
            total += scores[k, names.index(choices[0])]
            reached += starts
            gaps[k] |= 1 if starts else 0
            if len(choices) == 2:
                total += reached * scores[k, names.index(choices[1])]
                gaps[k + 1] |= {"I→I": 4, "I→X": 2, "I→(I,X)": 6}[choices[1]]
                if choices[1] == "I→X":
                    reached = 0
        found.append((float(total), tuple(gaps)))
    return found


def span_structures(
    spans: Sequence[tuple[int, int]], rows: dict[tuple[int, int], list[int]], scores: npt.NDArray[np.float64]
) -> list[Structure]:
    """Every set of (span, column) pairs."""
    width = scores.shape[1]
    cells = [[row * width + y for row in rows[span]] for span in spans for y in range(width)]
    flat = scores.ravel()
    return [
        (float(sum(flat[c] for i in chosen for c in cells[i])), tuple(sorted(c for i in chosen for c in cells[i])))
        for size in range(len(cells) + 1)
        for chosen in itertools.combinations(range(len(cells)), size)
    ]


class Believed:
    """A distribution as a list: structures with their scores, and the mention set that each is read as."""

    def __init__(self, structures: Sequence[tuple[float, frozenset]]) -> None:
        self.structures = [(score, found) for score, found in structures if score > -math.inf]
        self.log_z = log_z([(score, ()) for score, _ in self.structures])
        self.probs = [math.exp(score - self.log_z) for score, _ in self.structures]

    @property
    def sets(self) -> dict[frozenset, float]:
        """The probability of every mention set."""
        sums: dict[frozenset, list[float]] = {}
        for p, (_, found) in zip(self.probs, self.structures, strict=True):
            sums.setdefault(found, []).append(p)
        return {found: math.fsum(probs) for found, probs in sums.items()}

    def prob(self, mention: object) -> float:
        """The sum over structures whose set has the mention."""
        return math.fsum(p for p, (_, found) in zip(self.probs, self.structures, strict=True) if mention in found)

    def mentions(self) -> set:
        """Every mention of some structure."""
        return set().union(*(found for _, found in self.structures)) if self.structures else set()

    def entropy(self) -> float:
        """−Σ p log p over structures."""
        return -math.fsum(p * (score - self.log_z) for p, (score, _) in zip(self.probs, self.structures, strict=True))

    def given(self, must: Iterable = (), never: Iterable = ()) -> Believed:
        """The structures that hold what must be and nothing that must not."""
        must, never = set(must), set(never)
        return Believed([(s, found) for s, found in self.structures if must <= found and not never & found])
