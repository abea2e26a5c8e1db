"""Columns from a recogniser of ours that was trained with ``target``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from spanloom.annotators.base import Annotator, Arrays
from spanloom.base.errors import ParameterError
from spanloom.corpus import Sentence

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer


class ModelColumns(Annotator):
    """Makes the column that a recogniser has learned.

    Parameters
    ----------
    recognizer
        One that was fitted with ``target``, e.g. ``Recognizer(target="pos").fit(corpus)``; or the path of its file.
        It becomes part of the model file of whoever uses it.
    """

    kind = "model"

    def __init__(self, recognizer: Recognizer | str | os.PathLike[str]) -> None:
        from spanloom.recognizer import Recognizer

        self.recognizer = recognizer if isinstance(recognizer, Recognizer) else Recognizer.load(recognizer)
        if self.recognizer.target is None:
            raise ParameterError(
                "a recogniser of mentions makes no column; train one with target, e.g. spanloom train --target pos"
            )
        self.provides = (self.recognizer.target,)

    @property
    def recognizers(self) -> tuple[Recognizer, ...]:
        return (self.recognizer,)

    def columns(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        name = self.provides[0]
        return [{name: s.columns[name]} for s in self.recognizer.predict(sentences)]

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return self.recognizer.state()

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> ModelColumns:
        """Undo ``state``."""
        from spanloom.recognizer import Recognizer

        return cls(Recognizer.from_state(arrays, header))
