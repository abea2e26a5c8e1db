"""Weights as multiples of a step: rounding errs by half a step at most, storing them errs not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanloom.base.errors import ModelFileError
from spanloom.base.fixed_point import BITS, KINDS, Decoder, encode, rounded
from spanloom.base.narrow import narrowed, widened
from spanloom.base.packing import pack, unpack


def weights(seed: int, rows: int = 300, columns: int = 4, zeros: float = 0.2) -> Any:
    """Most a thousand times smaller than the largest, as trainings leave them."""
    random = np.random.default_rng(seed)
    made = random.normal(0, 1, (rows, columns)) * 10.0 ** random.uniform(-7, 0.5, (rows, columns))
    made[random.random((rows, columns)) < zeros] = 0
    return made.astype(np.float32)


def decoded(stored: dict[str, Any], shape: tuple[int, int], rows: Any) -> Any:
    return Decoder({**dict.fromkeys(KINDS), **stored}, *shape).of(rows)


@given(st.integers(0, 10**6), st.integers(8, BITS), st.sampled_from([1e-20, 1.0, 1e20]))
def test_rounding_errs_by_half_a_step_at_most(seed: int, bits: int, scale: float) -> None:
    table = (weights(seed) * scale).astype(np.float32)
    made = rounded(table, bits)
    step = 2.0 ** (np.frexp(np.float64(np.abs(table).max()))[1] - bits)
    assert np.abs(made.astype(np.float64) - table).max() <= step / 2
    assert (made / step == np.rint(made / step)).all()
    assert np.array_equal(rounded(made, bits), made)


@given(st.integers(0, 10**6), st.integers(2, BITS), st.sampled_from([0.0, 0.5, 0.95, 1.0]), st.booleans())
def test_multiples_of_a_step_come_back_to_the_bit(seed: int, bits: int, zeros: float, whole: bool) -> None:
    """Rows in a row, and rows in any order, some twice; columns may have steps of their own."""
    table = rounded(weights(seed, zeros=zeros), bits)
    if not whole:
        table = table * np.array([1, 2**-10, 4096, 1], np.float32)
    stored = encode(table)
    assert stored is not None
    assert np.array_equal(decoded(stored, table.shape, slice(17, 240)), table[17:240])
    some = np.random.default_rng(seed).integers(0, len(table), 500)
    assert np.array_equal(decoded(stored, table.shape, some), table[some])


def test_other_numbers_have_no_steps() -> None:
    assert encode(np.array([[1.0, 2.0], [1e-9, 1.0]], np.float32)) is None
    assert encode(np.array([[1e-40]], np.float32)) is None
    assert rounded(np.array([1e-40, 0], np.float32)).tolist() == np.array([1e-40, 0], np.float32).tolist()
    assert encode(np.zeros((0, 3), np.float32)) is not None


def test_rounded_weights_take_less_than_half_of_float32() -> None:
    table = rounded(weights(1, rows=20_000))
    packed, how = pack({"w": table})
    assert sum(array.nbytes for array in packed.values()) < table.nbytes / 2
    assert np.array_equal(unpack(packed, how)["w"], table)


@given(st.integers(0, 10**6))
def test_int16_errs_by_a_share_of_the_largest_weight(seed: int) -> None:
    table = weights(seed, rows=6000)
    back = unpack(*pack({"w": table, "other": table * 8}, "int16"))
    for name, whole in (("w", table), ("other", table * 8)):
        assert np.abs(back[name] - whole).max() <= np.abs(whole).max() / 2**14
        assert not np.array_equal(back[name], whole)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("steps", lambda own: own[1:]),
        ("steps", lambda own: -own),
        ("low", lambda own: own[1:]),
        ("low", lambda own: own.astype(np.int16)),
        ("low", lambda own: None),
        ("high", lambda own: own[1:]),
        ("high", lambda own: own.astype(np.float32)),
        ("high_mask", lambda own: own[1:]),
        ("high_mask", lambda own: own[::-1].copy() ^ np.uint8(1)),
    ],
)
def test_damaged_numbers_are_refused(name: str, change: Any) -> None:
    table = rounded(weights(4, rows=6000, zeros=0.0))
    packed, how = pack({"w": table})
    bad = change(packed.pop(f"packed.0.{name}"))
    with pytest.raises(ModelFileError, match="packed weights"):
        unpack(packed if bad is None else {**packed, f"packed.0.{name}": bad}, how)


@given(st.lists(st.integers(-3, 2**40) | st.integers(0, 300), max_size=5))
def test_whole_numbers_come_back_in_their_type(values: list[int]) -> None:
    given = {"a": np.array(values, np.int64), "b": np.array([1.5, 2.0]), "c": np.arange(300, dtype=np.uint32)}
    short, types = narrowed(given)
    assert short["c"].dtype == np.uint16
    back = widened(short, types)
    for name, array in given.items():
        assert back[name].dtype == array.dtype
        assert np.array_equal(back[name], array)


@pytest.mark.parametrize("types", [[], {"x": "uint32"}, {"c": "float32"}, {"f": "int64"}, {"c": None}])
def test_damaged_types_are_refused(types: Any) -> None:
    with pytest.raises(ModelFileError, match="damaged"):
        widened({"c": np.arange(3, dtype=np.uint8), "f": np.ones(2)}, types)
