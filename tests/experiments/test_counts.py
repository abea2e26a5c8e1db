"""Counts in results."""

from __future__ import annotations

import numpy as np

from experiments.counts import pack, unpack


def test_counts_come_back():
    counts = np.array([[1, 2, 3], [0, 0, 0], [40, 5, 6]])
    assert pack(counts) == "1 2 3;0 0 0;40 5 6"
    assert (unpack(pack(counts)) == counts).all()
