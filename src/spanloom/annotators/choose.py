"""Annotators by what users write, and from model files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt

from spanloom.annotators.base import KINDS, Annotator
from spanloom.annotators.chunks import ChunkColumns
from spanloom.annotators.document_context import Elsewhere
from spanloom.annotators.lexicon import InducedLexicon, Lexicon
from spanloom.annotators.model import ModelColumns
from spanloom.annotators.phrases import PhraseColumns
from spanloom.annotators.spacy import SpacyColumns
from spanloom.annotators.udpipe import UDPipeColumns
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.parameters import part_option


def annotator(given: str | Annotator) -> Annotator:
    """Return an annotator by its reference.

    ``pos.loom`` is a recogniser that was trained with ``target``; ``udpipe:FILE`` a UDPipe model, ``?cache=FOLDER``
    keeps what it makes; ``spacy:NAME`` a spaCy pipeline; ``lexicon:NAME=FILE`` a list of names; ``induced`` one that is
    made of the training data, both with ``?normalise=lower,squeezed`` if need be; ``chunks`` makes features of a column
    ``chunk``, ``phrases`` of a column ``pos``; ``elsewhere`` says what was found elsewhere in the document at a first
    look. An annotator stays what it is.
    """
    if isinstance(given, Annotator):
        return _checked(given)
    if not isinstance(given, str):
        raise ParameterError(f"an annotator is one, or a reference such as 'pos.loom' or 'udpipe:FILE', got {given!r}")
    for plain in (ChunkColumns, PhraseColumns, Elsewhere):
        if given == plain.kind:
            return plain()
    if given.partition("?")[0] == InducedLexicon.kind:
        return InducedLexicon(**_normalise(part_option(given, "normalise")[1]))
    kind, colon, rest = given.partition(":")
    if colon and kind == Lexicon.kind:
        return _lexicon(rest)
    if colon and kind == UDPipeColumns.kind:
        path, options = part_option(rest, "cache")
        return UDPipeColumns(path, **options)
    if colon and kind == SpacyColumns.kind:
        return SpacyColumns(rest)
    return ModelColumns(given)


def _lexicon(text: str) -> Lexicon:
    name, equals, rest = text.partition("=")
    if not equals or "?" in name:
        raise ParameterError(
            f"a lexicon is written NAME=FILE, and its column is called lexicon-NAME; got {text!r}: write e.g. "
            f"{Path(text.partition('?')[0]).stem}={text}"
        )
    path, options = part_option(rest, "normalise")
    return Lexicon.read(name, path, **_normalise(options))


def _normalise(options: Mapping[str, str]) -> dict[str, Any]:
    """Return the option in the form of the constructors; without a value, nothing is done to tokens."""
    return {name: tuple(filter(None, value.split(","))) for name, value in options.items()}


def restore(arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> Annotator:
    """Make an annotator from what a model file holds of it."""
    kind = header.get("kind")
    if kind not in KINDS:
        raise ModelFileError(
            f"the model uses an annotator of the kind {kind!r}, which spanloom does not have; if it is yours, import "
            "the module that defines it before you load the model"
        )
    return KINDS[kind].from_state(arrays, header["state"])


def _checked(given: Annotator) -> Annotator:
    """Find out before the training, not after it, if a model file could not keep an annotator."""
    for name in ("kind", "provides"):
        if not hasattr(given, name):
            raise ParameterError(
                f"the annotator {type(given).__name__} has no {name!r}; its class sets kind, its name in a model file, "
                "and provides, the names of the columns that it makes"
            )
    return given
