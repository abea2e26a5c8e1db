"""Trainings to be done: side by side on several cores, each once, and kept as soon as it is done.

A job is a training with settings on a part of the corpus, and what is then predicted for another part under one or more
ways of decoding. Results are kept in a file, a line of JSON for each; a job whose line is there is not done again.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.files import whole_file
from spanloom.configuration import configure
from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation import Score, micro
from spanloom.recognizer import Recognizer

Item = Sentence | Document
Settings = dict[str, Any]
Result = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One training.

    Parameters
    ----------
    settings
        Parameters of the ``Recognizer``, and ``min_count``, the cut-off of the feature set.
    decoding
        Parameters that count when predicting, one set after the other; ``[{}]`` for none.
    train, test
        Indices of the documents to learn from and to score.
    keep
        Whether to keep the predictions.
    """

    settings: Settings
    decoding: list[Settings]
    train: tuple[int, ...]
    test: tuple[int, ...]
    keep: bool = False

    def key(self, corpus: str) -> str:
        """Return a digest of everything that the result depends on."""
        values = [corpus, self.settings, self.decoding, self.train, self.test, self.keep]
        return hashlib.sha256(json.dumps(values, sort_keys=True, default=repr).encode()).hexdigest()[:16]


def run_jobs(
    corpus: Sequence[Item],
    jobs: Sequence[Job],
    *,
    processes: int | None = None,
    state: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    make: Callable[[Settings], Any] | None = None,
) -> list[Result]:
    """Do the jobs; results in their order.

    Parameters
    ----------
    corpus
        What the jobs' indices are about.
    processes
        How many trainings at a time; as many as there are cores if left out. Each uses its share of the cores.
    state
        A file that keeps what is done.
    progress
        Called with the number of jobs done and of all jobs.
    make
        Makes a recogniser of settings; :func:`make_recognizer` if left out.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if processes is not None and processes < 1:
        raise ParameterError(f"processes must be at least 1, got {processes}")
    for job in jobs:
        for settings in (job.settings, *job.decoding):
            for name in ("penalty", "decide__penalty"):
                if isinstance(settings.get(name), str):
                    raise ParameterError(
                        f"penalty={settings[name]!r} is chosen on development data when a model is trained "
                        "(spanloom train --dev REF --penalty auto); here, give numbers to try"
                    )
    processes = min(processes or cores, max(1, len(jobs)))
    make = make or make_recognizer
    threads = max(1, cores // processes)
    digest = _digest(corpus)
    keys = [job.key(digest) for job in jobs]
    store = _Store(state)
    results: dict[str, Result] = {key: store.found[key] for key in keys if key in store.found}
    left = {key: job for key, job in zip(keys, jobs, strict=True) if key not in results}
    total = len(set(keys))
    if progress and results:
        progress(len(results), total)
    for key, result in _results(corpus, left, min(processes, len(left)), threads, make):
        results[key] = result
        store.add(key, result)
        if progress:
            progress(len(results), total)
    return [results[key] for key in keys]


def make_recognizer(settings: Settings) -> Recognizer:
    """Make a recogniser; ``min_count`` among the settings is the cut-off of its feature set."""
    settings = dict(settings)
    count = settings.pop("min_count", None)
    if count is not None:
        given = {name: settings.pop(name) for name in ("features", "clusters") if name in settings}
        settings["features"] = replace(Recognizer(**given).feature_set(), min_count=count)
    return configure(settings)


def mentions_of(result: Mapping[str, Any]) -> list[list[list[Mention]]]:
    """Return the kept predictions of a job: for each tested document, for each sentence, the mentions."""
    return [
        [
            [Mention(label, tuple((s, e) for s, e in parts), prob) for label, parts, prob in sentence]
            for sentence in document
        ]
        for document in result["predictions"]
    ]


class _Store:
    """Finished results in a file, one a line. A line that an interruption cut short does not count."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.found: dict[str, Result] = {}
        if self.path is None or not self.path.exists():
            return
        lines = self.path.read_text(encoding="utf-8").splitlines()
        for line in lines:
            try:
                record = json.loads(line)
                self.found[record["key"]] = record["result"]
            except (ValueError, KeyError, TypeError):
                continue
        if lines and not self.found:
            raise ParameterError(f"{self.path}: not a file of finished trials; choose another name")
        if lines:
            with whole_file(self.path) as out:
                out.writelines(_line(key, result) for key, result in self.found.items())

    def add(self, key: str, result: Result) -> None:
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as out:
                out.write(_line(key, result))


def _line(key: str, result: Result) -> str:
    return json.dumps({"key": key, "result": result}, ensure_ascii=False) + "\n"


def _results(
    corpus: Sequence[Item], jobs: Mapping[str, Job], processes: int, threads: int, make: Callable[[Settings], Any]
) -> Iterator[tuple[str, Result]]:
    if processes <= 1:
        for key, job in jobs.items():
            yield key, _do(corpus, job, threads, make)
        return
    # Fresh interpreters: a fork would copy the native core's threads in an unknown state.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _prepare, (list(corpus), threads, make)) as pool:
        waiting = {pool.submit(_do_here, job): key for key, job in jobs.items()}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_here: tuple[Sequence[Item], int, Callable[[Settings], Any]] | None = None


def _prepare(corpus: Sequence[Item], threads: int, make: Callable[[Settings], Any]) -> None:
    """Give a worker process the corpus, once."""
    global _here
    _here = corpus, threads, make


def _do_here(job: Job) -> Result:
    if _here is None:
        raise RuntimeError("a worker was asked to train before it had the corpus")
    corpus, threads, make = _here
    return _do(corpus, job, threads, make)


def _do(corpus: Sequence[Item], job: Job, threads: int, make: Callable[[Settings], Any]) -> Result:
    start = time.perf_counter()
    recognizer = make({"threads": threads, **job.settings})
    recognizer.fit([corpus[i] for i in job.train])
    trained = time.perf_counter() - start
    test = [corpus[i] for i in job.test]
    gold = [s.mentions for item in test for s in _sentences(item)]
    scores, found = [], []
    for decoding in job.decoding:
        # Set on the trained recogniser: what counts when predicting needs no new training.
        if decoding:
            recognizer.set_params(**{recognizer.full_name(name): value for name, value in decoding.items()})
        start = time.perf_counter()
        found = recognizer.predict(test)
        score = micro(gold, [s.mentions for item in found for s in _sentences(item)])
        scores.append([score.gold, score.predicted, score.correct, round(time.perf_counter() - start, 4)])
    result: Result = {
        "scores": scores,
        "seconds": round(trained, 3),
        "objective": [record.objective for record in recognizer.history_],
    }
    if job.keep:
        result["predictions"] = [
            [[[m.label, m.parts, m.prob] for m in s.mentions] for s in _sentences(item)] for item in found
        ]
    return result


def score_of(values: Sequence[Any]) -> Score:
    """Return the score of one line of a result's ``scores``."""
    gold, predicted, correct, _ = values
    return Score(gold, predicted, correct, correct)


def _sentences(item: Item) -> list[Sentence]:
    return item.sentences if isinstance(item, Document) else [item]


def _digest(corpus: Sequence[Item]) -> str:
    """Return a digest of words, columns and mentions: trials on other data are other trials."""
    digest = hashlib.sha256()
    for item in corpus:
        for s in _sentences(item):
            mentions = sorted((m.label, m.parts) for m in s.mentions)
            digest.update(repr((s.tokens, sorted(s.columns.items()), mentions)).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()
