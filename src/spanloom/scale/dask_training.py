"""Training on a Dask cluster: workers keep blocks of sentences and give gradients, the optimiser runs here."""

from __future__ import annotations

import threading
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from spanloom._native import CompressedRows
from spanloom.base.arrays import Floats32
from spanloom.base.extras import need
from spanloom.features import FeatureSet
from spanloom.features.counts import FeatureCounts
from spanloom.models.base import Task
from spanloom.models.component import Shapes
from spanloom.models.learner import ComponentLearner
from spanloom.models.structured import StructuredModel
from spanloom.scale.blocks import Block, BlockData, BlockRows, Numbers, Plan, count_block, make_ready
from spanloom.scale.dask import send
from spanloom.scale.loading import deposited
from spanloom.scale.sharded import Crew, PairwiseSum, ShardedLearner, TreeSum, gather

CHECK_SECONDS = 2.0
"""How long to wait for work before workers are looked for that are gone."""


class EvaluationCost(NamedTuple):
    """What one evaluation of the objective cost: bytes to all workers and back, and seconds."""

    sent: int
    received: int
    seconds: float


def learner(
    client: Any, *, blocks: int | None = None, watch: Callable[[EvaluationCost], None] | None = None
) -> Callable[..., ComponentLearner]:
    """Return a ``learner`` for ``Recognizer.fit`` that trains on a Dask cluster.

    Blocks of sentences go to the workers once, and their features are compiled there. Per evaluation, weights and
    gradients travel in float32, of the features that occur in a worker's blocks. The model is the same to the byte for
    any number of workers. Blocks of a worker that is lost are made again on others.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    blocks
        How many blocks, a power of two. With fewer than workers, some have nothing to do. None: as many as the corpus
        needs for at most a million tokens each, from 4 to 64, whatever the number of workers.
    watch
        Called with the cost of each evaluation.

    Used as ``Recognizer("edge").fit(train, learner=learner(client))``.
    """
    return partial(_learner, client=client, blocks=blocks, watch=watch)


def _learner(
    model: StructuredModel,
    task: Task,
    trainer: Any,
    client: Any,
    blocks: int | None,
    watch: Callable[[EvaluationCost], None] | None,
) -> ComponentLearner:
    return ShardedLearner(model, task, trainer, DaskCrew(client, watch), blocks)


class DaskCrew(Crew):
    """The workers of a cluster. Each has a run of neighbouring blocks, a part of the tree of sums."""

    def __init__(self, client: Any, watch: Callable[[EvaluationCost], None] | None = None) -> None:
        self.client, self.watch = client, watch
        self.run = uuid.uuid4().hex
        self._blocks: list[BlockData] = []
        self._looked = time.monotonic()

    def count(self, blocks: Sequence[BlockData], task: Task, model: StructuredModel) -> list[FeatureCounts]:
        self._blocks = list(blocks)
        workers = sorted(self.client.scheduler_info(n_workers=-1)["workers"]) or [None]
        parts = min(len(blocks), 1 << (len(workers) - 1).bit_length())
        each = len(blocks) // parts
        self._parts = [tuple(range(k * each, (k + 1) * each)) for k in range(parts)]
        self._homes: list[str | None] = [workers[k % len(workers)] for k in range(parts)]
        found = self._all(_count, (task.features, model), with_data=True)
        return [one for part in found for one in part]

    def compile(self, plan: Plan) -> list[tuple[Numbers, Numbers]]:
        found = self._all(_compile, (send(self.client, plan.to_bytes()),))
        return [one for part in found for one in part]

    def share(self, plan: Plan, present: Sequence[Numbers]) -> None:
        self._plan = plan
        self._digest = send(self.client, plan.to_bytes())
        self._shared = [np.unique(np.concatenate([present[k] for k in part])) for part in self._parts]

    def evaluate(self, number: int, x: Floats32) -> tuple[float, Floats32]:
        begun = time.perf_counter()
        size, (width, _) = len(self._plan.sizes), self._plan.widths(number)
        given = [gather(x, shared, width, size) for shared in self._shared]
        total = PairwiseSum(len(self._parts), width)
        received = 0

        def take(k: int, found: tuple[float, Floats32]) -> None:
            nonlocal received
            received += found[1].nbytes
            total.add(k, found[0], self._shared[k], found[1])

        self._all(_evaluate, (self._digest, number), given, take=take)
        if self.watch is not None:
            self.watch(EvaluationCost(sum(one.nbytes for one in given), received, time.perf_counter() - begun))
        return total.result()

    def close(self) -> None:
        self.client.run(_forget, self.run)

    def _all(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        own: Sequence[Any] | None = None,
        *,
        with_data: bool = False,
        take: Callable[[int, Any], None] | None = None,
    ) -> list[Any]:
        """Call a function for each part, where its blocks are; results in order, or taken as they come.

        A worker without the blocks (Dask gave it the work of one that was lost) says so, and gets them.
        """

        def start(k: int, data: bool) -> Any:
            blocks = {b: self._blocks[b] if data else None for b in self._parts[k]}
            more = () if own is None else (own[k],)
            place = {} if self._homes[k] is None else {"workers": [self._homes[k]], "allow_other_workers": True}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that arguments are large: they are what has to travel
                return self.client.submit(
                    _with_blocks, function, self.run, blocks, *arguments, *more,
                    pure=False, **place,
                )  # fmt: skip

        pending = {start(k, with_data): k for k in range(len(self._parts))}
        results: list[Any] = [None] * len(self._parts)
        while pending:
            for future in self._done(list(pending)):
                k = pending.pop(future)
                found = future.result()
                if isinstance(found, _Missing):
                    self._homes[k] = found.worker
                    pending[start(k, True)] = k
                elif take is not None:
                    take(k, found)
                else:
                    results[k] = found
            # Work for a worker that is gone would wait for it for ever, if it was the last one.
            for k in self._homeless(set(pending.values())):
                self._homes[k] = None
                stuck = next(future for future, own in pending.items() if own == k)
                del pending[stuck]
                pending[start(k, with_data)] = k
                stuck.cancel()
        return results

    @staticmethod
    def _done(futures: list[Any]) -> list[Any]:
        """Wait for one or more, for a while."""
        distributed = need("distributed", "dask")
        try:
            return list(distributed.wait(futures, CHECK_SECONDS, return_when="FIRST_COMPLETED").done)
        except (TimeoutError, distributed.TimeoutError):
            return []

    def _homeless(self, parts: set[int]) -> list[int]:
        """Return the parts whose worker is gone."""
        now = time.monotonic()
        if not parts or now - self._looked < CHECK_SECONDS:
            return []
        self._looked = now
        alive = self.client.scheduler_info(n_workers=-1)["workers"]
        return [k for k in sorted(parts) if self._homes[k] is not None and self._homes[k] not in alive]


