"""Training on a Dask cluster: workers keep blocks of sentences and give gradients, the optimiser runs here."""

from __future__ import annotations

import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spanloom.base.arrays import Floats32
from spanloom.base.errors import SpanloomError
from spanloom.base.extras import need
from spanloom.features.counts import FeatureCounts
from spanloom.models.base import Task
from spanloom.models.learner import ComponentLearner
from spanloom.models.structured import StructuredModel
from spanloom.scale import dask_blocks
from spanloom.scale.blocks import BlockData, Numbers, Plan
from spanloom.scale.dask import send
from spanloom.scale.dask_blocks import LostBlock
from spanloom.scale.sharded import Crew, RowSum, ShardedLearner

CHECK_SECONDS = 2.0
"""How long to wait for work before workers are looked for that are gone."""
ATTEMPTS = 10
"""How often one evaluation is begun; each time but the first, workers were lost."""


class EvaluationCost(NamedTuple):
    """What one evaluation of the objective cost.

    Bytes of weights that left this process, of gradients that came back, and of both that went from worker to worker,
    as many as the sizes say; and seconds.
    """

    sent: int
    received: int
    between: int
    seconds: float


def learner(
    client: Any, *, blocks: int | None = None, watch: Callable[[EvaluationCost], None] | None = None
) -> Callable[..., ComponentLearner]:
    """Return a ``learner`` for ``Recognizer.fit`` that trains on a Dask cluster.

    Blocks of sentences go to the workers once, and their features are compiled there. Per evaluation, this process
    sends the weights once, in float32, and the workers pass them on; workers add up their gradients in pairs, and one
    gradient comes back. The model is the same to the byte for any number of workers. Blocks of a worker that is lost
    are made again on others.

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
        self._direct = True  # weights and gradients need not pass through the scheduler

    def count(self, blocks: Sequence[BlockData], task: Task, model: StructuredModel) -> list[FeatureCounts]:
        self._blocks = list(blocks)
        workers: list[str | None] = [*sorted(self._alive())] or [None]
        parts = min(len(blocks), 1 << (len(workers) - 1).bit_length())
        each = len(blocks) // parts
        self._parts = [tuple(range(k * each, (k + 1) * each)) for k in range(parts)]
        self._homes: list[str | None] = [workers[k % len(workers)] for k in range(parts)]
        found = self._all(dask_blocks.count, (task.features, model), with_data=True)
        return [one for part in found for one in part]

    def compile(self, plan: Plan) -> list[tuple[Numbers, Numbers]]:
        found = self._all(dask_blocks.compile_blocks, (send(self.client, plan.to_bytes()),))
        return [one for part in found for one in part]

    def share(self, plan: Plan, present: Sequence[Numbers]) -> None:
        self._plan = plan
        self._digest = send(self.client, plan.to_bytes())
        occur = [np.unique(np.concatenate([present[k] for k in part])) for part in self._parts]
        self._levels = [[len(one) for one in occur]]  # how many classes each sum has, level by level of the tree
        while len(occur) > 1:
            occur = [np.union1d(*pair) for pair in zip(occur[::2], occur[1::2], strict=True)]
            self._levels.append([len(one) for one in occur])

    def evaluate(self, number: int, x: Floats32) -> tuple[float, Floats32]:
        begun = time.perf_counter()
        total: RowSum | None = None
        for attempt in range(1, ATTEMPTS + 1):
            try:
                found = self._add_up(number, x)
            except (CancelledError, OSError, TimeoutError, KeyError) as error:  # what goes with a worker that is lost
                if attempt == ATTEMPTS or not self._lost(error):
                    raise
                continue
            if isinstance(found, RowSum):
                total = found
                break
            self._restore(found.parts)
        if total is None:
            raise SpanloomError(f"workers were lost {ATTEMPTS} times in one evaluation; they may need more memory")
        if self.watch is not None:
            between = self._between(total.width, x.nbytes)
            self.watch(EvaluationCost(x.nbytes, total.nbytes, between, time.perf_counter() - begun))
        return total.value, total.gradient

    def _add_up(self, number: int, x: Floats32) -> RowSum | LostBlock:
        """Send the weights to one worker; let workers pass them on, evaluate, and add up in pairs."""
        weights = self._broadcast(x)
        sums = [
            self._start(dask_blocks.evaluate, k, (self._digest, number, weights[home]))
            for k, home in enumerate(self._homes)
        ]
        while len(sums) > 1:
            pairs = zip(sums[::2], sums[1::2], strict=True)
            sums = [self.client.submit(dask_blocks.add, *pair, pure=False) for pair in pairs]
        while not self._done(sums):
            if self._homeless(set(range(len(self._parts)))):
                raise CancelledError("a worker is gone")
        found: RowSum | LostBlock = self.client.gather(sums[0], direct=self._direct)
        return found

    def _broadcast(self, x: Floats32) -> dict[str | None, Any]:
        """Send the weights to one worker, which sends them to two, and so on; return what each worker has.

        Not with ``scatter(broadcast=True)``: its scheduler waits for ever for a worker that dies meanwhile.
        """
        homes = sorted(set(self._homes), key=str)
        copies = [self.client.scatter(x, workers=homes[0], direct=self._direct, hash=False)]
        for k, home in enumerate(homes[1:], 1):
            place = {} if home is None else {"workers": [home], "allow_other_workers": True}
            copies.append(self.client.submit(dask_blocks.pass_on, copies[(k - 1) // 2], pure=False, **place))
        return dict(zip(homes, copies, strict=True))

    def _lost(self, error: Exception) -> bool:
        """Whether something can be done about an error: give parts of lost workers to others, or ask the scheduler."""
        gone = self._homeless(set(range(len(self._parts))), soon=True)
        if gone:
            self._restore(gone)
        elif self._direct and isinstance(error, OSError | TimeoutError):
            self._direct = False  # workers cannot be reached from here
        else:
            return not isinstance(error, KeyError)
        return True

    def _restore(self, parts: Sequence[int]) -> None:
        """Send parts to the workers that have the fewest."""
        while not (alive := self._alive()):
            time.sleep(CHECK_SECONDS / 10)
        for k in parts:
            self._homes[k] = None
        for k in parts:
            taken = Counter(home for home in self._homes if home in alive)
            self._homes[k] = min(sorted(alive), key=lambda home: taken[home])
        self._all(dask_blocks.hold, (), parts=parts, with_data=True)

    def _between(self, width: int, weights: int) -> int:
        """Return how many bytes go from worker to worker: a sum is made where the larger of its two parts is."""
        homes = [home or "" for home in self._homes]
        total = (len(set(homes)) - 1) * weights
        for rows in self._levels[:-1]:
            merged = []
            for left in range(0, len(rows), 2):
                larger = left if rows[left] >= rows[left + 1] else left + 1
                if homes[left] != homes[left + 1]:
                    total += min(rows[left], rows[left + 1]) * (width + 1) * 4
                merged.append(homes[larger])
            homes = merged
        return total

    def close(self) -> None:
        self.client.run(dask_blocks.forget, self.run)

    def _start(
        self, function: Callable[..., Any], k: int, arguments: tuple[Any, ...], *, with_data: bool = False
    ) -> Any:
        """Let the worker of a part do something with its blocks, or another if it is gone."""
        blocks = {b: self._blocks[b] if with_data else None for b in self._parts[k]}
        place = {} if self._homes[k] is None else {"workers": [self._homes[k]], "allow_other_workers": True}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that arguments are large: they are what has to travel
            return self.client.submit(
                dask_blocks.with_blocks, function, self.run, k, blocks, *arguments,
                pure=False, **place,
            )  # fmt: skip

    def _all(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        *,
        parts: Sequence[int] | None = None,
        with_data: bool = False,
    ) -> list[Any]:
        """Call a function for each part, or for some, where its blocks are; results in order.

        A worker without the blocks (Dask gave it the work of one that was lost) says so, and gets them.
        """
        parts = range(len(self._parts)) if parts is None else parts
        pending = {self._start(function, k, arguments, with_data=with_data): k for k in parts}
        results: dict[int, Any] = {}
        while pending:
            for future in self._done(list(pending)):
                k = pending.pop(future)
                found = future.result()
                if isinstance(found, LostBlock):
                    self._homes[k] = found.worker
                    pending[self._start(function, k, arguments, with_data=True)] = k
                else:
                    results[k] = found
            # Work for a worker that is gone would wait for it for ever, if it was the last one.
            for k in self._homeless(set(pending.values())):
                self._homes[k] = None
                stuck = next(future for future, own in pending.items() if own == k)
                del pending[stuck]
                pending[self._start(function, k, arguments, with_data=with_data)] = k
                stuck.cancel()
        return [results[k] for k in parts]

    @staticmethod
    def _done(futures: list[Any]) -> list[Any]:
        """Wait for one or more, for a while."""
        distributed = need("distributed", "dask")
        try:
            return list(distributed.wait(futures, CHECK_SECONDS, return_when="FIRST_COMPLETED").done)
        except (TimeoutError, distributed.TimeoutError):
            return []

    def _alive(self) -> set[str]:
        return set(self.client.scheduler_info(n_workers=-1)["workers"])

    def _homeless(self, parts: set[int], *, soon: bool = False) -> list[int]:
        """Return the parts whose worker is gone; looked up from time to time, or at once."""
        now = time.monotonic()
        if not parts or (now - self._looked < CHECK_SECONDS and not soon):
            return []
        self._looked = now
        alive = self._alive()
        return [k for k in sorted(parts) if self._homes[k] is not None and self._homes[k] not in alive]
