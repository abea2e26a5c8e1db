"""UDPipe 1 (Straka & Straková 2017) through ``ufal.udpipe``: trainable on a CoNLL-U corpus, small, on the CPU."""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spanloom.corpus.document import Sentence
from spanloom.corpus.trees import heads_of
from spanloom.errors import CorpusError, ParameterError
from spanloom.parsers.base import Parser
from spanloom.parsers.cache import Tree

PARSER_OPTIONS = {
    "transition_system": "swap",  # non-projective trees, too
    "transition_oracle": "static_lazy",
    "embedding_form": 50,
    "embedding_upostag": 20,
    "embedding_xpostag": 20,
    "embedding_feats": 0,
    "embedding_deprel": 20,
    "hidden_layer": 200,
    "batch_size": 10,
    "learning_rate": 0.02,
    "learning_rate_final": 0.001,
    "l2": 0.5,
    "iterations": 10,
    "single_root": 1,
}


def load_udpipe() -> Any:
    """Import the library, or say how to get it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its SWIG types warn at import
            import ufal.udpipe
    except ImportError:
        raise ParameterError(
            "UDPipe is not installed; `pip install spanloom[udpipe]` brings it, or choose another parser"
        ) from None
    return ufal.udpipe


class UDPipeParser(Parser):
    """A UDPipe model file, from ``train_udpipe`` or elsewhere.

    Reads the columns ``upos`` and ``pos`` if sentences have them; otherwise the model must have a tagger, and the
    columns are made.
    """

    reads = ("upos", "pos")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._library = load_udpipe()
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise ParameterError(f"{path}: the parser cannot be read: {error.strerror}") from None
        self._model = self._library.Model.load(str(path))
        if self._model is None:
            raise ParameterError(f"{path}: this is not a UDPipe model")
        self.identity = f"udpipe:{hashlib.sha256(content).hexdigest()}"

    def parse(self, sentences: Sequence[Sentence]) -> list[Tree]:
        error = self._library.ProcessingError()
        return [self._parse(sentence, number, error) for number, sentence in enumerate(sentences)]

    def _parse(self, sentence: Sentence, number: int, error: Any) -> Tree:
        tagged = "upos" in sentence.columns or "pos" in sentence.columns
        words = _fill(self._library.Sentence(), sentence)
        default = self._library.Model.DEFAULT
        if not tagged and not self._model.tag(words, default, error):
            raise CorpusError(
                f"sentence {number} has no column 'pos', and the parser cannot tag: {error.message} Give sentences "
                "with parts of speech, or train the parser with a tagger."
            )
        if not self._model.parse(words, default, error):
            raise CorpusError(f"sentence {number} cannot be parsed: {error.message}")
        found = list(words.words)[1:]
        tree = {"head": [str(w.head) for w in found], "deprel": [w.deprel for w in found]}
        if not tagged:
            tree["upos"] = [w.upostag for w in found]
            tree["pos"] = [w.xpostag or w.upostag for w in found]
        return tree


def train_udpipe(
    sentences: Sequence[Sentence],
    path: str | os.PathLike[str],
    *,
    heldout: Sequence[Sentence] = (),
    tagger: bool = False,
    **options: int | float | str,
) -> UDPipeParser:
    """Learn a parser from sentences with trees, write it to a file, and return it.

    Parameters
    ----------
    sentences
        With the columns ``head`` and ``deprel``, and ``upos`` or ``pos``.
    path
        Where the model goes.
    heldout
        For early stopping, with ``early_stopping=1``.
    tagger
        Also learn to tag, for text without parts of speech.
    **options
        Of UDPipe's parser, instead of those in ``PARSER_OPTIONS``; e.g. ``iterations=3``.
    """
    library = load_udpipe()
    train = library.Sentences()
    for number, sentence in enumerate(sentences):
        if len(sentence):
            train.append(_with_tree(library, sentence, number))
    if not len(train):
        raise CorpusError("there is nothing to learn from: no sentence has a token")
    watch = library.Sentences()
    for number, sentence in enumerate(heldout):
        watch.append(_with_tree(library, sentence, number))
    settings = ";".join(f"{name}={value}" for name, value in {**PARSER_OPTIONS, **options}.items())
    error = library.ProcessingError()
    none = library.Trainer.NONE
    tagging = "models=1;use_lemma=0;provide_lemma=0;use_feats=0;provide_feats=0" if tagger else none
    with quiet():
        model = library.Trainer.train("morphodita_parsito", train, watch, none, tagging, settings, error)
    if error.occurred() or not model:
        raise ParameterError(f"UDPipe cannot learn from these {len(train)} sentences: {error.message}")
    Path(path).write_bytes(model)
    return UDPipeParser(path)


def _fill(words: Any, sentence: Sentence) -> Any:
    upos = sentence.columns.get("upos") or sentence.columns.get("pos")
    xpos = sentence.columns.get("pos") or sentence.columns.get("upos")
    for i, token in enumerate(sentence.tokens):
        word = words.addWord(token)
        if upos is not None and xpos is not None:
            word.upostag, word.xpostag = upos[i], xpos[i]
    return words


def _with_tree(library: Any, sentence: Sentence, number: int) -> Any:
    heads = heads_of(sentence, number).tolist()
    if "deprel" not in sentence.columns:
        raise CorpusError(f"sentence {number} has no column 'deprel'; a parser learns from labelled trees")
    words = _fill(library.Sentence(), sentence)
    for i, (head, label) in enumerate(zip(heads, sentence.columns["deprel"], strict=True), 1):
        words.setHead(i, head, label)
    return words


@contextmanager
def quiet() -> Iterator[None]:
    """Let native code write its progress to nowhere."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
