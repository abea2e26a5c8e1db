"""Mentions as structures and back: pure functions, no learning."""

from spanloom.schemes.flat import first_misfit, flatten
from spanloom.schemes.maps import Representations, convert, label_map, lattice, mappable
from spanloom.schemes.segments import Segments

__all__ = [
    "Representations",
    "Segments",
    "convert",
    "first_misfit",
    "flatten",
    "label_map",
    "lattice",
    "mappable",
]
