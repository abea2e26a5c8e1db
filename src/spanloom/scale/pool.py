"""Processes of this machine that tag shards. One that dies costs its shard an attempt, and nothing else.

Each worker is a pool of one process: where a pool of several loses one process, the standard library gives up all.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from typing import Any

from spanloom.base.errors import SpanloomError
from spanloom.scale.manifests import Manifest
from spanloom.scale.shards import Shard
from spanloom.scale.work import Work, tag_shard

ATTEMPTS = 3
"""A shard whose worker dies so often ends the run."""
TELL_SECONDS = 0.5
FOLLOW_SECONDS = 1.0
"""How often a worker looks whether its parent is still there."""

Done = tuple[Shard, Manifest, float]
Watch = Callable[[int, int], None]
"""Called now and then with the words and bytes of the shards that are under way."""


def run_here(
    work: Work,
    shards: Sequence[Shard],
    jobs: int,
    *,
    threads: int = 1,
    watch: Watch | None = None,
    lost: Callable[[Shard, int], None] | None = None,
) -> Iterator[Done]:
    """Yield shards as they are done, each with its manifest and its seconds.

    Parameters
    ----------
    jobs
        How many processes.
    threads
        Of each process.
    watch
        Follows what is under way.
    lost
        Called with a shard whose worker died, and the number of the attempt.

    Raises
    ------
    SpanloomError
        The first error of a shard, or if a shard's worker died three times. Shards that are done stay done.
    """
    left = deque((shard, 1) for shard in shards)
    free = [_Worker(threads) for _ in range(min(jobs, len(shards)))]
    busy: dict[Future[tuple[Manifest, float]], tuple[_Worker, Shard, int]] = {}
    try:
        while left or busy:
            while left and free:
                shard, attempt = left.popleft()
                worker = free.pop()
                busy[worker.start(work, shard)] = worker, shard, attempt
            done, _ = wait(busy, TELL_SECONDS, FIRST_COMPLETED)
            if watch is not None:
                under_way = [worker.progress for worker, _, _ in busy.values()]
                watch(sum(words for words, _ in under_way), sum(size for _, size in under_way))
            for future in done:
                worker, shard, attempt = busy.pop(future)
                try:
                    manifest, seconds = future.result()
                except BrokenProcessPool:
                    worker.stop()
                    if lost is not None:
                        lost(shard, attempt)
                    if attempt == ATTEMPTS:
                        raise SpanloomError(
                            f"the worker of {shard.name} died {ATTEMPTS} times; it may need more memory than there is: "
                            "try fewer --jobs. What is done stays: go on with --resume."
                        ) from None
                    left.appendleft((shard, attempt + 1))
                    free.append(_Worker(threads))
                else:
                    free.append(worker)
                    yield shard, manifest, seconds
    finally:
        for worker, _, _ in busy.values():
            worker.interrupt()
        for worker in (*free, *(worker for worker, _, _ in busy.values())):
            worker.stop()


class _Worker:
    """One process, and what it says of its progress."""

    def __init__(self, threads: int) -> None:
        # Fresh interpreters: a fork would copy the native core's threads in an unknown state.
        context = multiprocessing.get_context("spawn")
        self._told: Any = context.Array("Q", 3, lock=False)  # words, bytes, the process
        self._pool = ProcessPoolExecutor(1, context, _prepare, (self._told, threads))

    @property
    def progress(self) -> tuple[int, int]:
        return self._told[0], self._told[1]

    def start(self, work: Work, shard: Shard) -> Future[tuple[Manifest, float]]:
        self._told[0] = self._told[1] = 0
        return self._pool.submit(_tag_here, work, shard)

    def interrupt(self) -> None:
        """Let the process leave its shard; what it was writing is removed."""
        if self._told[2]:
            with suppress(ProcessLookupError):
                os.kill(self._told[2], signal.SIGTERM)

    def stop(self) -> None:
        """Wait for the end of the process."""
        self._pool.shutdown(wait=True, cancel_futures=True)


_here: tuple[Any, int] | None = None


def _prepare(told: Any, threads: int) -> None:
    """Make a process ready: it ends with its parent, also if that is killed, and ignores Ctrl-C, which that handles."""
    global _here
    _here = told, threads
    told[2] = os.getpid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # as an exception, so that unfinished files are removed
    ending = threading.Event()
    parent = multiprocessing.parent_process()

    def follow() -> None:
        while not ending.wait(FOLLOW_SECONDS):
            if parent is not None and not parent.is_alive():
                os._exit(1)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()

    def end() -> None:
        ending.set()
        thread.join()

    atexit.register(end)


def _tag_here(work: Work, shard: Shard) -> tuple[Manifest, float]:
    if _here is None:
        raise RuntimeError("a worker was asked to tag before it was ready")
    told, threads = _here

    def progress(words: int, size: int) -> None:
        told[0], told[1] = words, size

    return tag_shard(work, shard, progress, threads)
