"""Who makes features of a task's sentences and learns the weights of components: this process, or others for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from spanloom.features import FeatureExtractor
from spanloom.learning import LearningProblem, Steps, StructureTrainer, Weights
from spanloom.models.base import Task
from spanloom.models.component import Component
from spanloom.models.supervised import supervise

if TYPE_CHECKING:
    from spanloom.models.structured import StructuredModel


class Learner(ABC):
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

    def close(self) -> None:  # noqa: B027
        """Let go of what training needed; called when all components have learned, or one has failed."""


class LocalLearner(Learner):
    """Learns in this process, with everything in memory."""

    def __init__(self, model: StructuredModel, task: Task, trainer: StructureTrainer) -> None:
        self.task, self.trainer = task, trainer
        self.extractor = FeatureExtractor(task.features, model.sites)
        self._shapes = model.shapes(task.sentences, self.extractor.layout)
        self._rows = self.extractor.fit(task.sentences, task.threads, self._shapes.lattices)
        self._compressed = trainer.prepare(self._rows)

    def steps(self, number: int, component: Component, start: Weights | None) -> Steps[Weights]:
        task = self.task
        problem = LearningProblem(
            self._rows,
            component.structure_for(self._shapes),
            supervise(component, task.sentences, task.gold, self._shapes),
            *component.tying(),
            compressed=self._compressed,
            start=start,
        )
        return self.trainer.steps(problem, seed=task.seed, threads=task.threads, component=number)