# In the workers


class _Missing(NamedTuple):
    """The answer of a worker that has not the blocks it is asked for."""

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
    """Neighbouring blocks: where the classes of each are among those of all, and their sums."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = list(blocks)
        shared = np.unique(np.concatenate([block.shared for block in blocks]))
        self.rows = [np.searchsorted(shared, block.shared).astype(np.uint32) for block in blocks]
        self._sums, self._alone = TreeSum(), threading.Lock()

    def evaluate(self, x: Floats32) -> tuple[float, Floats32]:
        def leaf(k: int, gradient: Floats32) -> float:
            return self.blocks[k].evaluate(x, self.rows[k], gradient)

        with self._alone:  # a worker with several threads may get the same work twice
            return self._sums.of(len(self.blocks), len(x), leaf)


_parts: dict[int, _Part] = {}  # by the first of the blocks
_held: dict[str, dict[int, _Held]] = {}
_ended: set[str] = set()  # runs whose blocks were let go: work that comes late must not keep any


@lru_cache(1)
def _plan(digest: str) -> Plan:
    return Plan.from_bytes(deposited(digest))


def _with_blocks(function: Callable[..., Any], run: str, blocks: dict[int, BlockData | None], *arguments: Any) -> Any:
    own = {} if run in _ended else _held.setdefault(run, {})
    own.update({b: _Held(data) for b, data in blocks.items() if data is not None and b not in own})
    if not own.keys() >= blocks.keys():
        return _Missing(need("distributed", "dask").get_worker().address)
    return function([own[b] for b in sorted(blocks)], *arguments)


def _count(blocks: Sequence[_Held], features: FeatureSet, model: StructuredModel) -> list[FeatureCounts]:
    return [count_block(held.data, features, model) for held in blocks]


def _compile(blocks: Sequence[_Held], digest: str) -> list[tuple[Numbers, Numbers]]:
    found = []
    for held in blocks:
        present, compressed = held.compiled(digest)
        found.append((present, np.array(compressed.class_of)))
    return found


def _evaluate(blocks: Sequence[_Held], digest: str, number: int, x: Floats32) -> tuple[float, Floats32]:
    ready = [held.ready(digest, number) for held in blocks]
    part = _parts.get(id(ready[0]))
    if part is None or part.blocks != ready:
        part = _parts[id(ready[0])] = _Part(ready)
    return part.evaluate(x)


def _forget(run: str) -> None:
    _ended.add(run)
    _held.pop(run, None)
    _parts.clear()
    _plan.cache_clear()
