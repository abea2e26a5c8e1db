"""Training over blocks of sentences: gradients are worked out block by block, wherever the blocks are.

The gradient is a sum over sentences. Blocks are fixed, whoever has them, and their gradients are added up in pairs, in
float32, along one fixed tree, so that the model is the same to the byte for any number of workers:

    ((b0 + b1) + (b2 + b3)) + ((b4 + b5) + (b6 + b7))

A worker with neighbouring blocks adds up its part of the tree, and workers add up the rest of it among each other. Per
evaluation one vector of weights goes out and one of gradients comes back, both in float32.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from spanloom._native import Objective, add_rows
from spanloom.base.arrays import Floats, Floats32
from spanloom.base.errors import ParameterError
from spanloom.features import FeatureExtractor
from spanloom.features.counts import FeatureCounts
from spanloom.learning import LBFGS, Steps, StructureTrainer, Weights
from spanloom.learning.tying import scores_of
from spanloom.models.base import Task
from spanloom.models.component import Component
from spanloom.models.learner import ComponentLearner
from spanloom.models.structured import StructuredModel
from spanloom.scale.blocks import BlockData, Numbers, Plan

BLOCK_TOKENS = 1 << 20
"""Blocks have no more tokens than that, if not said otherwise: in large ones more features are alike and come along
with each other, so that they are less work than many small ones."""
LEAST_BLOCKS, MOST_BLOCKS = 4, 64


class Crew(ABC):
    """Has the blocks, and works on them."""

    @abstractmethod
    def count(self, blocks: Sequence[BlockData], task: Task, model: StructuredModel) -> list[FeatureCounts]:
        """Take the blocks; return the counts of their features, in order."""

    @abstractmethod
    def compile(self, plan: Plan) -> list[tuple[Numbers, Numbers]]:
        """Extract the features of each block; return those that occur, and which of them are alike within it."""

    @abstractmethod
    def share(self, plan: Plan, present: Sequence[Numbers]) -> None:
        """Take the plan with the shared classes; ``present`` has those of each block, ascending."""

    @abstractmethod
    def evaluate(self, number: int, x: Floats32) -> tuple[float, Floats32]:
        """Return the loss of a component and its gradient, both added up along the tree."""

    @abstractmethod
    def close(self) -> None:
        """Let the blocks go."""


class ShardedLearner(ComponentLearner):
    """Learns over blocks.

    Parameters
    ----------
    model, task, trainer
        What to learn, and how: L-BFGS with all pairs of features and labels.
    crew
        Who has the blocks.
    blocks
        How many; the model depends on it, by rounding only. None: :func:`block_count`.
    """

    def __init__(
        self, model: StructuredModel, task: Task, trainer: StructureTrainer, crew: Crew, blocks: int | None = None
    ) -> None:
        self.task, self.crew = task, crew
        try:
            self.trainer = _checked(trainer, task)
            self._prepare(model, blocks)
        except BaseException:
            crew.close()
            raise

    def _prepare(self, model: StructuredModel, blocks: int | None) -> None:
        """Give the blocks to the crew, merge their features, and find out which are alike."""
        task, trainer, crew = self.task, self.trainer, self.crew
        components = model.components(*task.shown)
        blocks = block_count(sum(task.lengths)) if blocks is None else blocks
        counts = crew.count(list(cut(task, blocks)), task, model)
        self.extractor = FeatureExtractor(task.features, model.sites).fit_counts(counts, task.threads)
        del counts
        plan = Plan(model, components, self.extractor, np.zeros(0, np.uint32), trainer)
        found = crew.compile(plan)
        shared = shared_classes(self.extractor.size, found, merge=trainer.l1 == 0)
        self.plan = replace(plan, shared=shared)
        self._root = np.sqrt(self.plan.sizes)
        crew.share(self.plan, [np.unique(shared[present]) for present, _ in found])

    def steps(self, number: int, component: Component, start: Weights | None) -> Steps[Weights]:
        width, global_width = self.plan.widths(number)
        size = len(self._root) * width + global_width
        objective = _OverBlocks(size, lambda x: self.crew.evaluate(number, x))
        return self.trainer.minimise(
            objective,
            np.zeros(size),
            lambda x: self._weights(number, x),
            convex=all(s.known is None or s.believed is not None for s in self.task.sentences),
            threads=self.task.threads,
            component=number,
        )

    def _weights(self, number: int, x: Floats) -> Weights:
        """What parameters stand for: the scores of each feature, and of each global cell."""
        sites, globals_ = self.plan.tying(number)
        width, _ = self.plan.widths(number)
        size = len(self._root) * width
        by_class = scores_of(x[:size].reshape(-1, width) / self._root[:, None], sites).astype(np.float32)
        return Weights(by_class[self.plan.shared], np.array(scores_of(x[size:], globals_), np.float64))

    def close(self) -> None:
        self.crew.close()


def _checked(trainer: StructureTrainer, task: Task) -> LBFGS:
    if not isinstance(trainer, LBFGS) or trainer.support != "all":
        raise ParameterError(f"over blocks of sentences, the trainer must be lbfgs with support='all', got {trainer!r}")
    if task.start is not None:
        raise ParameterError("training over blocks of sentences starts from zero; leave out start=…")
    return trainer


class _OverBlocks(Objective):
    """The loss of all blocks, for the optimiser."""

    def __init__(self, size: int, evaluate: Callable[[Floats32], tuple[float, Floats32]]) -> None:
        super().__init__(size, single=True)
        self._evaluate = evaluate

    def evaluate(self, x: Any) -> tuple[float, Any]:
        return self._evaluate(x)


def block_count(tokens: int) -> int:
    """Return how many blocks a corpus has: a power of two that depends on nothing but its size.

    Examples
    --------
    >>> [block_count(tokens) for tokens in (1000, 5_000_000, 10**9)]
    [4, 8, 64]
    """
    wanted = -(-tokens // BLOCK_TOKENS)
    return min(max(1 << (wanted - 1).bit_length(), LEAST_BLOCKS), MOST_BLOCKS)


def cut(task: Task, blocks: int) -> Iterator[BlockData]:
    """Yield the sentences of a task in blocks of about as many tokens; some may be empty."""
    if blocks < 1 or blocks & (blocks - 1):
        raise ParameterError(f"the number of blocks must be a power of two, got {blocks}")
    ends = np.cumsum(task.lengths)
    borders = np.searchsorted(ends, ends[-1] * np.arange(1, blocks) / blocks, side="left").tolist()
    for first, last in zip([0, *borders], [*borders, len(task.sentences)], strict=True):
        yield BlockData(task.sentences[first:last], task.gold[first:last])


def shared_classes(features: int, found: Sequence[tuple[Numbers, Numbers]], *, merge: bool = True) -> Numbers:
    """Return the class of each feature over all blocks: those are alike that are alike in every block.

    Parameters
    ----------
    found
        Of each block the features that occur in it, ascending, and their classes within it.
    merge
        False: each feature is a class of its own.

    Examples
    --------
    >>> blocks = [(np.array([0, 1, 3]), np.array([0, 0, 1])), (np.array([0, 1, 2]), np.array([0, 0, 0]))]
    >>> shared_classes(4, blocks).tolist()
    [0, 0, 1, 2]
    """
    if not merge:
        return np.arange(features, dtype=np.uint32)
    code = np.zeros(features, np.int64)
    for present, classes in found:
        own = np.zeros(features, np.int64)
        own[present] = classes.astype(np.int64) + 1
        _, code = np.unique(code * (int(own.max(initial=0)) + 1) + own, return_inverse=True)
    # Numbered by first feature, so that frequent features, which come first, stand side by side.
    _, first, number = np.unique(code, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.uint32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.uint32)
    return rank[number]


class TreeSum:
    """Adds up the losses and gradients of neighbouring blocks, one after the other, along the tree.

    Each leaf adds to a table that is there; tables of branches are kept for the next time.

    Examples
    --------
    >>> def leaf(k, table):
    ...     table += k
    ...     return float(k)
    >>> TreeSum().of(4, 2, leaf)
    (6.0, array([6., 6.], dtype=float32))
    """

    def __init__(self) -> None:
        self._tables: dict[int, Floats32] = {}  # by the number of blocks below

    def of(self, blocks: int, size: int, leaf: Callable[[int, Floats32], float]) -> tuple[float, Floats32]:
        """Return the sums over a power of two of blocks; ``leaf(k, table)`` adds the gradient of block k to a table."""
        total = np.zeros(size, np.float32)  # not kept: it may be on its way while the next one is made
        return self._add(0, blocks, leaf, total), total

    def _add(self, first: int, count: int, leaf: Callable[[int, Floats32], float], table: Floats32) -> float:
        if count == 1:
            return leaf(first, table)
        if count == 2:  # (0 + b0) + b1 is b0 + b1
            return leaf(first, table) + leaf(first + 1, table)
        half = count // 2
        value = self._add(first, half, leaf, table)
        other = self._tables.get(half)
        if other is None or len(other) != len(table):
            other = self._tables[half] = np.empty_like(table)
        other.fill(0)
        value += self._add(first + half, half, leaf, other)
        table += other
        return value


class RowSum(NamedTuple):
    """The loss and the gradient of some blocks: rows of the classes that occur in them, and global ones behind.

    Examples
    --------
    >>> left = RowSum(1.0, np.array([0, 2], np.uint32), np.array([1, 2], np.float32), width=1)
    >>> left.plus(RowSum(2.0, np.array([2], np.uint32), np.array([5], np.float32), width=1))[:3]
    (3.0, array([0, 2], dtype=uint32), array([1., 7.], dtype=float32))
    """

    value: float
    rows: Numbers
    gradient: Floats32
    width: int

    def plus(self, other: RowSum) -> RowSum:
        """Add the sum of the neighbours; a row that only one of them has stays as it is."""
        rows, gradient = add_rows(self.rows, self.gradient, other.rows, other.gradient, self.width)
        return RowSum(self.value + other.value, rows, gradient, self.width)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.rows.nbytes + self.gradient.nbytes
