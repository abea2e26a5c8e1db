"""Documents, sentences and mentions, and what can be said of them."""

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.known import Believed, Known
from spanloom.corpus.mention import Mention
from spanloom.corpus.tagged import from_tags, to_layers, to_tags
from spanloom.corpus.token_rules import TokenRules
from spanloom.corpus.tokenizer import make_document, split_sentences, tokenize
from spanloom.corpus.trees import valid_spans

__all__ = [
    "Believed",
    "Document",
    "Known",
    "Mention",
    "Sentence",
    "TokenRules",
    "from_tags",
    "make_document",
    "split_sentences",
    "to_layers",
    "to_tags",
    "tokenize",
    "valid_spans",
]
