"""Mentions as structures and back: pure functions, no learning."""

from spanloom.schemes.flat import first_misfit, flatten
from spanloom.schemes.joined import join_labels, split_labels
from spanloom.schemes.layers import layers_of
from spanloom.schemes.maps import Representations, convert, label_map, lattice, mappable
from spanloom.schemes.segments import Segments
from spanloom.schemes.separators import SEPARATORS, decode_separators, encode_separators

__all__ = [
    "SEPARATORS",
    "Representations",
    "Segments",
    "convert",
    "decode_separators",
    "encode_separators",
    "first_misfit",
    "flatten",
    "join_labels",
    "label_map",
    "lattice",
    "layers_of",
    "mappable",
    "split_labels",
]
