"""Token columns that the data do not have: from taggers, parsers, lexicons, and whole documents."""

from spanloom.annotators.base import Annotator, Fitting
from spanloom.annotators.chunks import ChunkColumns
from spanloom.annotators.document_context import DocumentContext
from spanloom.annotators.english_rules import EnglishRules
from spanloom.annotators.lexicon import InducedLexicon, Lexicon
from spanloom.annotators.model import ModelColumns
from spanloom.annotators.phrases import PhraseColumns
from spanloom.annotators.pipeline import Pipeline
from spanloom.annotators.references import annotator, parser, restore
from spanloom.annotators.spacy import Spacy
from spanloom.annotators.tree_columns import ValidSizes
from spanloom.annotators.tree_scores import Attachment, attachment
from spanloom.annotators.trees import CachedParser, Parser, Trees, cross_fit_trees, with_trees
from spanloom.annotators.udpipe import UDPipe
from spanloom.annotators.udpipe_training import train_udpipe, train_udpipe_tagger
from spanloom.annotators.word_shapes import WordShapes

__all__ = [
    "Annotator",
    "Attachment",
    "CachedParser",
    "ChunkColumns",
    "DocumentContext",
    "EnglishRules",
    "Fitting",
    "InducedLexicon",
    "Lexicon",
    "ModelColumns",
    "Parser",
    "PhraseColumns",
    "Pipeline",
    "Spacy",
    "Trees",
    "UDPipe",
    "ValidSizes",
    "WordShapes",
    "annotator",
    "attachment",
    "cross_fit_trees",
    "parser",
    "restore",
    "train_udpipe",
    "train_udpipe_tagger",
    "with_trees",
]
