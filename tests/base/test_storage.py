"""The model file comes back as it went in; any other file is one clear error."""

from __future__ import annotations

import json
import os
import pickle
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spanloom.base import files
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.model_file import FORMAT_VERSION, load_arrays, save_arrays

DTYPES = ["?", "u1", "i1", "<u2", "<i2", "<f2", "<u4", "<i4", "<f4", "<u8", "<i8", "<f8"]
MODEL = {
    "weights": np.arange(6, dtype=np.float32).reshape(2, 3),
    "ids": np.array([7, -1]),
    "on": np.array([True, False]),
}
HEADER = {"model": "chain", "labels": ["B", "I", "O"], "l2": 0.1, "nested": {"β": None, "ok": True}}

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
arrays_strategy = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
        lambda name: name != "__metadata__"
    ),
    st.sampled_from(DTYPES).flatmap(
        lambda kind: hnp.arrays(np.dtype(kind), hnp.array_shapes(min_dims=0, min_side=0, max_dims=3))
    ),
    max_size=4,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.loom"


@pytest.fixture
def saved(path: Path) -> bytes:
    save_arrays(path, MODEL, HEADER)
    return path.read_bytes()


def build(table: Any, data: bytes = b"", checksum: bool = True) -> bytes:
    """Make a file by hand, with a right checksum, out of a table given as an object or as JSON text."""
    text = (table if isinstance(table, str) else json.dumps(table, separators=(",", ":"))).encode(
        "utf-8", "surrogatepass"
    )
    text += b" " * (-(8 + len(text)) % 64)
    if checksum:
        text = text.replace(b'"checksum":"00000000"', b'"checksum":"%08x"' % zlib.crc32(text))
    return len(text).to_bytes(8, "little") + text + data


