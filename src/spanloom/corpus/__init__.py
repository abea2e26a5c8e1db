"""Documents with mentions, and the formats they come in."""

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention
from spanloom.corpus.reading import Corpus, read, write
from spanloom.corpus.reference import Reference
from spanloom.corpus.report import Problem, Report
from spanloom.corpus.tokenizer import make_document, split_sentences, tokenize
from spanloom.corpus.trees import valid_spans

__all__ = [
    "Corpus",
    "Document",
    "Mention",
    "Problem",
    "Reference",
    "Report",
    "Sentence",
    "make_document",
    "read",
    "split_sentences",
    "tokenize",
    "valid_spans",
    "write",
]
