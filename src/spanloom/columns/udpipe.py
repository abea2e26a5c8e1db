"""Parts of speech and lemmas from UDPipe (Straka & Straková 2017), through the package ``ufal.udpipe``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.columns.base import Annotator, Arrays
from spanloom.corpus import Sentence
from spanloom.errors import CorpusError, ModelFileError
from spanloom.files import whole_file
from spanloom.parsers.udpipe import load_udpipe, quiet

COLUMNS = {"pos": "xpostag", "upos": "upostag", "lemma": "lemma"}
"""Our names and UDPipe's."""


class UDPipeColumns(Annotator):
    """Makes ``pos``, ``upos`` and ``lemma`` by a UDPipe model.

    Parameters
    ----------
    model
        The path of a model, or its bytes. They become part of the model file of whoever uses it.
    """

    kind = "udpipe"
    provides = tuple(COLUMNS)

    def __init__(self, model: str | os.PathLike[str] | bytes) -> None:
        udpipe = load_udpipe()
        if isinstance(model, bytes):
            self._bytes = model
        else:
            try:
                self._bytes = Path(model).read_bytes()
            except OSError as error:
                raise CorpusError(f"{model}: the UDPipe model cannot be read: {error.strerror}") from None
        self._model = _load(udpipe, self._bytes)

    def columns(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        udpipe = load_udpipe()
        made = []
        for sentence in sentences:
            words = udpipe.Sentence()
            for token in sentence.tokens:
                words.addWord(token)
            self._model.tag(words, self._model.DEFAULT)
            tagged = [words.words[i + 1] for i in range(len(sentence))]
            made.append({name: [getattr(w, field) or "_" for w in tagged] for name, field in COLUMNS.items()})
        return made

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return {"udpipe": np.frombuffer(self._bytes, np.uint8)}, {}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> UDPipeColumns:
        """Undo ``state``."""
        return cls(arrays["udpipe"].tobytes())


def train_udpipe_tagger(sentences: Iterable[Sentence], path: str | os.PathLike[str], iterations: int = 10) -> None:
    """Train a UDPipe tagger and lemmatiser and write its model.

    Parameters
    ----------
    sentences
        With the columns ``upos``, ``xpos`` (or ``pos``) and ``lemma``, as CoNLL-U has them.
    path
        Where the model goes.
    iterations
        Of UDPipe's perceptron.
    """
    udpipe = load_udpipe()
    training = udpipe.Sentences()
    for number, sentence in enumerate(sentences):
        columns = sentence.columns
        pos = columns.get("xpos", columns.get("pos"))
        if pos is None or "lemma" not in columns:
            raise CorpusError(f"sentence {number} lacks xpos or lemma; it has: word, {', '.join(columns)}")
        words = udpipe.Sentence()
        for i, token in enumerate(sentence.tokens):
            word = words.addWord(token)
            word.xpostag, word.lemma = pos[i], columns["lemma"][i]
            word.upostag = columns["upos"][i] if "upos" in columns else pos[i]
        training.append(words)
    error = udpipe.ProcessingError()
    options = f"models=1;iterations={iterations}"
    with quiet():
        model = udpipe.Trainer.train("morphodita_parsito", training, udpipe.Sentences(), "none", options, "none", error)
    if error.occurred():
        raise CorpusError(f"UDPipe cannot be trained on this corpus: {error.message}")
    with whole_file(path, "wb") as out:
        out.write(model)


def _load(udpipe: Any, data: bytes) -> Any:
    # The package reads models from files only.
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        model = udpipe.Model.load(file.name)
    if model is None:
        raise ModelFileError("this is no UDPipe model")
    return model
