"""Annotator: makes token columns that the data do not have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from spanloom.base.errors import ParameterError
from spanloom.corpus import Sentence

if TYPE_CHECKING:
    from spanloom.learning import Listener
    from spanloom.recognizer import Recognizer

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
    looks
        Whether it has a recogniser that looks at trees, which are made before then.

    Examples
    --------
    >>> class Letters(Annotator):
    ...     kind = "letters"
    ...     provides = ("length",)
    ...
    ...     def columns(self, sentences):
    ...         return [{"length": [str(len(token)) for token in s.tokens]} for s in sentences]
    >>> Letters().annotate([Sentence(["IL-2", "gene"])])[0].columns
    {'length': ['4', '4']}
    """

    kind: ClassVar[str]
    provides: tuple[str, ...]
    templates: tuple[str, ...] = ()
    looks: ClassVar[bool] = False

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

    @property
    def recognizers(self) -> tuple[Recognizer, ...]:
        """Those that it asks: they work with as many threads as the recogniser that uses the annotator."""
        return ()

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

    def annotate(self, sentences: Sequence[Sentence], sizes: Sequence[int] | None = None) -> list[Sentence]:
        """Return the sentences with the columns that they lack.

        ``sizes`` says how many sentences each document has, for annotators that look at whole ones; without it, every
        sentence stands alone.
        """
        lacking = [i for i, s in enumerate(sentences) if not all(name in s.columns for name in self.provides)]
        done = list(sentences)
        for i, made in zip(lacking, self.columns([done[i] for i in lacking]), strict=True):
            done[i] = done[i].with_columns({name: made[name] for name in made if name not in done[i].columns})
        return done

    def fit(self, sentences: Sequence[Sentence], fitting: Fitting | None = None) -> tuple[Annotator, list[Sentence]]:
        """Return the annotator to be used from now on, and the training sentences with their columns."""
        return self, self.annotate(sentences, None if fitting is None else fitting.sizes)


@dataclass(frozen=True)
class Fitting:
    """What an annotator may know of the recogniser that is being trained.

    Attributes
    ----------
    sizes
        How many sentences each training document has.
    recognizer
        Makes one like it that has learned nothing yet, with the features so far and without annotators; it makes at
        most the given number of iterations.
    listener
        Hears of every iteration.
    """

    sizes: Sequence[int]
    recognizer: Callable[[int], Recognizer]
    listener: Listener | None = None


def _place(kind: type[Annotator]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
