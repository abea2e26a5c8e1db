"""spanloom: find mentions that nest, overlap, cross or break into parts."""

from typing import TYPE_CHECKING, Any

from spanloom.base.errors import CorpusError

if TYPE_CHECKING:
    from spanloom.corpus import Document, Mention, Sentence
    from spanloom.formats import Corpus, Report, read, write
    from spanloom.recognizer import Recognizer

__all__ = ["Corpus", "CorpusError", "Document", "Mention", "Recognizer", "Report", "Sentence", "read", "write"]
__version__ = "0.1.0"

# Imported on first use: the command line does not wait for corpora, nor who only reads them for the native core.
_HOMES = {
    "Corpus": "formats",
    "Document": "corpus",
    "Mention": "corpus",
    "Recognizer": "recognizer",
    "Report": "formats",
    "Sentence": "corpus",
    "read": "formats",
    "write": "formats",
}
_MODULES = ("corpus", "formats", "frames")
"""There after ``import spanloom``, without an import of their own."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"spanloom.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"spanloom.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'spanloom' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
