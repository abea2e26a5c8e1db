"""Annotators by what users write, and from model files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy.typing as npt

from spanloom.annotators.base import ANNOTATOR_CLASSES, Annotator, OpenModel, opened
from spanloom.annotators.chunks import ChunkColumns
from spanloom.annotators.document_context import DocumentContext
from spanloom.annotators.english_rules import EnglishRules
from spanloom.annotators.lexicon import InducedLexicon, Lexicon
from spanloom.annotators.model import ModelColumns
from spanloom.annotators.phrases import PhraseColumns
from spanloom.annotators.spacy import Spacy
from spanloom.annotators.trees import Parser, Trees
from spanloom.annotators.udpipe import UDPipe
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.parameters import part_option
from spanloom.base.plugins import ANNOTATORS, load_plugin, plugins


def annotator(given: str | Annotator | Parser, open_model: OpenModel | None = None) -> Annotator:
    """Return an annotator by its reference; an annotator stays what it is.

    ====================== ==============================================================================
    ``pos.loom``           a recogniser whose model is a tagger
    ``udpipe:FILE``        a UDPipe model; ``?cache=FOLDER`` keeps what it makes
    ``spacy:NAME``         a spaCy pipeline; ``?cache=FOLDER`` too
    ``lexicon:NAME=FILE``  a list of names; ``?normalise=lower,squeezed`` if need be
    ``induced``            a list of the training mentions; ``?normalise=`` too
    ``document``           document context (``elsewhere`` in earlier versions)
    ``chunks``             columns from a column ``chunk``
    ``phrases``            columns from a column ``pos``
    ``english-rules``      lemmas and chunks by rule, from a column ``pos``
    ``NAME:…``             an annotator of an installed package, by its entry point
    ====================== ==============================================================================

    Parameters
    ----------
    given
        A reference, an annotator, or a parser.
    open_model
        Opens ``pos.loom``: ``Recognizer.load``.
    """
    if isinstance(given, Annotator):
        return _checked(given)
    if isinstance(given, Parser):
        return Trees(given)
    if not isinstance(given, str):
        raise ParameterError(f"an annotator is one, or a reference such as 'pos.loom' or 'udpipe:FILE', got {given!r}")
    name, colon, rest = given.partition(":")
    if not colon:
        name, mark, options = given.partition("?")
        rest = f"?{options}" if mark else ""
    if name in _MAKERS and bool(colon) == (name in _WITH_COLON):
        return _MAKERS[name](rest)
    made = load_plugin(ANNOTATORS, name)
    if made is not None:
        return _checked(made(rest) if rest else made())
    if colon and not Path(given).exists() and name.isidentifier() and len(name) > 1:
        known = ", ".join([*_WITH_COLON, *plugins(ANNOTATORS)])
        raise ParameterError(f"there is no annotator {name!r} for {given!r}; those with a colon are {known}")
    try:
        return ModelColumns(opened(open_model, given))
    except FileNotFoundError:
        if colon or Path(name).name != name or Path(name).suffix:  # which is no name
            raise
    names = [one for one in (*_MAKERS, *plugins(ANNOTATORS)) if one not in (*_WITH_COLON, *_OLD)]
    nearest = get_close_matches(name, names, len(names), cutoff=0)
    raise ParameterError(
        f"there is no annotator {name!r}, and no file of that name; annotators are {', '.join(nearest)}, "
        f"{', '.join(f'{one}:…' for one in _WITH_COLON)}, or the file of a tagger such as pos.loom"
    )


def parser(given: str | Parser | Annotator) -> Trees:
    """Return an annotator that makes trees: from ``udpipe:FILE`` or ``spacy:NAME``, or from a parser of yours."""
    if isinstance(given, Trees):
        return given
    if isinstance(given, Annotator):
        made = next((one for one in given.on_demand() if isinstance(one, Trees)), None)
        if made is None:
            raise ParameterError(f"the annotator {given.kind!r} makes no trees; choose a model with a parser")
        return made
    if isinstance(given, Parser):
        return Trees(given)
    if not isinstance(given, str):
        raise ParameterError(f"parser is udpipe:MODEL, spacy:PIPELINE or a Parser, got {given!r}")
    kind, _, rest = given.partition(":")
    if not rest or (kind not in _PARSERS and kind not in plugins(ANNOTATORS)):
        raise ParameterError(f"a parser is udpipe:MODEL or spacy:PIPELINE, got {given!r}")
    return Trees(parser(annotator(given)).parser, given)


def _udpipe(rest: str) -> UDPipe:
    path, options = part_option(rest, "cache")
    return UDPipe(path, **options)


def _spacy(rest: str) -> Spacy:
    name, options = part_option(rest, "cache")
    return Spacy(name, **options)


def _lexicon(rest: str) -> Lexicon:
    name, equals, file = rest.partition("=")
    if not equals or "?" in name:
        raise ParameterError(
            f"a lexicon is written NAME=FILE, and its column is called lexicon-NAME; got {rest!r}: write e.g. "
            f"{Path(rest.partition('?')[0]).stem}={rest}"
        )
    path, options = part_option(file, "normalise")
    return Lexicon.read(name, path, **_normalise(options))


def _induced(rest: str) -> InducedLexicon:
    return InducedLexicon(**_normalise(part_option(rest, "normalise")[1]))


def _normalise(options: Mapping[str, str]) -> dict[str, Any]:
    """Return the option in the form of the constructors; without a value, nothing is done to tokens."""
    return {name: tuple(filter(None, value.split(","))) for name, value in options.items()}


def _plain(make: Callable[[], Annotator]) -> Callable[[str], Annotator]:
    def made(rest: str) -> Annotator:
        if rest:
            raise ParameterError(f"the annotator takes no options, got {rest!r}")
        return make()

    return made


_PARSERS = ("udpipe", "spacy")
_WITH_COLON = (*_PARSERS, "lexicon")
_OLD = ("elsewhere",)
_MAKERS: dict[str, Callable[[str], Annotator]] = {
    "udpipe": _udpipe,
    "spacy": _spacy,
    "lexicon": _lexicon,
    "induced": _induced,
    "chunks": _plain(ChunkColumns),
    "phrases": _plain(PhraseColumns),
    "english-rules": _plain(EnglishRules),
    "document": _plain(DocumentContext),
    "elsewhere": _plain(lambda: DocumentContext(name="elsewhere")),
}


def restore(
    arrays: Mapping[str, npt.NDArray[Any]], header: Mapping[str, Any], open_model: OpenModel | None = None
) -> Annotator:
    """Make an annotator from what a model file holds of it; ``open_model`` is ``Recognizer.from_state``."""
    kind = header.get("kind")
    if kind not in ANNOTATOR_CLASSES and isinstance(kind, str):
        load_plugin(ANNOTATORS, kind)  # its module defines the class
    if kind not in ANNOTATOR_CLASSES:
        raise ModelFileError(
            f"the model uses an annotator of the kind {kind!r}, which spanloom does not have; if it is yours, import "
            "the module that defines it before you load the model"
        )
    return ANNOTATOR_CLASSES[kind].restored(arrays, header["state"], open_model)


def _checked(given: Annotator) -> Annotator:
    """Find out before the training, not after it, if a model file could not keep an annotator."""
    for name in ("kind", "provides"):
        if not hasattr(given, name):
            raise ParameterError(
                f"the annotator {type(given).__name__} has no {name!r}; its class sets kind, its name in a model file, "
                "and provides, the names of the columns that it makes"
            )
    return given
