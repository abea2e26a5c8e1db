"""Annotator: makes token columns that the data do not have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy.typing as npt

from spanloom.corpus import Sentence

Arrays = dict[str, npt.NDArray[Any]]


class Annotator(ABC):
    """Makes columns of tokens: parts of speech, lemmas, dictionary hits.

    A recogniser runs its annotators before training and before tagging. Columns that a sentence has already are left as
    they are.

    Attributes
    ----------
    kind
        Its name in a model file.
    provides
        The columns that it makes.
    templates
        Features over them that a recogniser adds to its own, if the annotator is no use without.
    """

    kind: ClassVar[str]
    provides: tuple[str, ...]
    templates: tuple[str, ...] = ()

    @abstractmethod
    def columns(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        """Return the columns of each sentence."""

    @abstractmethod
    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return arrays and JSON from which a model file can make an equal annotator."""

    def annotate(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return the sentences with the columns that they lack."""
        lacking = [s for s in sentences if not all(name in s.columns for name in self.provides)]
        made = iter(self.columns(lacking))
        return [
            s if all(name in s.columns for name in self.provides) else s.with_columns(next(made)) for s in sentences
        ]

    def fit(self, sentences: Sequence[Sentence]) -> tuple[Annotator, list[Sentence]]:
        """Return the annotator to be used from now on, and the training sentences with their columns."""
        return self, self.annotate(sentences)
