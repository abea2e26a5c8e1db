"""Brute force: what the fast code must equal, written from the definitions and nothing else.

A structure here is ``(score, cells)``: every structure of a graph or a model is listed, and sums, maxima and
probabilities are taken over the list.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

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
    names: list[tuple[object, ...]] = [("gap", g) for g in range(n + 1) if layout.gaps]
    names += [("inside", t) for t in range(n) if inside]
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
                ("gap", e),
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


def agree(
    structure: Any,
    scores: npt.NDArray[np.float64],
    transitions: npt.NDArray[np.float64],
    mask: npt.NDArray[np.uint8] | None,
    listed: Sequence[Structure],
) -> None:
    """Check that log Z, expectations, best, k best and the graph of a masked structure are those of the listed ones."""
    pairs = transitions.ravel()
    height, width = scores.shape
    flat = None if mask is None else np.ascontiguousarray(mask.ravel(), np.uint8)
    value, expected = structure.expectations(scores.ravel(), pairs, mask=flat)
    score, cells = structure.best(scores.ravel(), pairs, mask=flat)
    graph = structure.graph(height, mask=flat)
    assert graph.count() == len(listed)
    possible = [one for one in listed if one[0] > -math.inf]
    if not possible:
        assert value == score == -math.inf
        assert not expected.any()
        assert not len(cells)
        return
    tolerance = 1e-9 * max(1.0, abs(log_z(possible)))
    assert value == pytest.approx(log_z(possible), abs=tolerance)
    np.testing.assert_allclose(expected, expected_cells(possible, height * width + len(pairs)), atol=1e-8)
    assert score == pytest.approx(max(s for s, _ in possible), abs=tolerance)
    best = {tuple(sorted(c for c in used if c < height * width)): total for total, used in possible}
    assert best[tuple(cells.tolist())] == pytest.approx(score, abs=tolerance)
    engine, marginals = graph.expectations(np.concatenate([scores.ravel(), pairs]))
    assert engine == pytest.approx(value, abs=tolerance)
    np.testing.assert_allclose(marginals, expected, atol=1e-8)
    ranked = sorted((total for total, _ in possible), reverse=True)
    found = [one for one, _ in graph.k_best(np.concatenate([scores.ravel(), pairs]), 5)]
    np.testing.assert_allclose(found, ranked[:5], atol=tolerance)


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


def segmental_structures(
    spans: Sequence[tuple[int, int]],
    n: int,
    rows: dict[tuple[int, int], list[int]],
    scores: npt.NDArray[np.float64],
    relations: Sequence[float],
) -> list[Structure]:
    """Every set of spans, with the score of a segmental hypergraph, each part told from the set as a whole.

    Columns are X, S, E, ES, C, CS, nested, mention; relations are shorter, common end, crossing. Rows 0..n are gaps.
    """
    height, width = scores.shape
    flat = np.concatenate([scores.ravel(), np.asarray(relations, np.float64)])
    found = []
    for size in range(len(spans) + 1):
        for chosen in itertools.combinations(spans, size):
            cells: list[int] = []
            for gap in range(n + 1):
                before = [end for start, end in chosen if start < gap]
                column = 4 if any(end > gap for end in before) else 2 if gap in before else 0
                cells.append(gap * width + column + any(start == gap for start, _ in chosen))
            for start, end in chosen:
                around = [e for s, e in chosen if s < start and e > start]
                longest = max(e for s, e in chosen if s == start)
                cells += [row * width + 7 for row in rows[start, end]]
                cells += [row * width + 6 for row in rows[start, end] if around]
                if end < longest:
                    cells.append(height * width)
                elif around and end == max(around):
                    cells.append(height * width + 1)
                elif around and end > max(around):
                    cells.append(height * width + 2)
            found.append((float(sum(flat[c] for c in cells)), tuple(sorted(cells))))
    return found


def nested_sets(spans: Sequence[tuple[int, int]], width: int) -> Iterator[tuple[tuple[int, int, int], ...]]:
    """Every set of (start, end, column) of which no two cross."""
    choices = [(i, j, y) for i, j in spans for y in range(width)]

    def more(chosen: tuple[tuple[int, int, int], ...], at: int) -> Iterator[tuple[tuple[int, int, int], ...]]:
        if at == len(choices):
            yield chosen
            return
        yield from more(chosen, at + 1)
        i, j, _ = choices[at]
        if not any(a < i < b < j or i < a < j < b for a, b, _ in chosen):
            yield from more((*chosen, choices[at]), at + 1)

    return more((), 0)


def tree_structures(
    spans: Sequence[tuple[int, int]],
    rows: dict[tuple[int, int], list[int]],
    scores: npt.NDArray[np.float64],
    rules: npt.NDArray[np.float64],
    following: npt.NDArray[np.integer],
) -> list[tuple[float, tuple[int, ...], frozenset[tuple[int, int, int]]]]:
    """Every set of which no two mentions cross: its score, its cells, site cells first, and the set.

    ``rules[c, y]`` is the score of a mention ``y`` in context ``c``. That is 0 where no mention is above it, else what
    ``c = following[c, x]`` gives for those above from the top down: they have all of its tokens and more, or the same
    tokens and a lower column.
    """
    height, width = scores.shape
    found = []
    for chosen in nested_sets(spans, width):
        sites = sorted(row * width + y for i, j, y in chosen for row in rows[i, j])
        pairs = []
        for i, j, y in chosen:
            above = [(b - a, x) for a, b, x in chosen if a <= i and j <= b and (b - a > j - i or x < y)]
            context = 0
            for _, x in sorted(above, key=lambda one: (-one[0], one[1])):
                context = int(following[context, x])
            pairs.append(context * width + y)
        total = sum(scores.ravel()[c] for c in sites) + sum(rules.ravel()[p] for p in pairs)
        cells = (*sites, *(height * width + p for p in sorted(pairs)))
        found.append((float(total), cells, frozenset(chosen)))
    return found


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
