"""Columns from a recogniser of ours whose model is a tagger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

from spanloom.annotators.base import Annotator, Arrays, OpenModel, Recognizes, opened, with_missing
from spanloom.base.errors import ParameterError
from spanloom.corpus import Document


class ModelColumns(Annotator):
    """Makes the column that a recogniser has learned.

    Parameters
    ----------
    recognizer
        A tagger, e.g. ``Recognizer(Tagger("pos")).fit(corpus)`` or
        ``Recognizer.load("pos.loom")``. It becomes part of the model file of whoever uses it.
    """

    kind = "model"

    def __init__(self, recognizer: Recognizes) -> None:
        if not hasattr(recognizer, "predict"):
            raise ParameterError(
                f"ModelColumns takes a recogniser, got {recognizer!r:.80}; open a file with Recognizer.load"
            )
        if recognizer.makes is None:
            raise ParameterError(
                "a recogniser of mentions makes no column; train a tagger, e.g. spanloom train --target pos"
            )
        self.recognizer = recognizer
        self.provides = (recognizer.makes,)

    def annotate(self, documents: Sequence[Document]) -> list[Document]:
        done = list(documents)
        lacking = [i for i, document in enumerate(done) if any(map(self.is_lacking, document))]
        for i, found in zip(lacking, self.recognizer.predict([done[i] for i in lacking]), strict=True):
            pairs = zip(done[i].sentences, found.sentences, strict=True)
            name = self.provides[0]
            done[i] = done[i].with_sentences([with_missing(old, {name: new.columns[name]}) for old, new in pairs])
        return done

    def use_threads(self, threads: int | None) -> None:
        self.recognizer.threads = threads

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return self.recognizer.state()

    @classmethod
    def restored(
        cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any], open_model: OpenModel | None
    ) -> ModelColumns:
        """Undo ``state``."""
        return cls(opened(open_model, arrays, header))
