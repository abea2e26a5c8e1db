"""The training of a model's components: one after the other, or all together with weights that share something."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event, Lock
from typing import TypeVar

from spanloom.learning import Interrupted, Iteration, StructureTrainer, Weights, follow, named
from spanloom.models.base import Task
from spanloom.models.component import Component
from spanloom.models.decoding import Dev
from spanloom.models.learner import ComponentLearner

Done = TypeVar("Done")
Learned = tuple[list[Weights], list[Iteration], bool]
"""The weights of every component, a record of every iteration, and whether training was interrupted."""


@dataclass(frozen=True, slots=True)
class Watch:
    """How training goes: what it is watched on, by whom, how patiently, and how much weights share."""

    dev: Dev | None
    trainer: StructureTrainer
    task: Task
    share: float = 0.0


def learn_apart(
    components: Sequence[Component], learner: ComponentLearner, starts: Sequence[Weights | None], watch: Watch
) -> Learned:
    """Learn the weights of every component by itself: at once where the trainer takes one core, else one by one.

    Which of the two makes no difference for what is learned.
    """
    stop, lock = Event(), Lock()

    def listener(record: Iteration) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        if watch.task.listener is not None:
            with lock:
                watch.task.listener(record)

    def learn(number: int) -> tuple[Weights, list[Iteration]]:
        component = components[number]
        if stop.is_set():  # what was not reached has learned nothing, and finds nothing
            return Weights.zeros(learner.extractor.size, component.structure), []
        try:
            return follow(
                named(
                    learner.steps(number, component, starts[number]),
                    ", ".join(sorted(component.types)) if len(components) > 1 else "",
                    len(components),
                ),
                dev_f1=None if watch.dev is None else watch.dev.f1_of(component),
                patience=watch.trainer.patience,
                listener=listener,
            )
        except Interrupted as interrupted:
            stop.set()
            return interrupted.learned, interrupted.history

    workers = watch.task.threads or os.cpu_count() or 1
    if watch.trainer.one_core and workers > 1 and len(components) > 1:
        done = _at_once(learn, len(components), workers, stop)
    else:
        done = [learn(number) for number in range(len(components))]
    return [weights for weights, _ in done], [record for _, records in done for record in records], stop.is_set()


def _at_once(learn: Callable[[int], Done], count: int, workers: int, stop: Event) -> list[Done]:
    """Call the function for every number, in threads; an interruption of this one stops them."""
    with ThreadPoolExecutor(min(workers, count)) as pool:
        futures = [pool.submit(learn, number) for number in range(count)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            pass
        finally:
            if not all(future.done() and future.exception() is None for future in futures):
                stop.set()
        return [future.result() for future in futures]


def learn_together(
    components: Sequence[Component], learner: ComponentLearner, starts: Sequence[Weights | None], watch: Watch
) -> Learned:
    """Learn the weights of all components at once."""
    try:
        learned, records = follow(
            learner.shared_steps(components, watch.share, starts),
            dev_f1=None if watch.dev is None else watch.dev.f1_of_all(components),
            patience=watch.trainer.patience,
            listener=watch.task.listener,
        )
    except Interrupted as stop:
        return stop.learned, stop.history, True
    return learned, records, False
