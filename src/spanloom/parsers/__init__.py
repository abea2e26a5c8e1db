"""Dependency trees for text that has none: parsers of the ecosystem behind one small interface."""

from spanloom.parsers.base import Attachment, CachedParser, Parser, attachment, make_parser, with_trees
from spanloom.parsers.jackknife import jackknife
from spanloom.parsers.spacy import SpacyParser
from spanloom.parsers.udpipe import UDPipeParser, train_udpipe, train_udpipe_tagger

__all__ = [
    "Attachment",
    "CachedParser",
    "Parser",
    "SpacyParser",
    "UDPipeParser",
    "attachment",
    "jackknife",
    "make_parser",
    "train_udpipe",
    "train_udpipe_tagger",
    "with_trees",
]
