"""Annotator: makes token columns that the data do not have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy.typing as npt

from spanloom.corpus import Sentence
from spanloom.errors import ParameterError

Arrays = dict[str, npt.NDArray[Any]]


KINDS: dict[str, type[Annotator]] = {}
"""Every class of annotators by its name in model files: ours, and yours from where they are defined."""


class Annotator(ABC):
    """Makes columns of tokens: parts of speech, lemmas, dictionary hits.

    A recogniser runs its annotators before training and before tagging. Columns that a sentence has already are left as
    they are. A subclass of yours sets ``kind`` and ``provides`` and defines ``columns``; one that has settings defines
    ``state`` too.

    Attributes
    ----------
    kind
        Its name in a model file, by which the class is found again: it must be defined before the model is loaded.
    provides
        The columns that it makes.
    templates
        Features over them that a recogniser adds to its own, if the annotator is no use without.

    Examples
    --------
    >>> class Lengths(Annotator):
    ...     kind = "lengths"
    ...     provides = ("length",)
    ...
    ...     def columns(self, sentences):
    ...         return [{"length": [str(len(token)) for token in s.tokens]} for s in sentences]
    >>> Lengths().annotate([Sentence(["IL-2", "gene"])])[0].columns
    {'length': ['4', '4']}
    """

    kind: ClassVar[str]
    provides: tuple[str, ...]
    templates: tuple[str, ...] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" not in vars(cls):
            return
        known = KINDS.get(cls.kind)
        if known is not None and _place(known) != _place(cls):  # a cell of a notebook may define it again
            raise ParameterError(
                f"the annotators {_place(known)} and {_place(cls)} both have the kind {cls.kind!r}; a model file could "
                "not tell them apart: choose another kind"
            )
        KINDS[cls.kind] = cls

    @abstractmethod
    def columns(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        """Return the columns of each sentence."""

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return arrays and JSON from which ``from_state`` can make an equal annotator."""
        return {}, {}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> Annotator:
        """Undo ``state``; without more ado, what it returned are the arguments of the class by name."""
        return cls(**arrays, **header)

    def annotate(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return the sentences with the columns that they lack."""
        lacking = [i for i, s in enumerate(sentences) if not all(name in s.columns for name in self.provides)]
        done = list(sentences)
        for i, made in zip(lacking, self.columns([done[i] for i in lacking]), strict=True):
            done[i] = done[i].with_columns({name: made[name] for name in made if name not in done[i].columns})
        return done

    def fit(self, sentences: Sequence[Sentence]) -> tuple[Annotator, list[Sentence]]:
        """Return the annotator to be used from now on, and the training sentences with their columns."""
        return self, self.annotate(sentences)


def _place(kind: type[Annotator]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