def metadata(**changes: Any) -> dict[str, Any]:
    plain = {"checksum": "0" * 8, "data_checksum": "0" * 8, "format": "spanloom", "format_version": "1", "header": "{}"}
    return plain | changes


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@given(arrays_strategy, st.dictionaries(st.text(max_size=5), json_values, max_size=3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_round_trip(tmp_path: Path, arrays: dict[str, np.ndarray], header: dict[str, Any]) -> None:
    """Every type, shape and header comes back equal, read-only and aligned; equal input gives equal bytes."""
    first, second = tmp_path / "a", tmp_path / "b"
    save_arrays(first, arrays, header)
    save_arrays(second, dict(reversed(arrays.items())), header)
    assert first.read_bytes() == second.read_bytes()
    found, head = load_arrays(first)
    assert head == header
    assert found.keys() == arrays.keys()
    for name, array in found.items():
        assert same(array, arrays[name])
        assert not array.flags.writeable
        assert array.flags.aligned


def test_other_memory_layouts(path: Path) -> None:
    """Big-endian, transposed and strided arrays are stored by value."""
    base = np.arange(12, dtype=np.int32).reshape(3, 4)
    save_arrays(path, {"big": base.astype(">i4"), "turned": base.T, "steps": base[:, ::2]}, {})
    arrays, _ = load_arrays(path)
    assert arrays["big"].tolist() == base.tolist()
    assert arrays["turned"].tolist() == base.T.tolist()
    assert arrays["steps"].tolist() == base[:, ::2].tolist()


def test_layout_is_that_of_safetensors(path: Path, saved: bytes) -> None:
    """Read by hand after the specification."""
    length = int.from_bytes(saved[:8], "little")
    table = json.loads(saved[8 : 8 + length])
    assert (8 + length) % 64 == 0
    assert table.pop("__metadata__")["format"] == "spanloom"
    assert table["ids"] == {"dtype": "I64", "shape": [2], "data_offsets": [0, 16]}
    assert table["weights"] == {"dtype": "F32", "shape": [2, 3], "data_offsets": [16, 40]}
    assert table["on"] == {"dtype": "BOOL", "shape": [2], "data_offsets": [40, 42]}
    data = saved[8 + length :]
    assert data == MODEL["ids"].tobytes() + MODEL["weights"].tobytes() + MODEL["on"].tobytes()


@given(arrays_strategy)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
def test_the_safetensors_package_reads_our_files(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    save_arrays(tmp_path / "m", arrays, HEADER)
    found = safetensors.load_file(tmp_path / "m")
    assert found.keys() == arrays.keys()
    assert all(same(found[name], arrays[name]) for name in arrays)


def test_we_read_what_the_safetensors_package_lays_out(path: Path) -> None:
    """Its files are foreign; with our metadata in place of its own, its table and buffer are read."""
    safetensors = pytest.importorskip("safetensors.numpy")
    raw = safetensors.save(MODEL)
    length = int.from_bytes(raw[:8], "little")
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match="a safetensors file, but not a spanloom model"):
        load_arrays(path)
    table = {"__metadata__": metadata(), **json.loads(raw[8 : 8 + length])}
    path.write_bytes(build(table, raw[8 + length :]))
    arrays, header = load_arrays(path, verify=False)
    assert header == {}
    assert all(same(arrays[name], MODEL[name]) for name in MODEL)


def test_every_damaged_byte_is_noticed(path: Path, saved: bytes) -> None:
    """Whichever single byte changes, in length, table, header or arrays, the file is refused."""
    for i in range(len(saved)):
        for change in (0x01, 0x80):
            path.write_bytes(saved[:i] + bytes([saved[i] ^ change]) + saved[i + 1 :])
            with pytest.raises(ModelFileError):
                load_arrays(path)


def test_damage_in_large_arrays_is_noticed(path: Path) -> None:
    """Within blocks, across them and in the rest after the last."""
    save_arrays(path, {"w": np.zeros(70_000, np.float32)}, {})
    good = path.read_bytes()
    for place in (len(good) - 1, len(good) - 280_000, len(good) - 100_000):
        path.write_bytes(good[:place] + b"\x01" + good[place + 1 :])
        with pytest.raises(ModelFileError, match="the arrays do not match their checksum"):
            load_arrays(path)
        load_arrays(path, verify=False)


def test_every_truncation_is_noticed(path: Path, saved: bytes) -> None:
    for length in range(len(saved)):
        path.write_bytes(saved[:length])
        with pytest.raises(ModelFileError):
            load_arrays(path)


@pytest.mark.parametrize("verify", [True, False])
@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
def test_mutated_files_load_alike_or_are_refused(path: Path, saved: bytes, verify: bool, data: st.DataObject) -> None:
    """Cut, insert, overwrite, repeat: a model of the same shapes or ModelFileError, never anything else."""
    raw = bytearray(saved)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(start, min(len(raw), start + 40)))
        raw[start:end] = data.draw(st.binary(max_size=40) | st.just(bytes(raw[start:end]) * 2))
    path.write_bytes(raw)
    try:
        arrays, _ = load_arrays(path, verify)
    except ModelFileError:
        return
    assert {name: array.shape for name, array in arrays.items()} == {name: a.shape for name, a in MODEL.items()}


@given(
    st.binary(max_size=200) | st.binary(max_size=100).map(lambda tail: len(tail).to_bytes(8, "little") + b"{" + tail)
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
def test_random_bytes_are_refused(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)
    with pytest.raises(ModelFileError):
        load_arrays(path)


def entry(**changes: Any) -> dict[str, Any]:
    return {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]} | changes


def bytes_at(start: int, end: int) -> dict[str, Any]:
    return entry(shape=[end - start], data_offsets=[start, end])


TABLES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown type": ({"a": entry(dtype="BF16")}, "type 'BF16'"),
    "type is no string": ({"a": entry(dtype=["U8"])}, "type"),
    "negative dimension": ({"a": entry(shape=[-4])}, "shape"),
    "dimension is no integer": ({"a": entry(shape=[4.0])}, "shape"),
    "dimension is a boolean": ({"a": entry(shape=[True, 4])}, "shape"),
    "too many dimensions": ({"a": entry(shape=[4] + [1] * 40)}, "shape"),
    "overflowing shape": ({"a": entry(shape=[2**33, 2**33])}, "shape"),
    "overflow hidden by zero": ({"a": entry(shape=[0, 2**62, 2**62], data_offsets=[0, 0])}, "shape"),
    "wrong size": ({"a": entry(shape=[5])}, "has 4 bytes"),
    "inverted offsets": ({"a": entry(data_offsets=[4, 0])}, "offsets"),
    "negative offsets": ({"a": entry(data_offsets=[-4, 0])}, "offsets"),
    "one offset": ({"a": entry(data_offsets=[0])}, "offsets"),
    "overlap": ({"a": entry(), "b": bytes_at(2, 4)}, "begins at byte 2"),
    "hole": ({"a": bytes_at(0, 1), "b": bytes_at(2, 4)}, "begins at byte 2"),
    "beyond the end": ({"a": entry(shape=[5], data_offsets=[0, 5])}, "truncated: the arrays need 5 bytes"),
    "bytes left over": ({"a": entry(shape=[3], data_offsets=[0, 3])}, "the file has 4"),
    "misaligned": (
        {"a": bytes_at(0, 1), "b": entry(dtype="U16", shape=[1], data_offsets=[1, 3]), "c": bytes_at(3, 4)},
        "not aligned",
    ),
    "neither true nor false": ({"a": entry(dtype="BOOL")}, "neither true nor false"),
    "missing field": ({"a": {"dtype": "U8", "shape": [4]}}, "entry"),
    "entry is no object": ({"a": [1]}, "entry"),
    "newer format": ({"__metadata__": metadata(format_version=str(FORMAT_VERSION + 1))}, "newer spanloom"),
    "no format version": ({"__metadata__": metadata(format_version=None)}, "format version"),
    "format version in words": ({"__metadata__": metadata(format_version="one")}, "format version"),
    "other format": ({"__metadata__": metadata(format="pt")}, "not a spanloom model"),
    "no header": ({"__metadata__": metadata(header=None)}, "header"),
    "header is a list": ({"__metadata__": metadata(header="[]"), "a": entry()}, "not a JSON object"),
    "header is damaged": ({"__metadata__": metadata(header="{"), "a": entry()}, "not JSON"),
    "header with NaN": ({"__metadata__": metadata(header='{"a":NaN}'), "a": entry()}, "not finite"),
    "header with overflow": ({"__metadata__": metadata(header='{"a":1e999}'), "a": entry()}, "not finite"),
    "header: long number": ({"__metadata__": metadata(header='{"a":%s}' % ("9" * 999)), "a": entry()}, "999 digits"),
    "header with a key twice": ({"__metadata__": metadata(header='{"a":1,"a":2}'), "a": entry()}, "'a' twice"),
    "header nested too deep": ({"__metadata__": metadata(header='{"a":' + "[" * 200_000), "a": entry()}, "deeper than"),
    "checksum of odd characters": ({"__metadata__": metadata(checksum="\ud800" * 8), "a": entry()}, "checksum"),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLES)
