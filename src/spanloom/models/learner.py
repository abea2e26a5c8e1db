"""Feature extraction and training of components: in this process, or in others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spanloom.base.errors import ParameterError
from spanloom.features import FeatureExtractor
from spanloom.learning import LearningProblem, Steps, StructureTrainer, Weights
from spanloom.models.base import Task
from spanloom.models.component import Component
from spanloom.models.supervised import supervise

if TYPE_CHECKING:
    from spanloom.models.structured import StructuredModel


class ComponentLearner(ABC):
    """Learns the components of one model.

    Attributes
    ----------
    extractor
        The features of the training sentences.
    """

    extractor: FeatureExtractor

    @abstractmethod
    def steps(self, number: int, component: Component, start: Weights | None) -> Steps[Weights]:
        """Yield the iterations of a component's training, from given weights on."""

    def shared_steps(
        self, components: Sequence[Component], share: float, starts: Sequence[Weights | None]
    ) -> Steps[list[Weights]]:
        """Yield the iterations of all components at once, whose weights have something in common."""
        raise ParameterError(
            f"over blocks of sentences every label learns by itself, got share={share:g}; use share=0, or train in one "
            "process"
        )

    def close(self) -> None:  # noqa: B027
        """Let go of what training needed; called when all components have learned, or one has failed."""


class LocalLearner(ComponentLearner):
    """Learns in this process, with everything in memory."""

    def __init__(self, model: StructuredModel, task: Task, trainer: StructureTrainer) -> None:
        self.task, self.trainer = task, trainer
        self.extractor = FeatureExtractor(task.features, model.sites)
        self._shapes = model.shapes(task.sentences, self.extractor.layout)
        self._rows = self.extractor.fit(task.sentences, task.threads, self._shapes.lattices)
        self._compressed = trainer.prepare(self._rows, task.threads)

    def steps(self, number: int, component: Component, start: Weights | None) -> Steps[Weights]:
        task = self.task
        return self.trainer.steps(
            self._problem(component, start), seed=task.seed, threads=task.threads, component=number
        )

    def shared_steps(
        self, components: Sequence[Component], share: float, starts: Sequence[Weights | None]
    ) -> Steps[list[Weights]]:
        problems = [self._problem(component, start) for component, start in zip(components, starts, strict=True)]
        return self.trainer.shared_steps(problems, share, seed=self.task.seed, threads=self.task.threads)

    def _problem(self, component: Component, start: Weights | None) -> LearningProblem:
        return LearningProblem(
            self._rows,
            component.structure_for(self._shapes),
            supervise(component, self.task.sentences, self.task.gold, self._shapes),
            *component.tying(),
            compressed=self._compressed,
            start=start,
        )
