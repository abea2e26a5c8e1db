"""What goes into the model file and comes back from it, whole or damaged."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanloom import Sentence
from spanloom.base.errors import ModelFileError
from spanloom.features import FeatureExtractor, FeatureSet

TRAIN = [
    Sentence(["The", "α-gene", "of", "Paris", ""], features=[["f"], {"g": 2.0}, [], {"k": "v"}, []]),
    Sentence(["of", "The", "𝔸"], features=[["f"], [], []]),
]
FEATURES = FeatureSet(
    [
        "bias",
        "word[-1..1]",
        "suffix(word, 1..3)",
        "word[-1] & word[0]",
        "word[-1] & word[0] & lower(word)[1]",
        "bag(word, -1..1)",
        "cluster(word, brown, 2)",
        "lookup(lower(word), names)",
        "own",
    ],
    name="mine",
    resources={"brown": {"of": ["0110"], "The": ["111"]}, "names": {"paris": ["CITY", "PER"], "rome": []}},
)


def fitted() -> FeatureExtractor:
    extractor = FeatureExtractor(FEATURES)
    extractor.fit(TRAIN)
    return extractor


def test_round_trip() -> None:
    """Arrays and header bring back an equal extractor, after a walk through JSON."""
    extractor = fitted()
    arrays, header = extractor.state()
    again = FeatureExtractor.from_state(arrays, json.loads(json.dumps(header)))
    assert again.names() == extractor.names()
    assert again.features == extractor.features
    one, two = extractor.transform(TRAIN), again.transform(TRAIN)
    assert one.ids.tolist() == two.ids.tolist()
    assert one.values is not None
    assert two.values is not None
    assert one.values.tolist() == two.values.tolist()
    repeated, _ = again.state()
    assert {k: v.tobytes() for k, v in repeated.items()} == {k: v.tobytes() for k, v in arrays.items()}


def test_only_used_strings_are_kept() -> None:
    """Strings of dropped features do not stay in the file."""
    extractor = FeatureExtractor(FeatureSet(["word", "suffix(word, 1)"], min_count=2))
    extractor.fit([Sentence(["rarity", "common", "common", "city"])])
    arrays, _ = extractor.state()
    assert arrays["strings"].tobytes() == b"common" + b"n" + b"y"


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("version", 2),
        ("version", "1"),
        ("version", True),
        ("templates", "word"),
        ("templates", []),
        ("templates", ["word["]),
        ("templates", [None]),
        ("templates", ["word"]),
        ("min_count", -1),
        ("min_count", None),
        ("sites", "lines"),
        ("sites", None),
        ("sites", ["tokens"]),
        ("name", 3),
        ("resources", "brown"),
        ("resources", []),
        ("resources", ["brown"]),
        ("resources", ["brown", 3]),
        ("resources", ["names", "names"]),
    ],
)
def test_damaged_header(entry: str, value: Any) -> None:
    """A header entry of the wrong kind or value is a ModelFileError, as is one that is missing."""
    arrays, header = fitted().state()
    with pytest.raises(ModelFileError):
        FeatureExtractor.from_state(arrays, {**header, entry: value})
    with pytest.raises(ModelFileError):
        FeatureExtractor.from_state(arrays, {k: v for k, v in header.items() if k != entry})


def test_damaged_arrays() -> None:
    """An array that is missing, of another type, shape or length is a ModelFileError."""
    arrays, header = fitted().state()
    for name, array in arrays.items():
        bad = [array.astype(np.float64), array.reshape(1, -1), array[:-1], np.append(array, array[-1:])]
        for other in bad:
            with pytest.raises(ModelFileError):
                FeatureExtractor.from_state({**arrays, name: other}, header)
        with pytest.raises(ModelFileError):
            FeatureExtractor.from_state({k: v for k, v in arrays.items() if k != name}, header)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_any_damage_is_an_error_or_harmless(data: st.DataObject) -> None:
    """Random numbers anywhere never crash: the result is a ModelFileError or an extractor that works."""
    arrays, header = STATE
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name].copy()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(array) - 1))
        most = int(np.iinfo(array.dtype).max)
        array[at] = data.draw(st.one_of(st.integers(0, 40), st.integers(0, most), st.integers(most - 3, most)))
    try:
        extractor = FeatureExtractor.from_state({**arrays, name: array}, header)
    except ModelFileError:
        return
    rows = extractor.transform(TRAIN)
    assert rows.rows == 8
    assert len(extractor.names()) == extractor.size
    assert rows.entries == 0 or rows.ids.max() < extractor.size


STATE = fitted().state()
