"""spanloom: find mentions that nest, overlap, cross or break into parts."""

from spanloom.corpus import Corpus, Document, Mention, Report, Sentence, read, write
from spanloom.errors import CorpusError

__all__ = ["Corpus", "CorpusError", "Document", "Mention", "Report", "Sentence", "read", "write"]
__version__ = "0.1.0"
