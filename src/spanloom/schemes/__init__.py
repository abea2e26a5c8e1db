"""Mentions as structures and back: pure functions, no learning."""

from spanloom.schemes.flat import first_misfit, flatten
from spanloom.schemes.segments import PREFIXES, Segments

__all__ = ["PREFIXES", "Segments", "first_misfit", "flatten"]