def test_damaged_tables_are_refused_with_the_reason(path: Path, case: str) -> None:
    """The checksum of these is right, so that each check is reached."""
    table, message = TABLES[case]
    path.write_bytes(build({"__metadata__": metadata(), **table}, b"\x02\x02\x02\x02"))
    with pytest.raises(ModelFileError, match=message) as caught:
        load_arrays(path, verify=False)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


RAW: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"),
    "short": (b"{}", "not a spanloom model"),
    "text": (b"# a text file that is long enough\n", "a text file"),
    "pickle": (pickle.dumps({"a": [1, 2, 3]}), "a pickle"),
    "CRFsuite model": (b"lCRF" + bytes(60), "a CRFsuite model"),
    "zeros": (bytes(1000), "another kind"),
    "header too large": ((10**9).to_bytes(8, "little") + b"{" + bytes(100), "not a spanloom model"),
    "length overflows": (b"\xff" * 8 + b"{}", "not a spanloom model"),
    "no table": (bytes(8) + b"{}", "0 bytes"),
    "truncated in the table": ((100).to_bytes(8, "little") + b'{"a":', "truncated"),
    "not UTF-8": (build("{}").replace(b"{}", b"{\xff"), "not JSON"),
    "key twice": (build('{"a":1,"a":2}'), "'a' twice"),
    "infinity": (build('{"a":Infinity}'), "not finite"),
    "not JSON": (build("{nonsense}"), "not JSON"),
    "no metadata": (build("{}"), "not a spanloom model"),
    "wrong checksum": (build({"__metadata__": metadata(checksum="12345678")}, checksum=False), "does not match"),
}  # fmt: skip


