"""Labels that tokens beside a listed mention may have."""

from __future__ import annotations

from spanloom.corpus import Known, Mention
from spanloom.schemes import Segments
from spanloom.schemes.partial import allowed_labels


def test_no_neighbour_makes_a_listed_mention_longer():
    """In IO every neighbour of the same label would; at both ends of the sentence, too."""
    io = Segments("IO", ["O", "I-a", "I-b"])
    listed, known = [Mention("a", ((1, 2),))], Known(ranges=((1, 2),))
    assert allowed_labels(io, listed, known, 3).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert allowed_labels(io, listed, known, 4).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1]]
