"""Processes of this machine that tag shards. One that dies costs its shard an attempt, and nothing else."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress

from spanloom.base.errors import SpanloomError
from spanloom.base.wording import spoken
from spanloom.scale.manifests import Manifest
from spanloom.scale.shards import Shard
from spanloom.scale.work import Work, tag_shard
from spanloom.scale.worker import receive, send

ATTEMPTS = 3
"""A shard whose worker dies so often ends the run."""
TELL_SECONDS = 0.5
LEAVE_SECONDS = 10.0
"""So long a worker that is told to leave its shard may take to tidy up."""
_BEGIN = (  # Ctrl-C is handled by the parent
    "import sys; sys.path[:] = sys.argv[1:]; import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "from spanloom.scale.worker import serve; serve()"
)

Done = tuple[Shard, Manifest, float]
Watch = Callable[[int, int], None]
"""Called now and then with the words and bytes of the shards that are under way."""


class WorkerDied(Exception):
    """A process ended before its shard was done."""


class _Elsewhere(Exception):
    """Where in a worker an error arose."""

    def __str__(self) -> str:
        return f"in a worker:\n{self.args[0]}"


def run_in_process(
    work: Work, shards: Sequence[Shard], *, threads: int = 1, watch: Watch | None = None
) -> Iterator[Done]:
    """Yield shards as they are done, without a process for them; see :func:`run_here`."""
    for shard in shards:
        yield shard, *tag_shard(work, shard, _now_and_then(watch), threads)


def _now_and_then(watch: Watch | None) -> Watch | None:
    if watch is None:
        return None
    told = time.monotonic()

    def tell(words: int, size: int) -> None:
        nonlocal told
        if time.monotonic() >= told + TELL_SECONDS:
            told = time.monotonic()
            watch(words, size)

    return tell


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
    free: list[_Worker] = []
    busy: dict[Future[tuple[Manifest, float]], tuple[_Worker, Shard, int]] = {}
    try:
        for _ in range(min(jobs, len(shards))):
            free.append(_Worker(work, threads))
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
                except WorkerDied:
                    worker.stop()
                    if lost is not None:
                        lost(shard, attempt)
                    if attempt == ATTEMPTS:
                        raise SpanloomError(
                            f"the worker of {shard.name} died {ATTEMPTS} times; it may need more memory than there is: "
                            f"try fewer jobs{spoken(' (--jobs)', '')}. What is done stays: go on with "
                            f"{spoken('--resume', 'resume=True')}."
                        ) from None
                    left.appendleft((shard, attempt + 1))
                    free.append(_Worker(work, threads))
                except BaseException:
                    worker.stop()
                    raise
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

    def __init__(self, work: Work, threads: int) -> None:
        # Neither a fork, which would copy the native core's threads in an unknown state, nor the spawning of
        # multiprocessing, which runs a script without ``if __name__ == "__main__"`` once more in every process.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN, *sys.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._listener = ThreadPoolExecutor(1)
        data = None if work.model.path else work.model.data()
        self._first: tuple[int, bytes | None, tuple[str, ...]] | None = threads, data, _own_modules()
        self._interrupted = False
        self.progress = 0, 0

    def start(self, work: Work, shard: Shard) -> Future[tuple[Manifest, float]]:
        self.progress = 0, 0
        return self._listener.submit(self._ask, work, shard)

    def _ask(self, work: Work, shard: Shard) -> tuple[Manifest, float]:
        tasks, answers = self._process.stdin, self._process.stdout
        if tasks is None or answers is None:
            raise RuntimeError("a worker was started without pipes")
        try:
            if self._first is not None:
                send(tasks, self._first)
                self._first = None
            send(tasks, (work, shard))
        except OSError:  # a closed pipe
            raise WorkerDied from None
        while (data := receive(answers)) is not None:
            kind, *rest = pickle.loads(data)
            if kind == "progress":
                self.progress = rest[0], rest[1]
            elif kind == "failed":
                raise rest[0] from _Elsewhere(rest[1])
            else:
                return rest[0], rest[1]
        raise WorkerDied

    def interrupt(self) -> None:
        """Let the process leave its shard; what it was writing is removed."""
        self._interrupted = True  # its input stays open till it ends: without one it would not tidy up
        self._process.terminate()

    def stop(self) -> None:
        """Wait for the end of the process."""
        if self._interrupted:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LEAVE_SECONDS)
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._process.wait()
        self._listener.shutdown(wait=True, cancel_futures=True)
        if self._process.stdout is not None:
            self._process.stdout.close()


def _own_modules() -> tuple[str, ...]:
    """The modules of models and annotators that are not spanloom's, which a worker must import to know them."""
    from spanloom.annotators import Annotator
    from spanloom.models import MODELS

    found, queue = set(), [*MODELS.values(), Annotator]
    while queue:
        kind = queue.pop()
        found.add(kind.__module__)
        queue += kind.__subclasses__()
    return tuple(sorted(name for name in found if name.partition(".")[0] not in ("spanloom", "__main__")))
