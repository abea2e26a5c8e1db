"""FeatureCounts: how often features occur in a part of a corpus, as plain arrays that may travel between processes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np

from spanloom._native import FeatureCounts as NativeCounts
from spanloom._native import FeatureProgram
from spanloom.features.feature_set import FeatureSet
from spanloom.features.state import Arrays, array, pack_resources

_TYPES: dict[str, type[np.generic]] = {
    "rows": np.uint64,
    "strings": np.uint8,
    "string_ends": np.uint64,
    "pool_sizes": np.uint64,
    "sizes": np.uint64,
    "key_sizes": np.uint64,
    "keys": np.uint32,
    "counts": np.uint32,
    "first_row": np.uint32,
}


@dataclass(frozen=True)
class FeatureCounts:
    """How often each feature occurs in some sentences, and where first.

    ``FeatureExtractor.count`` makes it; ``FeatureExtractor.fit_counts`` makes the table of features from the counts of
    all parts of a corpus. It can be pickled, and its arrays can be stored.

    Parameters
    ----------
    arrays
        Strings, keys, counts and first rows, by name.
    counted
        What was counted: ``fingerprint`` of the features and sites.
    """

    arrays: Arrays
    counted: str

    @property
    def rows(self) -> int:
        """Number of rows of the sentences."""
        return int(self.arrays["rows"][0])

    @property
    def size(self) -> int:
        """Number of distinct features, before any is dropped for being rare."""
        return len(self.arrays["counts"])

    def native(self, program: FeatureProgram) -> NativeCounts:
        """Return the counts as the native core has them; ``ValueError`` if the arrays do not fit together."""
        return NativeCounts.from_state(
            program, **{name: array(self.arrays, name, kind) for name, kind in _TYPES.items()}
        )


def fingerprint(features: FeatureSet, sites: str) -> str:
    """Return what is the same only for the same templates, sites and lookup tables."""
    resources, names = pack_resources(features.resources)
    digest = hashlib.sha256(json.dumps([list(features.templates), features.min_count, sites, names]).encode())
    for name in sorted(resources):
        digest.update(resources[name].tobytes())
    return digest.hexdigest()
