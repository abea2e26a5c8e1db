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
from spanloom.corpus.extras import need
from spanloom.errors import CorpusError, ModelFileError
from spanloom.files import whole_file

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
        udpipe = _package()
        if isinstance(model, bytes):
            self._bytes = model
        else:
            try:
                self._bytes = Path(model).read_bytes()
            except OSError as error:
                raise CorpusError(f"{model}: the UDPipe model cannot be read: {error.strerror}") from None
        self._model = _load(udpipe, self._bytes)

    def columns(self, sentences: Sequence[Sentence]) -> list[dict[str, list[str]]]:
        udpipe = _package()
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


def train_udpipe(sentences: Iterable[Sentence], path: str | os.PathLike[str], iterations: int = 10) -> None:
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
    udpipe = _package()
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
    model = udpipe.Trainer.train(
        "morphodita_parsito", training, udpipe.Sentences(), "none", f"models=1;iterations={iterations}", "none", error
    )
    if error.occurred():
        raise CorpusError(f"UDPipe cannot be trained on this corpus: {error.message}")
    with whole_file(path, "wb") as out:
        out.write(model)


def _package() -> Any:
    return need("ufal.udpipe", "udpipe")


def _load(udpipe: Any, data: bytes) -> Any:
    # The package reads models from files only.
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        model = udpipe.Model.load(file.name)
    if model is None:
        raise ModelFileError("this is no UDPipe model")
    return model
