"""Annotators by what users write, and from model files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from spanloom.columns.base import Annotator
from spanloom.columns.chunks import ChunkColumns
from spanloom.columns.lexicon import InducedLexicon, Lexicon
from spanloom.columns.model import ModelColumns
from spanloom.columns.phrases import PhraseColumns
from spanloom.columns.spacy import SpacyColumns
from spanloom.columns.udpipe import UDPipeColumns
from spanloom.errors import ModelFileError, ParameterError

KINDS: dict[str, Any] = {
    kind.kind: kind for kind in (ChunkColumns, Lexicon, ModelColumns, PhraseColumns, SpacyColumns, UDPipeColumns)
}


def annotator(given: str | Annotator) -> Annotator:
    """Return an annotator by its reference.

    ``pos.loom`` is a recogniser that was trained with ``target``; ``udpipe:FILE`` a UDPipe model; ``spacy:NAME`` a
    spaCy pipeline; ``lexicon:NAME=FILE`` a list of names; ``induced`` one that is made of the training
    data; ``chunks`` makes features of a column ``chunk``, ``phrases`` of a column ``pos``. An annotator stays what it
    is.
    """
    if isinstance(given, Annotator):
        return given
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
    if not colon or kind not in KINDS:
        return ModelColumns(given)
    made: Annotator = KINDS[kind](rest)
    return made


def restore(arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any]) -> Annotator:
    """Make an annotator from what a model file holds of it."""
    kind = header.get("kind")
    if kind not in KINDS:
        raise ModelFileError(f"the model uses an annotator {kind!r}, which this version of spanloom does not have")
    made: Annotator = KINDS[kind].from_state(arrays, header["state"])
    return made
