"""Token columns that the data do not have: from taggers of ours and of others, lexicons, and whole documents."""

from spanloom.annotators.base import Annotator, Fitting
from spanloom.annotators.choose import annotator, restore
from spanloom.annotators.chunks import ChunkColumns
from spanloom.annotators.derived import with_asked_columns
from spanloom.annotators.document_context import Elsewhere
from spanloom.annotators.documents import with_document_columns
from spanloom.annotators.lexicon import InducedLexicon, Lexicon
from spanloom.annotators.model import ModelColumns
from spanloom.annotators.parsers.udpipe import train_udpipe_tagger
from spanloom.annotators.phrases import PhraseColumns
from spanloom.annotators.spacy import SpacyColumns
from spanloom.annotators.udpipe import UDPipeColumns

__all__ = [
    "Annotator",
    "ChunkColumns",
    "Elsewhere",
    "Fitting",
    "InducedLexicon",
    "Lexicon",
    "ModelColumns",
    "PhraseColumns",
    "SpacyColumns",
    "UDPipeColumns",
    "annotator",
    "restore",
    "train_udpipe_tagger",
    "with_asked_columns",
    "with_document_columns",
]
