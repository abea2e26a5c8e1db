"""What a trainer gets and what it gives: features, a structure, what is known of each sentence; weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from spanloom._native import CompressedRows, SparseRows, Structure, Supervision
from spanloom.base.arrays import Floats, Floats32, Tied
from spanloom.base.errors import ParameterError
from spanloom.base.fixed_point import rounded
from spanloom.base.parameters import check_count
from spanloom.base.settings import Settings
from spanloom.learning.follow import Steps

ROUGH = 1e-2
"""The tolerance of a training that only a choice goes by."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a component has learned: ``features[f, column]`` and one weight per global cell.

    Features may share a row: then that of feature ``f`` is ``rows[index[f]]``, and ``features`` makes a copy.

    Examples
    --------
    >>> some = Weights(np.array([[1, 2], [3, 4]], np.float32), np.zeros(0), np.array([1, 0, 1], np.uint32))
    >>> some.features.tolist(), some.shape
    ([[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]], (3, 2))
    """

    rows: Floats32
    globals: Floats
    index: npt.NDArray[np.uint32] | None = None

    @property
    def features(self) -> Floats32:
        """Weights by feature and column."""
        return self.rows if self.index is None else self.rows[self.index]

    @property
    def shape(self) -> tuple[int, int]:
        """Features and columns."""
        return len(self.rows if self.index is None else self.index), self.rows.shape[1]

    @property
    def size(self) -> int:
        """Number of all weights."""
        features, columns = self.shape
        return features * columns + self.globals.size

    def at(self, features: npt.NDArray[np.integer[Any]] | slice, column: int) -> Floats32:
        """Return the weights of some features in one column."""
        found: Floats32 = self.rows[features if self.index is None else self.index[features], column]
        return found

    @classmethod
    def learned(cls, features: Floats32, global_weights: Floats) -> Weights:
        """Return what a training came to, rounded once: a recogniser in memory and in its file are the same."""
        return cls(rounded(features), global_weights)

    @classmethod
    def zeros(cls, features: int, structure: Structure) -> Weights:
        """Return weights that say nothing."""
        return cls(np.zeros((features, structure.columns), np.float32), np.zeros(structure.global_cells))


@dataclass(frozen=True, slots=True)
class LearningProblem:
    """One component to be learned.

    Attributes
    ----------
    rows
        The features of every site.
    structure
        The graph over cells.
    supervision
        What is known of each sentence.
    site_tying, global_tying
        Which parameters add up to each score column and each global cell; None: one for each.
    compressed
        ``compress(rows, …)``, where several components share it.
    start
        Weights to start from; None: zero.
    """

    rows: SparseRows
    structure: Structure
    supervision: Supervision
    site_tying: Tied | None = None
    global_tying: Tied | None = None
    compressed: CompressedRows | None = None
    start: Weights | None = None


@dataclass(frozen=True)
class Trainer(Settings):
    """How to learn.

    Parameters
    ----------
    max_iter
        At most so many iterations; None for what is usual.
    patience
        With development data: stop when their F1 has not risen for so many iterations, and take the best weights.
    """

    max_iter: int | None = None
    patience: int | None = None

    sooner: ClassVar[bool] = False
    """Whether weights near the end bring it there sooner than nothing."""
    warm: ClassVar[bool] = False
    """Whether it can start from given weights, and comes to the same end."""
    usual: ClassVar[int]
    """How many iterations at most, if ``max_iter`` is None."""

    def check(self) -> None:
        if self.max_iter is not None:
            check_count("max_iter", self.max_iter)
        if self.patience is not None:
            check_count("patience", self.patience)

    @property
    def iterations(self) -> int:
        """At most so many iterations."""
        return self.usual if self.max_iter is None else self.max_iter

    @property
    def most(self) -> float:
        """How much one subset may move the weights at most, for trainers of subset scores."""
        return 1.0

    @property
    def rule(self) -> str:
        """What the native core calls its way to move them."""
        return self.name

    @property
    def averages(self) -> bool:
        """Whether the weights of subset scores are the mean of those after every sentence."""
        return True

    def roughly(self) -> Trainer:
        """Return the same for a training that only a choice goes by: it may stop sooner."""
        return self

    def at_most(self, iterations: int) -> Trainer:
        """Return the same with no more iterations than these, and no patience."""
        return self.with_params(max_iter=min(self.iterations, iterations), patience=None)


@dataclass(frozen=True)
class Auto(Trainer):
    """The model's own trainer, with the settings that all trainers have.

    Parameters
    ----------
    max_iter, patience
        As in ``Trainer``.
    """

    name = "auto"
    usual = 500


@dataclass(frozen=True)
class StructureTrainer(Trainer):
    """Learns the weights of structures."""

    one_core: ClassVar[bool] = False
    """Whether a problem is learned on one core, so that several may be learned at once."""

    @property
    def shares(self) -> bool:
        """Whether weights of several problems can have something in common; see ``shared_steps``."""
        return False

    def prepare(self, rows: SparseRows, threads: int | None = None) -> CompressedRows | None:
        """Return what the components of a model can share; None for nothing."""
        return None

    @abstractmethod
    def steps(self, problem: LearningProblem, *, seed: int, threads: int | None, component: int = 0) -> Steps[Weights]:
        """Yield each iteration's record and a function that returns the weights at that point."""

    def shared_steps(
        self, problems: Sequence[LearningProblem], share: float, *, seed: int, threads: int | None
    ) -> Steps[list[Weights]]:
        """Yield the iterations of several problems that are learned at once and whose weights have something in common.

        See ``learning/sharing.py``. Trainers that cannot do it raise.
        """
        raise ParameterError(
            f"the trainer {self.name!r} learns every label by itself, got share={share:g}; use share=0, or "
            'trainer="lbfgs"'
        )

    def refuse_tying(self, problem: LearningProblem) -> None:
        """Raise for tied weights, where the trainer cannot learn them."""
        if problem.site_tying is not None or problem.global_tying is not None:
            raise ParameterError(
                f"the trainer {self.name!r} learns a weight for every column, and this model sums scores from shared "
                'weights (several representations, or a component with tying); use trainer="lbfgs"'
            )
