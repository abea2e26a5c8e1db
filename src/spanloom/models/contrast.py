"""Two structures of one sentence, and the weights in which their scores differ.

    score(a) − score(b) = Σ (times in a − times in b) · weight · value   over cells and the features at their sites

Cells that both structures use cancel, so that only what tells the two apart is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spanloom._native import SparseRows
from spanloom.base.arrays import Floats
from spanloom.corpus.mention import Mention, Parts

TRANSITIONS = "transitions"
"""The group of global cells."""

NORMALISATION = "normalisation"
"""The group of what locally normalised models subtract."""

Pair = tuple[int, Sequence[Mention], Sequence[Mention]]
"""The number of a sentence, and two mention sets of it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A column at a site that the first structure uses more often than the second.

    Attributes
    ----------
    site
        A token ``((t, t + 1),)``, a gap ``((g, g),)``, a candidate or a pair of tokens.
    column
        The output symbol, or the name of a global cell.
    words
        What that means here.
    count
        How much more often; below 0 if the second structure uses it.
    """

    site: Parts
    column: str
    words: str
    count: int


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight of a model: the feature, and the group it belongs to."""

    feature: str
    group: str


@dataclass(frozen=True, slots=True)
class Contrast:
    """What two structures differ in; one entry for every feature at every cell.

    Attributes
    ----------
    cells
        Those that only one of them uses.
    cell
        By entry: its number in ``cells``.
    keys
        By entry: the number of the weight, the same in all contrasts of a model; −1 for what is not a weight.
    weights, values
        By entry.
    weight
        What the weight of an entry stands for, given the number of the entry.
    """

    cells: list[Cell]
    cell: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int64]
    weights: Floats
    values: Floats
    weight: Callable[[int], Weight]

    @property
    def contributions(self) -> Floats:
        """By entry; their sum is the score difference."""
        counts = np.array([one.count for one in self.cells], np.float64)
        made: Floats = counts[self.cell] * self.weights * self.values
        return made


class ContrastBuilder:
    """Collects the entries of a contrast."""

    def __init__(self) -> None:
        self._cells: list[Cell] = []
        self._cell: list[npt.NDArray[np.int64]] = []
        self._columns: list[tuple[npt.NDArray[np.int64], Floats, Floats]] = []
        self._named: dict[int, Weight] = {}
        self._size = 0

    def add(
        self,
        cell: Cell,
        keys: npt.NDArray[np.int64],
        weights: npt.NDArray[np.floating],
        values: npt.NDArray[np.floating] | None = None,
    ) -> None:
        """Add a cell and the features at its site."""
        self._cells.append(cell)
        self._cell.append(np.full(len(keys), len(self._cells) - 1, np.int64))
        own = np.ones(len(keys)) if values is None else values.astype(np.float64)
        self._columns.append((keys.astype(np.int64), weights.astype(np.float64), own))
        self._size += len(keys)

    def add_one(self, cell: Cell, key: int, weight: float, meaning: Weight) -> None:
        """Add a cell with one weight that is no feature of a table."""
        self._named[self._size] = meaning
        self.add(cell, np.array([key]), np.array([weight]))

    def build(self, weight: Callable[[int], Weight]) -> Contrast:
        """Return the contrast; ``weight`` says what the weight of a number (``keys``) stands for."""
        named = self._named
        if not self._cells:
            empty = np.zeros(0)
            return Contrast([], np.zeros(0, np.int64), np.zeros(0, np.int64), empty, empty, lambda entry: named[entry])
        keys, weights, values = (np.concatenate(column) for column in zip(*self._columns, strict=True))
        return Contrast(
            self._cells,
            np.concatenate(self._cell),
            keys,
            weights,
            values,
            lambda entry: named[entry] if entry in named else weight(int(keys[entry])),
        )


class Table:
    """The rows of many sentences, to be looked at one by one."""

    def __init__(self, rows: SparseRows) -> None:
        self._group, self._row, self._ids, self._values = rows.group_ptr, rows.row_ptr, rows.ids, rows.values

    def sites(self, number: int) -> int:
        """How many rows a sentence has."""
        return int(self._group[number + 1] - self._group[number])

    def row(self, number: int, row: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32] | None]:
        """Return the features of a row of a sentence, and their values if they are not all 1."""
        at = int(self._group[number]) + row
        own = slice(int(self._row[at]), int(self._row[at + 1]))
        return self._ids[own].astype(np.int64), None if self._values is None else self._values[own]


def quoted(tokens: Sequence[str], site: Parts) -> tuple[str, str]:
    """Return the tokens on the left and on the right of a gap, or twice the words of another site, in quotes.

    Examples
    --------
    >>> quoted(["the", "IL-2", "gene"], ((1, 1),)), quoted(["the", "IL-2", "gene"], ((1, 3),))
    (('“the”', '“IL-2”'), ('“IL-2 gene”', '“IL-2 gene”'))
    """
    start, end = site[0][0], site[-1][1]
    if start < end:
        text = " … ".join(" ".join(tokens[a:b]) for a, b in site)
        return f"“{text}”", f"“{text}”"
    left = f"“{tokens[start - 1]}”" if start else "the start of the sentence"
    right = f"“{tokens[start]}”" if start < len(tokens) else "the end of the sentence"
    return left, right
