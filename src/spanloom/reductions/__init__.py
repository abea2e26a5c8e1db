"""Nested mentions out of flat taggers: layers, cascades, joined labels, simple tagging."""

from spanloom.reductions.base import FlatTagger, Reduction
from spanloom.reductions.cascade import Cascade
from spanloom.reductions.joined import Joined
from spanloom.reductions.layered import Innermost, Layered, Outermost

REDUCTIONS: dict[str, type[Reduction]] = {
    reduction.name: reduction for reduction in (Innermost, Outermost, Layered, Cascade, Joined)
}
"""The reductions by the name that ``Recognizer(model=…)`` takes."""

__all__ = [
    "REDUCTIONS",
    "Cascade",
    "FlatTagger",
    "Innermost",
    "Joined",
    "Layered",
    "Outermost",
    "Reduction",
]
