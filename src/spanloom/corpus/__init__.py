"""Documents with mentions, and the formats they come in."""

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.corpus.reading import Corpus, read, write
from spanloom.corpus.reference import Reference
from spanloom.corpus.report import Problem, Report

__all__ = ["Corpus", "Document", "Mention", "Problem", "Reference", "Report", "Sentence", "read", "write"]
