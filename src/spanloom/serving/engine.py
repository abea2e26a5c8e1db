"""Tags the texts of many requests together, in a few threads, and refuses what it cannot do in time.

A request of one abstract costs less to compute than to hand over, so whoever takes work takes all that waits, up to a
batch, and the answers are parted again. What a request gets does not depend on what it is tagged with.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from spanloom.base.errors import SpanloomError
from spanloom.base.parameters import check_count
from spanloom.corpus import Document
from spanloom.formats.checks import encode
from spanloom.formats.jsonl import to_dict
from spanloom.recognizer import Recognizer
from spanloom.tagging import BATCH_CHARACTERS, Plain, TextTagger, obstacle
from spanloom.tagging_files import k_best_lines


class Busy(SpanloomError):
    """There is as much to do as allowed; come again."""


class Late(SpanloomError):
    """A request was not answered in time."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for beside the mentions: see ``Recognizer.predict``; ``k`` best sets, 0 for none."""

    probabilities: bool = False
    above: float | None = None
    k: int = 0


@dataclass(slots=True)
class Job:
    """The texts of one request."""

    items: Sequence[Plain | Document]
    asked: Asked
    deadline: float
    future: Future[list[bytes]]

    @property
    def characters(self) -> int:
        """How much text it has."""
        return sum(len(item.text) for item in self.items)


class Engine:
    """A recogniser with threads that work for requests.

    Parameters
    ----------
    recognizer
        A trained one. Each of the threads uses one core; models that ``spanloom.tagging`` cannot take run one
        batch at a time.
    workers
        Threads.
    limit
        Requests that may wait or be worked on at once; more are refused with ``Busy``.
    seconds
        A request that has waited so long ends with ``Late``.

    Examples
    --------
    >>> from spanloom import Recognizer, read
    >>> ner = Recognizer("chain", keep="longest").fit(read("sample:train"))
    >>> engine = Engine(ner)
    >>> line, = engine.submit([Plain("a", "The IL-2 gene.")], Asked()).result()
    >>> b'"text":"IL-2 gene"' in line
    True
    >>> engine.close()
    """

    def __init__(self, recognizer: Recognizer, workers: int = 1, limit: int = 200, seconds: float = 30.0) -> None:
        check_count("workers", workers)
        check_count("limit", limit)
        recognizer.threads = 1
        self.recognizer = recognizer
        self.limit, self.seconds = limit, seconds
        self._native = TextTagger(recognizer, 1) if obstacle(recognizer) is None else None
        self._lock = threading.Lock()  # of the way through Python objects
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._open = True
        self.busy = 0
        """Requests that wait or are worked on."""
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, items: Sequence[Plain | Document], asked: Asked) -> Future[list[bytes]]:
        """Take work; the result is a JSON object (bytes without a newline) for each item."""
        future: Future[list[bytes]] = Future()
        if not items:
            future.set_result([])
            return future
        with self._changed:
            if not self._open:
                raise Busy("the server is shutting down")
            if self.busy >= self.limit:
                raise Busy(f"{self.limit} requests are waiting already; come again in a second")
            self.busy += 1
            future.add_done_callback(self._answered)  # before the answer goes out: who gets it may ask again
            self._waiting.append(Job(items, asked, time.monotonic() + self.seconds, future))
            self._changed.notify()
        return future

    def close(self) -> None:
        """Do what is waiting, then end the threads."""
        with self._changed:
            self._open = False
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while jobs := self._take():
            self._answer(jobs)

    def _answered(self, future: Future[list[bytes]]) -> None:
        with self._changed:
            self.busy -= 1

    def _take(self) -> list[Job]:
        """Wait for work; return a batch that is asked for the same things, nothing at the end."""
        with self._changed:
            while self._open and not self._waiting:
                self._changed.wait()
            jobs: list[Job] = []
            size = 0
            while self._waiting and (not jobs or (self._waiting[0].asked == jobs[0].asked and size < BATCH_CHARACTERS)):
                jobs.append(self._waiting.popleft())
                size += jobs[-1].characters
            return jobs

    def _answer(self, jobs: list[Job]) -> None:
        now = time.monotonic()
        live = []
        for job in jobs:
            if job.deadline < now:
                job.future.set_exception(Late(f"the request has waited for {self.seconds:g} seconds"))
            elif job.future.set_running_or_notify_cancel():
                live.append(job)
        if not live:
            return
        try:
            lines = iter(self._lines([item for job in live for item in job.items], live[0].asked))
            answers = [[next(lines) for _ in job.items] for job in live]
        except Exception as error:
            if len(live) == 1:
                live[0].future.set_exception(error)
                return
            for job in live:  # one of them cannot be tagged: the others shall not suffer
                self._alone(job)
        else:
            for job, answer in zip(live, answers, strict=True):
                job.future.set_result(answer)

    def _alone(self, job: Job) -> None:
        try:
            job.future.set_result(self._lines(job.items, job.asked))
        except Exception as error:
            job.future.set_exception(error)

    def _lines(self, items: Sequence[Plain | Document], asked: Asked) -> list[bytes]:
        plain = [item for item in items if isinstance(item, Plain)]
        if self._native is not None and asked == Asked() and len(plain) == len(items):
            tagged = self._native.tag([one.text for one in plain])
            return tagged.json_lines([one.id for one in plain], [one.meta for one in plain]).split(b"\n")[:-1]
        with self._lock:
            return self._through_objects(items, asked)

    def _through_objects(self, items: Sequence[Plain | Document], asked: Asked) -> list[bytes]:
        documents = [self._document(item) for item in items]
        found = self.recognizer.predict(documents, probabilities=asked.probabilities, above=asked.above)
        if asked.k:
            return [line[:-1] for line in k_best_lines(self.recognizer, found, asked.k, Counter())]
        return [encode(to_dict(doc, chars=True), f"document {doc.id!r}").encode()[:-1] for doc in found]

    def _document(self, item: Plain | Document) -> Document:
        if isinstance(item, Document):
            return item
        made = self.recognizer._of_text(item.text)
        return replace(made, id=item.id, meta=json.loads(item.meta) if item.meta else {})
