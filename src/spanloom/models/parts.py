"""The training of a model's components: one after the other, or all together with weights that share something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanloom.learning import Interrupted, Iteration, StructureTrainer, Weights, follow, named
from spanloom.models.base import Task
from spanloom.models.component import Component
from spanloom.models.decoding import Dev
from spanloom.models.learner import Learner

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
    components: Sequence[Component], learner: Learner, starts: Sequence[Weights | None], watch: Watch
) -> Learned:
    """Learn the weights of one component after the other."""
    weights: list[Weights] = []
    history: list[Iteration] = []
    for number, (component, start) in enumerate(zip(components, starts, strict=True)):
        interrupted = False
        try:
            learned, records = follow(
                named(
                    learner.steps(number, component, start),
                    ", ".join(sorted(component.types)) if len(components) > 1 else "",
                    len(components),
                ),
                dev_f1=None if watch.dev is None else watch.dev.f1_of(component),
                patience=watch.trainer.patience,
                listener=watch.task.listener,
            )
        except Interrupted as stop:
            interrupted, learned, records = True, stop.learned, stop.history
        weights.append(learned)
        history.extend(records)
        if interrupted:
            # What was not reached has learned nothing, and finds nothing.
            rest = components[number + 1 :]
            weights.extend(Weights.zeros(learner.extractor.size, c.structure) for c in rest)
            return weights, history, True
    return weights, history, False


def learn_together(
    components: Sequence[Component], learner: Learner, starts: Sequence[Weights | None], watch: Watch
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
