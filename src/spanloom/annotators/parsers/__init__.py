"""Dependency trees for text that has none: parsers of the ecosystem behind one small interface."""

from spanloom.annotators.parsers.base import Attachment, CachedParser, Parser, attachment, make_parser, with_trees
from spanloom.annotators.parsers.jackknife import jackknife
from spanloom.annotators.parsers.spacy import SpacyParser
from spanloom.annotators.parsers.udpipe import UDPipeParser, train_udpipe, train_udpipe_tagger

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
