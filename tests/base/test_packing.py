"""Packed weights come back: exactly as float32, and within a known error in fewer bytes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.packing import pack, unpack


def table(seed: int, rows: int = 6000, columns: int = 5, zeros: float = 0.5, distinct: int = 900) -> Any:
    random = np.random.default_rng(seed)
    made = random.normal(0, 1, (distinct, columns)) ** 3
    made[random.random((distinct, columns)) < zeros] = 0
    return made[random.integers(0, distinct, rows)].astype(np.float32)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([1, 900, 100_000]))
def test_float32_comes_back_to_the_bit(seed: int, zeros: float, distinct: int) -> None:
    given = {"a": table(seed, zeros=zeros, distinct=distinct), "b": table(seed + 1, columns=3), "small": np.eye(3)}
    packed, how = pack(given)
    back = unpack(packed, how)
    assert back.keys() == given.keys()
    for name, array in given.items():
        assert back[name].dtype == array.dtype
        assert np.array_equal(back[name], array)
    assert sum(a.nbytes for a in packed.values()) <= sum(a.nbytes for a in given.values())


def test_small_tables_of_one_model_are_packed_together() -> None:
    """A table for each label, none of which is worth it alone."""
    labels = {f"label{k}": table(k, rows=1500, columns=8) for k in range(9)}
    packed, how = pack(labels, "int8")
    assert how[0]["names"] == list(labels)
    assert sum(a.nbytes for a in packed.values()) < sum(a.nbytes for a in labels.values()) / 3
    assert pack({"label0": labels["label0"]}, "int8")[1] == []  # fewer numbers than are worth it


@pytest.mark.parametrize(("zeros", "distinct"), [(0.5, 30_000), (0.0, 20_000), (0.5, 10**7), (1.0, 10)])
@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_many_rows_come_back_by_blocks(zeros: float, distinct: int, precision: str) -> None:
    """As the table that they are packed from, to the bit: int8 codes of codes are the same."""
    weights = table(5, rows=40_000, columns=3, zeros=zeros, distinct=min(distinct, 200_000))
    once = unpack(*pack({"w": weights, "v": weights[:, :2].copy()}, precision))
    again = unpack(*pack(once, precision))
    for name in ("v", "w"):
        assert once[name].shape == (40_000, 3 if name == "w" else 2)
        assert np.array_equal(once[name], again[name])
        assert np.allclose(once[name], weights[:, : once[name].shape[1]], rtol=0.04, atol=0.02)
    if precision == "float32":
        assert np.array_equal(once["w"], weights)


def test_the_caller_says_where_tables_go() -> None:
    weights = table(7, rows=20_000)
    asked: list[Any] = []

    def room(rows: int, columns: Any) -> list[Any]:
        asked.append((rows, list(columns)))
        whole = np.zeros((rows, sum(columns) + 1), np.float32)
        return [whole[:, :2], whole[:, 3:]]

    back = unpack(*pack({"a": weights[:, :2].copy(), "b": weights[:, 2:].copy()}), room)
    assert asked == [(20_000, [2, 3])]
    assert np.array_equal(np.hstack([back["a"], back["b"]]), weights)
    assert back["a"].base is back["b"].base


@pytest.mark.parametrize(("precision", "most"), [("float16", 2**-11), ("int8", 10000 ** (0.5 / 126) - 1)])
def test_shorter_numbers_err_by_a_known_share(precision: str, most: float) -> None:
    weights = table(3)
    back = unpack(*pack({"w": weights}, precision))["w"]
    largest = np.abs(weights).max(axis=0)
    big = np.abs(weights) >= largest / 10000
    assert np.abs(back[big] / weights[big] - 1).max() <= most * 1.01
    assert np.abs(back[~big]).max() <= largest.max() / 10000
    assert (back[weights == 0] == 0).all()


def test_an_index_that_no_packing_made_is_refused() -> None:
    """It would say which row of the weights a feature has."""
    stored = {"w": np.eye(4, dtype=np.float32), "w.index": np.zeros(4, np.int64)}
    assert unpack(stored, []).keys() == stored.keys()
    with pytest.raises(ModelFileError, match=r"an array w\.index"):
        unpack(stored, [], shared=re.compile("w"))


def test_what_would_not_get_smaller_stays() -> None:
    weights = np.random.default_rng(1).normal(0, 1, (5000, 8)).astype(np.float32)
    packed, how = pack({"w": weights})
    assert list(packed) == ["w"]
    assert how == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"distinct": 10**12}, "claim to be"),
        ({"columns": [10**12]}, "claim to be"),
        ({"columns": [-5]}, "do not fit together"),
        ({"columns": [4]}, "mask of packed weights"),
        ({"names": ["a", "b"]}, "do not fit together"),
        ({"number": None}, "damaged"),
        ({"number": 7}, "no values"),
    ],
)
def test_damaged_descriptions_are_refused(change: dict[str, Any], complaint: str) -> None:
    packed, how = pack({"w": table(1)})
    with pytest.raises(ModelFileError, match=complaint):
        unpack(packed, [{**how[0], **change}])


def test_damaged_arrays_are_refused() -> None:
    packed, how = pack({"w": table(1)}, "int8")
    for name, bad in (
        ("index", packed["packed.0.index"] + np.uint32(10**6)),
        ("mask", packed["packed.0.mask"][:-1]),
        ("values", packed["packed.0.values"][:-1]),
        ("values", packed["packed.0.values"].astype(np.float64)),
        ("scales", packed["packed.0.scales"][:, 1:]),
        ("scales", -packed["packed.0.scales"]),
    ):
        with pytest.raises(ModelFileError):
            unpack({**packed, f"packed.0.{name}": bad}, how)


def test_unknown_precisions_are_named() -> None:
    with pytest.raises(ParameterError, match="float32, int16, float16, int8, got 'int4'"):
        pack({}, "int4")


def test_what_is_packed_can_be_unpacked_however_wide_and_alike() -> None:
    """A hostile file must not unpack out of proportion; an honest one that would is stored as it is."""
    wide = np.tile(np.arange(3 * 1100, dtype=np.float32).reshape(3, 1100), (1000, 1))
    assert np.array_equal(unpack(*pack({"weights": wide}))["weights"], wide)