@pytest.mark.parametrize("case", RAW)
def test_foreign_and_broken_files_are_refused_with_the_reason(path: Path, case: str) -> None:
    raw, message = RAW[case]
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match=message) as caught:
        load_arrays(path)
    assert str(path) in str(caught.value)


def test_zip_archives_are_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", "x" * 100)
    with pytest.raises(ModelFileError, match="a zip archive"):
        load_arrays(path)


def test_what_is_no_file(tmp_path: Path) -> None:
    """A missing file and a folder are the system's errors; a pipe is refused before it blocks."""
    with pytest.raises(FileNotFoundError):
        load_arrays(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        load_arrays(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        load_arrays(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("arrays", "header", "message"),
    [
        ({"a": np.array(["x"])}, {}, "'a' has the type <U1"),
        ({"a": np.array([object()])}, {}, "'a' has the type object"),
        ({"a": np.array([1j])}, {}, "complex128"),
        ({"": np.zeros(1)}, {}, "named ''"),
        ({"__metadata__": np.zeros(1)}, {}, "named '__metadata__'"),
        ({"\ud800": np.zeros(1)}, {}, "named"),
        ({}, {"a": {"b": [1, float("nan")]}}, r"header\['a'\]\['b'\]\[1\] is nan"),
        ({}, {"a": {1: 2}}, r"header\['a'\] has the key 1"),
        ({}, {"a": np.int64(3)}, "of type int64"),
        ({}, {"a": 1 << 1000}, "1001 bits"),
        ({}, {"a": b"x"}, "of type bytes"),
    ],
)  # fmt: skip
def test_what_cannot_be_stored_is_named(path: Path, arrays: Any, header: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        save_arrays(path, arrays, header)
    assert not path.exists()


def test_a_failed_save_leaves_the_old_model(path: Path, saved: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_arrays(path, {"other": np.zeros(3)}, {})
    assert path.read_bytes() == saved
    assert os.listdir(path.parent) == [path.name]


def test_a_model_may_be_replaced_while_it_is_mapped(path: Path, saved: bytes) -> None:
    arrays, _ = load_arrays(path)
    save_arrays(path, {"other": np.zeros(3)}, {})
    assert arrays["weights"].tolist() == MODEL["weights"].tolist()


def test_loading_runs_nothing(path: Path) -> None:
    """A pickle that would leave a trace when run leaves none."""
    trace = path.parent / "trace"

    class Trap:
        def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
            return os.mkdir, (str(trace),)

    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelFileError):
        load_arrays(path)
    assert not trace.exists()


def test_a_large_model_is_not_copied_when_it_opens(path: Path) -> None:
    """64 MB with its checksum, 1 GB (of holes in the file) without: arrays lie in the file."""
    save_arrays(path, {"w": np.ones(1 << 23)}, {})
    tracemalloc.start()
    try:
        arrays, _ = load_arrays(path)
        assert arrays["w"].nbytes == 1 << 26
        size = 1 << 30
        path.write_bytes(build({"__metadata__": metadata(), "w": entry(shape=[size], data_offsets=[0, size])}))
        os.truncate(path, path.stat().st_size + size)
        arrays, _ = load_arrays(path, verify=False)
        assert arrays["w"].nbytes == size
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()
