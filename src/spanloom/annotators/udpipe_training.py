"""Training of UDPipe models: taggers, lemmatisers and parsers from a CoNLL-U corpus, small, on the CPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from spanloom.annotators.udpipe import UDPipe, fill, load_udpipe
from spanloom.base.errors import CorpusError, ParameterError
from spanloom.base.files import whole_file
from spanloom.base.parameters import check_count
from spanloom.corpus import Sentence
from spanloom.corpus.columns import missing_column
from spanloom.corpus.trees import cycle_in, heads_of

Options = Mapping[str, int | float | str]
PARSER_OPTIONS: Options = {
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


def train_udpipe(
    sentences: Iterable[Sentence],
    path: str | os.PathLike[str],
    *,
    heldout: Sequence[Sentence] = (),
    tagger: bool = False,
    **options: int | float | str,
) -> UDPipe:
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
        Also learn what ``train_udpipe_tagger`` does, for text without parts of speech.
    **options
        Of UDPipe's parser, instead of those in ``PARSER_OPTIONS``; e.g. ``iterations=3``.
    """
    parsing = {**PARSER_OPTIONS, **options}
    check_count("iterations", parsing["iterations"])
    tagging = {"iterations": parsing["iterations"]} if tagger else None
    _train(list(sentences), path, heldout, tagging, parsing)
    return UDPipe(path)


def train_udpipe_tagger(sentences: Iterable[Sentence], path: str | os.PathLike[str], *, iterations: int = 10) -> None:
    """Learn to tag, and to find lemmas if the sentences have any, and write a model; it has no parser.

    Parameters
    ----------
    sentences
        With the columns ``upos`` or ``pos``, which is taken for both if the other is missing; and ``lemma``, if lemmas
        are to be learned. As in CoNLL-U, a ``_`` stands for nothing.
    path
        Where the model goes.
    iterations
        Of UDPipe's perceptron.
    """
    check_count("iterations", iterations)
    _train(list(sentences), path, (), {"iterations": iterations}, None)


def _train(
    sentences: Sequence[Sentence],
    path: str | os.PathLike[str],
    heldout: Sequence[Sentence],
    tagging: Options | None,
    parsing: Options | None,
) -> None:
    """Train a tagger, a parser or both with these options of UDPipe, and write the model."""
    library = load_udpipe()
    used = [(number, sentence) for number, sentence in enumerate(sentences) if len(sentence)]
    if not used:
        raise CorpusError("there is nothing to learn from: no sentence has a token")
    if tagging is not None:
        lemmas = int(any(value != "_" for _, s in used for value in s.columns.get("lemma", ())))
        fixed = {"models": 1, "use_lemma": lemmas, "provide_lemma": lemmas, "use_feats": 0, "provide_feats": 0}
        tagging = {**fixed, **tagging}
    train, watch = library.Sentences(), library.Sentences()
    for into, numbered in ((train, used), (watch, enumerate(heldout))):
        for number, sentence in numbered:
            into.append(_example(library, sentence, number, tagging is not None, parsing is not None))
    error = library.ProcessingError()
    settings = [_written(library, options) for options in (None, tagging, parsing)]  # no tokenizer
    with quiet():
        model = library.Trainer.train("morphodita_parsito", train, watch, *settings, error)
    if error.occurred() or not model:
        raise ParameterError(f"UDPipe cannot learn from these {len(train)} sentences: {error.message}")
    with whole_file(path, "wb") as out:
        out.write(model)


def _written(library: Any, options: Options | None) -> str:
    """Return options as UDPipe reads them."""
    if options is None:
        return str(library.Trainer.NONE)
    return ";".join(f"{name}={value}" for name, value in options.items())


def _example(library: Any, sentence: Sentence, number: int, tagged: bool, parsed: bool) -> Any:
    """Return a sentence with what is to be learned from it."""
    columns = sentence.columns
    if tagged and "upos" not in columns and "pos" not in columns:
        raise missing_column("pos", sentence, number, "a tagger learns", remedy="Add 'pos' or 'upos' to the data.")
    words = _with_tree(library, sentence, number) if parsed else fill(library.Sentence(), sentence)
    for i, lemma in enumerate(columns.get("lemma", ()) if tagged else (), 1):
        words.words[i].lemma = lemma
    return words


def _with_tree(library: Any, sentence: Sentence, number: int) -> Any:
    heads = heads_of(sentence, number).tolist()
    if "deprel" not in sentence.columns:
        raise missing_column("deprel", sentence, number, "a parser learns from labelled trees and reads")
    cycle = cycle_in(heads)
    if cycle:
        raise CorpusError(f"sentence {number} has no tree: the heads of the tokens {cycle} (from 1) lead in a circle")
    words = fill(library.Sentence(), sentence)
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
