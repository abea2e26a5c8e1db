"""The rules that the dynamic programs follow are those of the schemes, by going through all label sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oracles import separator_sequences
from spanloom import Mention
from spanloom._native import ChainStructure, FlatReading, SeparatorReading
from spanloom.corpus.tags import SCHEMES
from spanloom.inference import Trellis, segment_reading, separator_reading
from spanloom.schemes import Segments, decode_separators


def forced(columns: list[int], size: int) -> tuple[ChainStructure, np.ndarray, np.ndarray]:
    """A chain that has one path only."""
    scores = np.full((len(columns), size), -np.inf)
    scores[np.arange(len(columns)), columns] = 0.0
    everything = np.ones(size, np.uint8)
    return ChainStructure(size, np.ones(size * size, np.uint8), everything, everything), scores, np.zeros(size * size)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_label_sequence_has_the_mentions_that_decode_finds(scheme: str) -> None:
    """Legal or not, for two types: a path that is certain makes exactly its mentions certain."""
    segments = Segments(scheme, [f"{p}-{t}" for t in ("a", "b") for p in SCHEMES[scheme].prefixes])
    reading = segment_reading(segments, unique=False)
    size = len(segments.labels)
    length = 3 if size <= 9 else 2
    for labels in itertools.chain.from_iterable(itertools.product(range(size), repeat=n) for n in range(length + 1)):
        found = Trellis.of(*forced(list(labels), size), reading)
        assert found.mentions(0.5) == segments.decode(list(labels))
        assert [own for _, own in found.k_best(3)] == [segments.decode(list(labels))]


def test_every_separator_sequence_has_the_mentions_of_its_nested_reading() -> None:
    """All sequences of up to three tokens: a sequence that is certain makes exactly its mentions certain."""
    names = {frozenset(c for bit, c in ((1, "S"), (2, "E"), (4, "C")) if y & bit): y for y in range(8)}
    reading = separator_reading("a")
    count = 0
    for n in range(4):
        for sequence in separator_sequences(n):
            gaps = [names[one] for one in sequence]
            found = Trellis.of(*forced(gaps, 8), reading).mentions(0.5)
            assert set(found) == {Mention("a", (part,)) for part in decode_separators(gaps)}
            count += 1
    assert count > 50


def test_separators_that_are_read_as_one_set_are_one_sequence() -> None:
    """Whence sets are told from structures: no two sequences of four tokens have the same nested reading."""
    names = {frozenset(c for bit, c in ((1, "S"), (2, "E"), (4, "C")) if y & bit): y for y in range(8)}
    read = [frozenset(decode_separators([names[one] for one in sequence])) for sequence in separator_sequences(4)]
    assert len(set(read)) == len(read)


def test_readings_check_what_they_get() -> None:
    with pytest.raises(ValueError, match="3 borders for 2 columns"):
        FlatReading(np.zeros(2, np.int32), np.ones(3, np.uint8))
    with pytest.raises(ValueError, match="no border between columns 0 and 1"):
        FlatReading(np.array([-1, 0], np.int32), np.zeros(4, np.uint8))
    with pytest.raises(ValueError, match="separator 8, not 0 to 7"):
        SeparatorReading(np.array([8], np.int32))
    structure, scores, pairs = forced([0, 1], 2)
    with pytest.raises(ValueError, match="a reading of 8 columns for a trellis of 2"):
        Trellis.of(structure, scores, pairs, separator_reading("a")).mentions()
    scores[0, 0] = np.nan
    with pytest.raises(ValueError, match="score 0 is nan; scores are numbers or -inf"):
        Trellis.of(structure, scores, pairs, separator_reading("a"))
