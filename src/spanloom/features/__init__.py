"""What a model sees: templates over columns, compiled to a table of features."""

from spanloom.features.counts import FeatureCounts
from spanloom.features.extractor import FeatureExtractor
from spanloom.features.feature_set import FeatureSet
from spanloom.features.pairs import PairFeatures
from spanloom.features.resources import read_resource

__all__ = ["FeatureCounts", "FeatureExtractor", "FeatureSet", "PairFeatures", "read_resource"]
