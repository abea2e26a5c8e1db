"""What a model believes of a sentence: probabilities of mentions, the best sets, samples."""

from spanloom.inference.batch import Batch, ReadChain, Reader
from spanloom.inference.cases import Cases
from spanloom.inference.distribution import Distribution, Marginals
from spanloom.inference.enumeration import Enumeration
from spanloom.inference.independent import Independent
from spanloom.inference.joint import Joint
from spanloom.inference.nesting import Nesting
from spanloom.inference.readings import Reading, segment_reading, separator_reading, tag_reading
from spanloom.inference.reread import Reread
from spanloom.inference.segmental import SegmentSets
from spanloom.inference.segmentation import Segmentation
from spanloom.inference.trellis import Trellis
from spanloom.inference.unfolded import unfolded_trellis

__all__ = [
    "Batch",
    "Cases",
    "Distribution",
    "Enumeration",
    "Independent",
    "Joint",
    "Marginals",
    "Nesting",
    "ReadChain",
    "Reader",
    "Reading",
    "Reread",
    "SegmentSets",
    "Segmentation",
    "Trellis",
    "segment_reading",
    "separator_reading",
    "tag_reading",
    "unfolded_trellis",
]
