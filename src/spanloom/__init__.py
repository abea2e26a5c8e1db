"""spanloom: find mentions that nest, overlap, cross or break into parts."""

from spanloom.corpus import Document, Mention, Sentence

__all__ = ["Document", "Mention", "Sentence"]
__version__ = "0.1.0"
