"""Trainings to be done: side by side on several cores, each once, and kept as soon as it is done.

A job is a training with settings on a part of the corpus, and what is then predicted for another part under one or more
ways of decoding. Jobs that differ in the L2 penalty alone follow each other, each from where the optima
before it lead to. Results are kept in a file, a line of JSON for each; a job whose line is there is not done again.
"""

from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.files import whole_file
from spanloom.configuration import configure
from spanloom.corpus import Document, Mention, Sentence
from spanloom.evaluation import Score, micro

Item = Sentence | Document
Settings = dict[str, Any]
Result = dict[str, Any]

PENALTIES = ("l2", "trainer__l2")
"""Names of the L2 penalty."""


@dataclass(frozen=True)
class TrainingJob:
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


Trainings = Callable[
    [Sequence[Item], Mapping[str, TrainingJob], Callable[[Settings], Any]], Iterator[tuple[str, Result]]
]
"""Does jobs on a corpus with a maker of recognisers, in any order; yields the key and the result of each."""


def run_jobs(
    corpus: Sequence[Item],
    jobs: Sequence[TrainingJob],
    *,
    processes: int | None = None,
    state: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    make: Callable[[Settings], Any] | None = None,
    trainings: Trainings | None = None,
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
        Makes a recogniser of settings; ``configure`` if left out.
    trainings
        Does the jobs, if not processes of this machine: ``spanloom.scale.dask.trainings(client)``.
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
    make = make or configure
    digest = _digest(corpus)
    keys = [job.key(digest) for job in jobs]
    store = _Store(state)
    results: dict[str, Result] = {key: store.found[key] for key in keys if key in store.found}
    left = {key: job for key, job in zip(keys, jobs, strict=True) if key not in results}
    total = len(set(keys))
    if progress and results:
        progress(len(results), total)
    here = min(processes, len(paths(left)))
    threads = max(1, cores // max(here, 1))
    found = trainings(corpus, left, make) if trainings else _results(corpus, left, here, threads, make)
    for key, result in found:
        results[key] = result
        store.add(key, result)
        if progress:
            progress(len(results), total)
    return [results[key] for key in keys]


def mentions_of(result: Mapping[str, Any]) -> list[list[list[Mention]]]:
    """Return the kept predictions of a job: for each tested document, for each sentence, the mentions."""
    return [
        [
            [Mention(label, tuple((s, e) for s, e in parts), prob) for label, parts, prob in sentence]
            for sentence in document
        ]
        for document in result["predictions"]
    ]


def paths(jobs: Mapping[str, TrainingJob]) -> list[dict[str, TrainingJob]]:
    """Put jobs together that differ in ``l2`` alone, the largest first: their optima are near each other.

    Examples
    --------
    >>> tried = [(l2, n) for n in (0, 1) for l2 in (0.1, 1.0)]
    >>> jobs = {f"{l2}{n}": TrainingJob({"l2": l2, "keep": "longest"}, [{}], (n,), ()) for l2, n in tried}
    >>> [list(path) for path in paths(jobs)]
    [['1.00', '0.10'], ['1.01', '0.11']]
    """
    found: dict[str, dict[str, TrainingJob]] = {}
    for key, job in jobs.items():
        rest = {name: value for name, value in job.settings.items() if name not in PENALTIES}
        found.setdefault(repr((rest, job.decoding, job.train, job.test, job.keep)), {})[key] = job
    return [dict(sorted(path.items(), key=lambda pair: -_penalty(pair[1].settings))) for path in found.values()]


def _penalty(settings: Settings) -> float:
    given = [settings[name] for name in PENALTIES if name in settings]
    return float(given[0]) if given and isinstance(given[0], int | float) else 0.0


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
    corpus: Sequence[Item],
    jobs: Mapping[str, TrainingJob],
    processes: int,
    threads: int,
    make: Callable[[Settings], Any],
) -> Iterator[tuple[str, Result]]:
    if processes <= 1:
        for path in paths(jobs):
            yield from _do_path(corpus, path, threads, make)
        return
    # Fresh interpreters: a fork would copy the native core's threads in an unknown state.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _prepare, (list(corpus), threads, make)) as pool:
        waiting = [pool.submit(_do_here, path) for path in paths(jobs)]
        try:
            for future in as_completed(waiting):
                yield from future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_here: tuple[Sequence[Item], int, Callable[[Settings], Any]] | None = None


def _prepare(corpus: Sequence[Item], threads: int, make: Callable[[Settings], Any]) -> None:
    """Give a worker process the corpus, once."""
    global _here
    _here = corpus, threads, make


def _do_here(path: Mapping[str, TrainingJob]) -> list[tuple[str, Result]]:
    if _here is None:
        raise RuntimeError("a worker was asked to train before it had the corpus")
    corpus, threads, make = _here
    return list(_do_path(corpus, path, threads, make))


def _do_path(
    corpus: Sequence[Item], path: Mapping[str, TrainingJob], threads: int, make: Callable[[Settings], Any]
) -> Iterator[tuple[str, Result]]:
    """Do the jobs of a path, each from where the optima before it lead to, if they were reached."""
    optima: list[tuple[float, Any]] = []
    for key, job in path.items():
        recognizer = make({"threads": threads, **job.settings})
        yield key, _train_and_score(corpus, job, recognizer, _lead(optima, _penalty(job.settings)))
        reached = getattr(recognizer, "training_", {}).get("converged")
        optima = [*optima[-1:], (_penalty(job.settings), recognizer)] if reached else []


def _lead(optima: Sequence[tuple[float, Any]], penalty: float) -> Any:
    """Return the start for a penalty: optima move about evenly with its logarithm."""
    if not optima:
        return None
    last, now = optima[-1]
    first, before = optima[0]
    if first == last or min(first, last, penalty) <= 0 or not hasattr(now, "trained_"):
        return now
    return now.trained_.ahead(before.trained_, math.log(penalty / last) / math.log(last / first))


def do_job(corpus: Sequence[Item], job: TrainingJob, threads: int, make: Callable[[Settings], Any]) -> Result:
    """Train, predict and score."""
    return _train_and_score(corpus, job, make({"threads": threads, **job.settings}), None)


def _train_and_score(corpus: Sequence[Item], job: TrainingJob, recognizer: Any, before: Any) -> Result:
    start = time.perf_counter()
    recognizer.fit([corpus[i] for i in job.train], **({} if before is None else {"start": before}))
    trained = time.perf_counter() - start
    test = [corpus[i] for i in job.test]
    gold = [s for item in test for s in _sentences(item)]
    scores, found = [], []
    for decoding in job.decoding:
        # Set on the trained recogniser: what counts when predicting needs no new training.
        if decoding:
            recognizer.set_params(**{recognizer.full_name(name): value for name, value in decoding.items()})
        start = time.perf_counter()
        found = recognizer.predict(test)
        pairs = zip(gold, (s for item in found for s in _sentences(item)), strict=True)
        score = micro([s.mentions for s in gold], [s.judgeable(own.mentions) for s, own in pairs])
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
    """Return a digest of words, columns, mentions and what is known: trials on other data are other trials."""
    digest = hashlib.sha256()
    for item in corpus:
        for s in _sentences(item):
            mentions = sorted((m.label, m.parts) for m in s.mentions)
            told = (s.tokens, sorted(s.columns.items()), mentions, *([] if s.known is None else [s.known]))
            digest.update(repr(told).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()
