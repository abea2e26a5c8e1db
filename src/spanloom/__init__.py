"""spanloom: find mentions that nest, overlap, cross or break into parts."""

from typing import TYPE_CHECKING, Any

from spanloom.base.errors import CorpusError
from spanloom.corpus import Document, Mention, Sentence
from spanloom.formats import Corpus, Report, read, write

if TYPE_CHECKING:
    from spanloom.recognizer import Recognizer

__all__ = ["Corpus", "CorpusError", "Document", "Mention", "Recognizer", "Report", "Sentence", "read", "write"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # The recogniser brings the native core along; who only reads corpora does not wait for it.
    if name == "Recognizer":
        from spanloom.recognizer import Recognizer

        return Recognizer
    raise AttributeError(f"module 'spanloom' has no attribute {name!r}")
