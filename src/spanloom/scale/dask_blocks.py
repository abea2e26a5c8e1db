"""Blocks of training sentences in the workers of a Dask cluster: kept from call to call, evaluated where they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spanloom._native import CompressedRows
from spanloom.base.arrays import Floats32
from spanloom.base.extras import need
from spanloom.features import FeatureSet
from spanloom.features.counts import FeatureCounts
from spanloom.models.component import Shapes
from spanloom.models.structured import StructuredModel
from spanloom.scale.blocks import Block, BlockData, BlockRows, Numbers, Plan, count_block, make_ready
from spanloom.scale.loading import deposited
from spanloom.scale.sharded import RowSum, TreeSum


class LostBlock(NamedTuple):
    """The answer of workers that have not the blocks they are asked for: which parts, and the last worker asked."""

    parts: tuple[int, ...]
    worker: str


class _Held:
    """A block in a worker."""

    def __init__(self, data: BlockData) -> None:
        self.data = data
        self.present: Numbers | None = None
        self.shapes: Shapes | None = None
        self.compressed: CompressedRows | None = None
        self.block: Block | None = None
        self.digest = ""

    def compiled(self, digest: str) -> tuple[Numbers, CompressedRows]:
        plan = _plan(digest)
        if self.present is None or self.compressed is None:
            self.shapes = plan.model.shapes(self.data.sentences, plan.extractor.layout)
            rows = BlockRows.of(plan, self.data, self.shapes)
            self.present, self.compressed = rows.present, rows.compress()
        return self.present, self.compressed

    def ready(self, digest: str, number: int) -> Block:
        if self.block is None or self.digest != digest:
            self.block, self.digest = Block(*self.compiled(digest), _plan(digest)), digest
        if not self.block.is_ready(number) and self.shapes is not None:
            make_ready(self.block, number, self.data, self.shapes)
        return self.block


class _Part:
    """Neighbouring blocks, and their sums."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = list(blocks)
        self.shared = np.unique(np.concatenate([block.shared for block in blocks]))
        for block in blocks:
            block.give_gradient_of(self.shared)
        self._sums, self._alone = TreeSum(), threading.Lock()

    def evaluate(self, number: int, x: Floats32) -> RowSum:
        width, behind = self.blocks[0].plan.widths(number)

        def leaf(k: int, gradient: Floats32) -> float:
            return self.blocks[k].evaluate(x, gradient)

        with self._alone:  # a worker with several threads may get the same work twice
            value, gradient = self._sums.of(len(self.blocks), len(self.shared) * width + behind, leaf)
        return RowSum(value, self.shared, gradient, width)


_parts: dict[int, _Part] = {}  # by the first of the blocks
_held: dict[str, dict[int, _Held]] = {}
_ended: set[str] = set()  # runs whose blocks were let go: work that comes late must not keep any


@lru_cache(1)
def _plan(digest: str) -> Plan:
    return Plan.from_bytes(deposited(digest))


def with_blocks(
    function: Callable[..., Any], run: str, part: int, blocks: dict[int, BlockData | None], *arguments: Any
) -> Any:
    """Call a function with the blocks of a part; those that come with their sentences are kept from then on."""
    new = {b: _Held(data) for b, data in blocks.items() if data is not None}
    # Work that comes late, for a training that has ended or a worker that never had the blocks, leaves nothing behind.
    own = _held.setdefault(run, {}) if new and run not in _ended else _held.get(run, {})
    for b, held in new.items():
        own.setdefault(b, held)
    if not own.keys() >= blocks.keys():
        return LostBlock((part,), need("distributed", "dask").get_worker().address)
    return function([own[b] for b in sorted(blocks)], *arguments)


def hold(blocks: Sequence[_Held]) -> None:
    """Do nothing with blocks: they are there now."""


def count(blocks: Sequence[_Held], features: FeatureSet, model: StructuredModel) -> list[FeatureCounts]:
    """Count the features of each block."""
    return [count_block(held.data, features, model) for held in blocks]


def compile_blocks(blocks: Sequence[_Held], digest: str) -> list[tuple[Numbers, Numbers]]:
    """Return the features that occur in each block, and which of them are alike within it."""
    found = []
    for held in blocks:
        present, compressed = held.compiled(digest)
        found.append((present, np.array(compressed.class_of)))
    return found


def evaluate(blocks: Sequence[_Held], digest: str, number: int, x: Floats32) -> RowSum:
    """Return the loss of a component over some blocks, and its gradient."""
    ready = [held.ready(digest, number) for held in blocks]
    part = _parts.get(id(ready[0]))
    if part is None or part.blocks != ready:
        part = _parts[id(ready[0])] = _Part(ready)
    return part.evaluate(number, x)


def pass_on(x: Floats32) -> Floats32:
    """Have the weights that another worker had."""
    return x


def add(left: RowSum | LostBlock, right: RowSum | LostBlock) -> RowSum | LostBlock:
    """Add up neighbours; where blocks are missing, say which."""
    if isinstance(left, LostBlock) and isinstance(right, LostBlock):
        return LostBlock(left.parts + right.parts, right.worker)
    if isinstance(left, LostBlock):
        return left
    return right if isinstance(right, LostBlock) else left.plus(right)


def forget(run: str) -> None:
    """Let the blocks of a training go."""
    _ended.add(run)
    _held.pop(run, None)
    _parts.clear()
    _plan.cache_clear()
