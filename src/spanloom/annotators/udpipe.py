"""UDPipe 1 (Straka & Straková 2017) through the package ``ufal.udpipe``: tags, lemmas and trees from one model file."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.annotators.base import Annotator, Arrays, Columns
from spanloom.annotators.cache import Cache, remembered
from spanloom.annotators.trees import Parser, Trees
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.extras import need
from spanloom.corpus import Sentence

COLUMNS = {"pos": "xpostag", "upos": "upostag", "lemma": "lemma"}
"""Our names and UDPipe's."""
NOTHING = "_"
PROBE = Sentence(["The", "genes", "were", "Spanloom"])
"""A model says only by its work which columns it makes. Tags of numbers and punctuation may come from a fixed rule."""


def load_udpipe() -> Any:
    """Import the library, or say how to get it."""
    return need("ufal.udpipe", "udpipe")


class UDPipe(Annotator, Parser):
    """Makes those of ``pos``, ``upos`` and ``lemma`` that a model has learned, and trees where they are wanted.

    For trees it reads ``upos`` and ``pos`` if sentences have them; otherwise the model must have a tagger.

    Parameters
    ----------
    model
        The path of a model, or its bytes. They become part of the model file of whoever uses it.
    cache
        A folder that keeps columns by the content of the sentence and of the model, so that nothing is made twice.

    Attributes
    ----------
    parses
        Whether the model makes trees.
    """

    kind = "udpipe"
    reads = ("upos", "pos")

    def __init__(self, model: str | os.PathLike[str] | bytes, cache: str | os.PathLike[str] | None = None) -> None:
        where = "" if isinstance(model, bytes) else f"{os.fspath(model)}: "
        self._bytes = model if isinstance(model, bytes) else _read(model)
        self._library = load_udpipe()
        self._model = _open(self._bytes, where)
        content = hashlib.sha256(self._bytes).hexdigest()
        self.identity = f"udpipe:{content}"
        tried = self._tag(PROBE)
        self.provides = tuple(column for column in COLUMNS if set(tried[column]) != {NOTHING})
        tagged = fill(self._library.Sentence(), PROBE.with_columns({"pos": [NOTHING] * len(PROBE)}))
        self.parses = bool(self._model.parse(tagged, self._model.DEFAULT, self._library.ProcessingError()))
        if not self.provides and not self.parses:
            raise ParameterError(
                f"{where}this UDPipe model has neither a tagger nor a parser, so that it makes no column; train one, "
                "see spanloom parser train"
            )
        self._cache = None if cache is None else Cache(Path(cache), f"udpipe columns:{content}", ())
        self._trees = (Trees.cached(self, cache),) if self.parses else ()

    def columns(self, sentences: Sequence[Sentence]) -> list[Columns]:
        return remembered(sentences, self._make, self._cache)

    def _make(self, sentences: Sequence[Sentence]) -> list[Columns]:
        return [{name: made[name] for name in self.provides} for made in map(self._tag, sentences)]

    def _tag(self, sentence: Sentence) -> Columns:
        words = self._library.Sentence()
        for token in sentence.tokens:
            words.addWord(token)
        self._model.tag(words, self._model.DEFAULT)
        tagged = list(words.words)[1:]
        return {name: [getattr(word, field) or NOTHING for word in tagged] for name, field in COLUMNS.items()}

    def on_demand(self) -> Sequence[Annotator]:
        return self._trees

    def parse(self, sentences: Sequence[Sentence]) -> list[Columns]:
        error = self._library.ProcessingError()
        return [self._parse(sentence, number, error) for number, sentence in enumerate(sentences)]

    def _parse(self, sentence: Sentence, number: int, error: Any) -> Columns:
        tagged = "upos" in sentence.columns or "pos" in sentence.columns
        words = fill(self._library.Sentence(), sentence)
        if not tagged and not self._model.tag(words, self._model.DEFAULT, error):
            raise CorpusError(
                f"sentence {number} has no column 'pos', and the parser cannot tag: {error.message} Give sentences "
                "with parts of speech, or train the parser with a tagger."
            )
        if not self._model.parse(words, self._model.DEFAULT, error):
            raise CorpusError(f"sentence {number} cannot be parsed: {error.message}")
        found = list(words.words)[1:]
        tree = {"head": [str(w.head) for w in found], "deprel": [w.deprel for w in found]}
        if not tagged:
            tree["upos"] = [w.upostag for w in found]
            tree["pos"] = [w.xpostag or w.upostag for w in found]
        return tree

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        return {"udpipe": np.frombuffer(self._bytes, np.uint8)}, {}

    @classmethod
    def from_state(cls, arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> UDPipe:
        """Undo ``state``."""
        return cls(arrays["udpipe"].tobytes())


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ParameterError(f"{path}: the UDPipe model cannot be read: {error.strerror}") from None


def _open(content: bytes, where: str) -> Any:
    """Return the model that a file holds."""
    with tempfile.NamedTemporaryFile() as file:  # the library reads models from files only
        file.write(content)
        file.flush()
        model = load_udpipe().Model.load(file.name)
    if model is None:
        raise ParameterError(f"{where}this is not a UDPipe model")
    return model


def fill(words: Any, sentence: Sentence) -> Any:
    """Give UDPipe's sentence our tokens and, where there are any, our parts of speech."""
    upos = sentence.columns.get("upos") or sentence.columns.get("pos")
    xpos = sentence.columns.get("pos") or sentence.columns.get("upos")
    for i, token in enumerate(sentence.tokens):
        word = words.addWord(token)
        if upos is not None and xpos is not None:
            word.upostag, word.xpostag = upos[i], xpos[i]
    return words
