"""Token columns that the data do not have: from taggers of ours and of others, lexicons, and whole documents."""

from spanloom.columns.asked import with_asked_columns
from spanloom.columns.base import Annotator, Fitting
from spanloom.columns.choose import annotator, restore
from spanloom.columns.chunks import ChunkColumns
from spanloom.columns.documents import with_document_columns
from spanloom.columns.elsewhere import Elsewhere
from spanloom.columns.lexicon import InducedLexicon, Lexicon
from spanloom.columns.model import ModelColumns
from spanloom.columns.phrases import PhraseColumns
from spanloom.columns.spacy import SpacyColumns
from spanloom.columns.udpipe import UDPipeColumns
from spanloom.parsers.udpipe import train_udpipe_tagger

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
