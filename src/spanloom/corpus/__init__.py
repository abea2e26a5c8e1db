"""Documents with mentions, and the formats they come in."""

from spanloom.corpus.document import Document, Sentence
from spanloom.corpus.mention import Mention

__all__ = ["Document", "Mention", "Sentence"]
