"""Annotators by what users write, and from model files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from spanloom.columns.base import KINDS, Annotator
from spanloom.columns.chunks import ChunkColumns
from spanloom.columns.lexicon import InducedLexicon, Lexicon
from spanloom.columns.model import ModelColumns
from spanloom.columns.phrases import PhraseColumns
from spanloom.columns.spacy import SpacyColumns
from spanloom.columns.udpipe import UDPipeColumns
from spanloom.errors import ModelFileError, ParameterError


def annotator(given: str | Annotator) -> Annotator:
    """Return an annotator by its reference.

    ``pos.loom`` is a recogniser that was trained with ``target``; ``udpipe:FILE`` a UDPipe model; ``spacy:NAME`` a
    spaCy pipeline; ``lexicon:NAME=FILE`` a list of names; ``induced`` one that is made of the training
    data; ``chunks`` makes features of a column ``chunk``, ``phrases`` of a column ``pos``. An annotator stays what it
    is.
    """
    if isinstance(given, Annotator):
        return _checked(given)
    if not isinstance(given, str):
        raise ParameterError(f"an annotator is one, or a reference such as 'pos.loom' or 'udpipe:FILE', got {given!r}")
    if given == ChunkColumns.kind:
        return ChunkColumns()
    if given == InducedLexicon.kind:
        return InducedLexicon()
    if given == PhraseColumns.kind:
        return PhraseColumns()
    kind, colon, rest = given.partition(":")
    if kind == Lexicon.kind and colon:
        name, equals, path = rest.partition("=")
        if not equals:
            raise ParameterError(f"a lexicon is written lexicon:NAME=FILE, got {given!r}")
        return Lexicon.read(name, path)
    if colon and kind == UDPipeColumns.kind:
        return UDPipeColumns(rest)
    if colon and kind == SpacyColumns.kind:
        return SpacyColumns(rest)
    return ModelColumns(given)


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
