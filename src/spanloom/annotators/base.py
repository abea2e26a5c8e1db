"""Annotator: makes token columns that the data do not have."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy.typing as npt

from spanloom.base.errors import ParameterError
from spanloom.corpus import Document, Sentence
from spanloom.corpus.columns import missing_column
from spanloom.corpus.document import map_sentences

Arrays = dict[str, npt.NDArray[Any]]
Columns = dict[str, list[str]]
"""Columns of a sentence by name: a value for each token."""

Listener = Callable[[Any], None]
"""Called with every iteration of training, see ``spanloom.learning.Listener``."""

ANNOTATOR_CLASSES: dict[str, type[Annotator]] = {}
"""Every class of annotators by its name in model files: ours, and yours from where they are defined."""


class Recognizes(Protocol):
    """What annotators need of a recogniser."""

    threads: int | None

    @property
    def makes(self) -> str | None:
        """The column that it makes; None if it finds mentions."""

    def fit(self, corpus: Any, *, listener: Listener | None = None) -> Any:
        """Learn from documents."""

    def predict(self, corpus: Any) -> Any:
        """Return the documents with what was found."""

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return arrays and JSON for a model file."""


OpenModel = Callable[..., Any]
"""Opens a recogniser: ``Recognizer.load`` for a path, ``Recognizer.from_state`` for what a model file holds of one."""


class Annotator:
    """Makes columns of tokens: parts of speech, lemmas, trees, dictionary hits.

    A recogniser runs its annotators before training and before tagging. Columns that a sentence has already are left as
    they are. A subclass sets ``kind`` and ``provides`` and defines ``columns``; one that has settings defines ``state``
    too; one that needs whole documents defines ``annotate`` instead of ``columns``.

    Attributes
    ----------
    kind
        Its name in a model file, by which the class is found again: it must be defined before the model is loaded.
    provides
        The columns that it makes.
    requires
        The columns that it reads, besides the words.
    templates
        Features over its columns that a recogniser adds to its own.
    asks
        Whether it asks a recogniser with the features so far; columns that these read are made before.

    Examples
    --------
    >>> class Letters(Annotator):
    ...     kind = "letters"
    ...     provides = ("length",)
    ...
    ...     def columns(self, sentences):
    ...         return [{"length": [str(len(token)) for token in s.tokens]} for s in sentences]
    >>> Letters().annotate([Document([Sentence(["IL-2", "gene"])])])[0].sentences[0].columns
    {'length': ['4', '4']}
    """

    kind: ClassVar[str]
    provides: tuple[str, ...]
    requires: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    asks: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" not in vars(cls):
            return
        known = ANNOTATOR_CLASSES.get(cls.kind)
        if known is not None and _place(known) != _place(cls):  # a cell of a notebook may define it again
            raise ParameterError(
                f"the annotators {_place(known)} and {_place(cls)} both have the kind {cls.kind!r}; a model file could "
                "not tell them apart: choose another kind"
            )
        ANNOTATOR_CLASSES[cls.kind] = cls

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        """Return the columns of each sentence."""
        raise ParameterError(f"the annotator {type(self).__name__} defines neither columns nor annotate")

    def annotate(self, documents: Sequence[Document]) -> list[Document]:
        """Return the documents with the columns that their sentences lack."""
        return map_sentences(self._complete, documents)

    def _complete(self, sentences: list[Sentence]) -> list[Sentence]:
        self.check_required(sentences)
        lacking = [i for i, s in enumerate(sentences) if self.is_lacking(s)]
        for i, made in zip(lacking, self.columns([sentences[i] for i in lacking]), strict=True):
            sentences[i] = with_missing(sentences[i], made)
        return sentences

    def is_lacking(self, sentence: Sentence) -> bool:
        """Whether a sentence lacks one of the columns that it makes."""
        return not all(name in sentence.columns for name in self.provides)

    def check_required(self, sentences: Iterable[Sentence], given: Container[str] = ()) -> None:
        """Raise ``CorpusError`` if one of the sentences lacks a required column that is not ``given``.

        Sentences that have all columns that it makes need nothing.
        """
        required = [name for name in self.requires if name not in given]
        for number, sentence in enumerate(sentences if required else ()):
            missing = next((name for name in required if name not in sentence.columns), None)
            if missing is not None and self.is_lacking(sentence):
                what = "columns" if len(self.provides) > 1 else "column"
                need = "need" if len(self.provides) > 1 else "needs"
                reader = f"the {what} {' and '.join(self.provides)} {need}"
                raise missing_column(missing, sentence, number, reader)

    def fit(self, documents: Sequence[Document], fitting: Fitting | None = None) -> tuple[Annotator, list[Document]]:
        """Return the annotator to be used from now on, and the training documents with its columns."""
        return self, self.annotate(documents)

    def on_demand(self) -> Sequence[Annotator]:
        """Return annotators of columns that it makes only where features or the model read them."""
        return ()

    def use_threads(self, threads: int | None) -> None:
        """Set the number of threads of its recognisers; None for all cores."""

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Return arrays and JSON from which ``from_state`` can make an equal annotator."""
        return {}, {}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> Annotator:
        """Undo ``state``. By default what it returned are the arguments of the class by name."""
        return cls(**arrays, **header)

    @classmethod
    def restored(
        cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any], open_model: OpenModel | None
    ) -> Annotator:
        """Undo ``state`` with a function that opens recognisers; only annotators that ask one need it."""
        return cls.from_state(arrays, header)


@dataclass(frozen=True)
class Fitting:
    """What annotators may know of the recogniser that is being trained.

    Attributes
    ----------
    recognizer
        Makes one like it that has learned nothing, without annotators: called with the most iterations that it may
        make, and with templates that are added to its features.
    listener
        Hears of every iteration.
    wanted
        The columns that its features and its model read.
    templates
        Those of the annotators before this one; the pipeline fills them in.
    """

    recognizer: Callable[[int, tuple[str, ...]], Recognizes]
    listener: Listener | None = None
    wanted: Sequence[str] = ()
    templates: tuple[str, ...] = ()


def with_missing(sentence: Sentence, made: Mapping[str, list[str]]) -> Sentence:
    """Return a sentence with those of the columns that it lacks.

    Examples
    --------
    >>> with_missing(Sentence(["a"], columns={"pos": ["DT"]}), {"pos": ["X"], "lemma": ["a"]}).columns
    {'pos': ['DT'], 'lemma': ['a']}
    """
    more = {name: values for name, values in made.items() if name not in sentence.columns}
    return sentence.with_columns(more) if more else sentence


def opened(open_model: OpenModel | None, *what: Any) -> Recognizes:
    """Open a recogniser with a function that was passed in, or say that none was."""
    if open_model is None:
        raise ParameterError(
            "an annotator asks a recogniser, and there is no function that opens one; pass open_model=Recognizer.load, "
            "or Recognizer.from_state for what a model file holds"
        )
    made: Recognizes = open_model(*what)
    return made


def _place(kind: type[Annotator]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
