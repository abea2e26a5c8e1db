"""Parts of speech and lemmas from UDPipe (Straka & Straková 2017), through the package ``ufal.udpipe``."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.annotators.base import Annotator, Arrays
from spanloom.annotators.parsers.cache import Cache, remembered
from spanloom.annotators.parsers.udpipe import load_udpipe, open_udpipe, read_udpipe
from spanloom.base.errors import ParameterError
from spanloom.corpus import Sentence

COLUMNS = {"pos": "xpostag", "upos": "upostag", "lemma": "lemma"}
"""Our names and UDPipe's."""
NOTHING = "_"
PROBE = Sentence(["The", "genes", "were", "Spanloom"])
"""A model says only by its work which columns it makes. Tags of numbers and punctuation may come from a fixed rule."""


class UDPipeColumns(Annotator):
    """Makes those of ``pos``, ``upos`` and ``lemma`` that a UDPipe model has learned.

    Parameters
    ----------
    model
        The path of a model, or its bytes. They become part of the model file of whoever uses it.
    cache
        A folder that keeps columns by the content of the sentence and of the model, so that nothing is tagged twice.
    """

    kind = "udpipe"

    def __init__(self, model: str | os.PathLike[str] | bytes, cache: str | os.PathLike[str] | None = None) -> None:
        name = "" if isinstance(model, bytes) else model
        self._bytes = model if isinstance(model, bytes) else read_udpipe(model)
        self._model = open_udpipe(self._bytes, name)
        tried = self._tag(PROBE)
        self.provides = tuple(column for column in COLUMNS if set(tried[column]) != {NOTHING})
        if not self.provides:
            where = f"{name}: " if name else ""
            raise ParameterError(
                f"{where}this UDPipe model has no tagger, so that it makes no column; train one with a tagger, see "
                "spanloom parser train"
            )
        identity = f"udpipe columns:{hashlib.sha256(self._bytes).hexdigest()}"
        self._cache = None if cache is None else Cache(Path(cache), identity, ())

    def columns(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        return remembered(sentences, self._make, self._cache)

    def _make(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        return [{name: made[name] for name in self.provides} for made in map(self._tag, sentences)]

    def _tag(self, sentence: Sentence) -> dict[str, list[str]]:
        words = load_udpipe().Sentence()
        for token in sentence.tokens:
            words.addWord(token)
        self._model.tag(words, self._model.DEFAULT)
        tagged = list(words.words)[1:]
        return {name: [getattr(word, field) or NOTHING for word in tagged] for name, field in COLUMNS.items()}

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return {"udpipe": np.frombuffer(self._bytes, np.uint8)}, {}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> UDPipeColumns:
        """Undo ``state``."""
        return cls(arrays["udpipe"].tobytes())
