"""Weights side by side: nothing is copied twice, and decoders find what they find with tables of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spanloom import Recognizer, read
from spanloom._native import ChainStructure, Decoder, SparseRows
from spanloom.base.model_file import forget, load_arrays, save_arrays
from spanloom.learning import LBFGS, Weights
from spanloom.models.structured import Structured
from spanloom.models.tables import room, side_by_side


def chain(columns: int) -> ChainStructure:
    ones = np.ones(columns, np.uint8)
    return ChainStructure(columns, np.ones(columns * columns, np.uint8), ones, ones)


def made(rows: int = 50, columns: tuple[int, ...] = (3, 9)) -> tuple[list[ChainStructure], list[Weights]]:
    random = np.random.default_rng(1)
    weights = [Weights(random.normal(size=(rows, c)).astype(np.float32), random.normal(size=c * c)) for c in columns]
    return [chain(c) for c in columns], weights


def test_decoders_find_the_same_over_a_common_table() -> None:
    structures, weights = made()
    decoder, views = side_by_side(structures, weights)
    parts = [(s, one.features.ravel(), one.globals) for s, one in zip(structures, weights, strict=True)]
    other = Decoder.joined(parts)
    rows = SparseRows(np.array([0, 4]), np.array([0, 3, 4, 4, 6]), np.array([1, 7, 49, 0, 3, 3], np.uint32), 50)
    for (ptr, cells), (other_ptr, other_cells) in zip(decoder.best(rows, 1), other.best(rows, 1), strict=True):
        assert ptr.tolist() == other_ptr.tolist()
        assert cells.tolist() == other_cells.tolist()
    for own, theirs, view, one in zip(decoder.all_scores(rows), other.all_scores(rows), views, weights, strict=True):
        assert own.tobytes() == theirs.tobytes()
        assert np.array_equal(view.features, one.features)


def test_what_stands_side_by_side_is_not_copied() -> None:
    structures, weights = made()
    _, views = side_by_side(structures, weights)
    _, again = side_by_side(structures, views)
    assert [one.features.ctypes.data for one in again] == [one.features.ctypes.data for one in views]
    _, swapped = side_by_side(structures[::-1], views[::-1])
    assert np.array_equal(swapped[1].features, weights[0].features)
    assert swapped[1].features.base is not views[0].features.base
    part = [Weights(one.features[10:], one.globals) for one in views]
    assert np.array_equal(side_by_side(structures, part)[1][0].features, weights[0].features[10:])
    assert side_by_side([], [])[1] == []
    assert [own.shape for own in room(0, [2, 3])] == [(0, 2), (0, 3)]


def test_the_table_is_checked() -> None:
    structures, weights = made()
    globals_ = [(s, one.globals) for s, one in zip(structures, weights, strict=True)]
    with pytest.raises(ValueError, match="rows of 20"):
        Decoder.over(globals_, np.zeros((1, 19), np.float32))
    with pytest.raises(ValueError, match="not finite"):
        Decoder.over(globals_, np.full((1, 20), np.nan, np.float32))
    with pytest.raises(ValueError, match="81 global weights do not fit 9"):
        Decoder.over([(structures[0], weights[1].globals)], np.zeros((1, 4), np.float32))
    with pytest.raises(TypeError):
        Decoder.over(globals_, np.zeros((1, 20)))  # a copy would be gone before the decoder is


@pytest.mark.parametrize("model", ["edge", "memm"])
def test_a_model_from_a_file_has_one_copy_of_its_weights(model: str, tmp_path) -> None:
    ner = Recognizer(model, keep="longest", trainer=LBFGS(max_iter=3), threads=1).fit(read("sample:train"))
    ner.save(tmp_path / "m.loom")
    loaded = Recognizer.load(tmp_path / "m.loom", threads=1).trained_
    features = [loaded.features] if model == "memm" else [one.rows for one in loaded.weights]
    assert len({id(own.base) for own in features}) == 1
    assert not any(own.flags.owndata for own in features)


@pytest.mark.parametrize("model", ["chain", "edge", "semimarkov"])
def test_features_of_equal_weights_share_a_row_of_a_loaded_model(model: str, tmp_path) -> None:
    """Mentions, probabilities and explanations are those of the model that was saved, to the bit."""
    docs = list(read("sample:dev"))
    ner = Recognizer(model, keep="longest", trainer=LBFGS(max_iter=5), threads=1).fit(read("sample:train"))
    ner.save(tmp_path / "m.loom")
    loaded = Recognizer.load(tmp_path / "m.loom", threads=1)
    trained = loaded.trained_
    assert isinstance(trained, Structured)
    assert isinstance(ner.trained_, Structured)
    assert all(len(one.rows) < 0.8 * trained.extractor.size for one in trained.weights)
    assert trained.weight_count == ner.trained_.weight_count
    for one, other in zip(trained.weights, ner.trained_.weights, strict=True):
        assert one.features.tobytes() == np.ascontiguousarray(other.features).tobytes()
    found = [[(m, m.prob) for m in doc.mentions] for doc in loaded.predict(docs, probabilities=True)]
    assert found == [[(m, m.prob) for m in doc.mentions] for doc in ner.predict(docs, probabilities=True)]
    sentences = [s for doc in docs for s in doc.sentences]
    sentence, mention = next((s, m[0]) for s, m in zip(sentences, trained.find(sentences), strict=True) if m)
    told = [one.explain(sentence, mention).features() for one in (loaded, ner)]
    assert told[0] == told[1] != []
    loaded.save(tmp_path / "again.loom")
    assert (tmp_path / "again.loom").read_bytes() == (tmp_path / "m.loom").read_bytes()


def test_components_that_share_rows_differently_get_a_table_of_all() -> None:
    structures, weights = made(columns=(3, 9))
    index = np.array([2, 0, 2, 1], np.uint32)
    shared = [replace(one, index=index) for one in weights]
    rows = SparseRows(np.array([0, 2]), np.array([0, 1, 2]), np.array([0, 3], np.uint32), 4)
    same, views = side_by_side(structures, shared)
    assert all(one.index is index for one in views)
    numbered = SparseRows(np.array([0, 2]), np.array([0, 1, 2]), index[[0, 3]], 50)
    decoder, views = side_by_side(structures, [shared[0], replace(shared[1], index=index.copy())])
    assert all(one.index is None for one in views)
    for own, theirs in zip(same.all_scores(numbered), decoder.all_scores(rows), strict=True):
        assert own.tobytes() == theirs.tobytes()


def test_forgotten_arrays_are_read_again(tmp_path) -> None:
    save_arrays(tmp_path / "a", {"x": np.arange(100_000), "y": np.arange(5)}, {})
    arrays, _ = load_arrays(tmp_path / "a")
    for one in (*arrays.values(), arrays["x"][7:90], arrays["x"][::2], np.arange(3)):
        forget(one)
    assert arrays["x"].tolist() == list(range(100_000))
    assert arrays["y"].tolist() == list(range(5))
