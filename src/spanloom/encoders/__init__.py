"""Dense sources: networks that give tokens vectors, and maps from vectors to the scores of cells. An extra."""

from spanloom.encoders.settings import Encoder, encoder

__all__ = ["Encoder", "encoder"]
