"""The model file: named arrays and a JSON header in the safetensors layout. Loading runs nothing.

::

    8 bytes   n, the length of the table, little-endian
    n bytes   JSON, padded with blanks to a multiple of 64:
              {"__metadata__": {"checksum", "data_checksum", "format", "format_version", "header"},
               name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}
    the rest  the arrays, one after the other, without holes

Metadata values of safetensors are strings, so ``header`` is the caller's JSON as a string. Arrays are ordered by
falling item size and then by name, which aligns each to its item size. Equal input gives equal bytes.
"""

from __future__ import annotations

import math
import mmap
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spanloom.base import strict_json
from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.base.files import whole_file

Array = npt.NDArray[Any]
Buffer = mmap.mmap | bytes

FORMAT_VERSION = 3
"""The format that this version writes, and the newest that it reads; 2 may have packed weights, 3 fixed-point ones."""

START = re.compile(rb'(?s).{8}\{"__metadata__":\{"checksum":"\w{8}","data_checksum":"\w{8}","format":"spanloom"')
"""How every model file begins, of any version."""

_TABLE_LIMIT = 100_000_000  # bytes; the same as the safetensors package sets
_ALIGNMENT = 64
_BLOCK = 1 << 16
_MAX_DIMENSIONS = 32
_PENDING = "0" * 8
_FORGET: int | None = getattr(mmap, "MADV_DONTNEED", None)  # systems without it keep what was read
_DTYPES = {
    "BOOL": np.dtype("?"), "U8": np.dtype("u1"), "I8": np.dtype("i1"), "U16": np.dtype("<u2"), "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"), "U32": np.dtype("<u4"), "I32": np.dtype("<i4"), "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"), "I64": np.dtype("<i8"), "F64": np.dtype("<f8"),
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_FOREIGN = {
    b"PK": "a zip archive", b"\x80": "a pickle", b"\x1f\x8b": "a gzip file", b"lCRF": "a CRFsuite model",
    b"BZh": "a bzip2 file", b"\xfd7zXZ": "an xz file", b"\x93NUMPY": "a NumPy array", b"\x89HDF": "an HDF5 file",
    b"\x7fELF": "a program", b"SQLite": "a database",
}  # fmt: skip


def save_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Array], header: Mapping[str, Any]) -> None:
    """Write arrays and a header to one file, whole or not at all.

    Parameters
    ----------
    path
        An older file of this name is replaced when the new one is complete.
    arrays
        Numbers or booleans of any shape. They come back in the same type, in little-endian order.
    header
        What else the reader needs to know: nothing but dicts with string keys, lists, strings, finite numbers, booleans
        and None.

    Raises
    ------
    ParameterError
        If an array's type or something in the header cannot be stored.
    OSError
        If the file cannot be written; an older file of this name is as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_arrays(folder + "/m.loom", {"weights": np.ones((2, 3))}, {"labels": ["B", "I", "O"]})
    ...     arrays, header = load_arrays(folder + "/m.loom")
    >>> arrays["weights"].shape, header
    ((2, 3), {'labels': ['B', 'I', 'O']})
    """
    parts = _packed(arrays, header)
    with whole_file(path, "wb") as out:
        for part in parts:
            out.write(part)


def to_bytes(arrays: Mapping[str, Array], header: Mapping[str, Any]) -> bytes:
    """Return the bytes of the file that :func:`save_arrays` would write."""
    return b"".join(_packed(arrays, header))


def from_bytes(data: bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    """Undo :func:`to_bytes`, as :func:`load_arrays` reads a file; arrays are views into the bytes.

    Examples
    --------
    >>> arrays, header = from_bytes(to_bytes({"weights": np.ones(2)}, {"labels": ["B"]}))
    >>> arrays["weights"], header
    (array([1., 1.]), {'labels': ['B']})
    """
    return _read(data, verify=True)


def _packed(arrays: Mapping[str, Array], header: Mapping[str, Any]) -> list[Any]:
    """Return what a file consists of, in order: its length, the table, the arrays."""
    packed_header = strict_json.dump(header, "header")
    stored = {name: _storable(name, array) for name, array in arrays.items()}
    order = sorted(stored, key=lambda name: (-stored[name].itemsize, name))
    chunks = [stored[name].reshape(-1).view(np.uint8) for name in order]
    metadata = {
        "checksum": _PENDING,
        "data_checksum": _checksum(chunks),
        "format": "spanloom",
        "format_version": str(FORMAT_VERSION),
        "header": packed_header,
    }
    table: dict[str, Any] = {"__metadata__": metadata}
    at = 0
    for name in order:
        array = stored[name]
        end = at + array.nbytes
        table[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [at, end]}
        at = end
    text = strict_json.dump(table, "table").encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    if len(text) > _TABLE_LIMIT:
        raise ParameterError(f"the header takes {len(text)} bytes; at most {_TABLE_LIMIT} are allowed. Use an array.")
    text = _with_checksum(text, _PENDING, f"{zlib.crc32(text):08x}")
    return [len(text).to_bytes(8, "little"), text, *(chunk.data for chunk in chunks)]


def load_arrays(path: str | os.PathLike[str], verify: bool = True) -> tuple[dict[str, Array], dict[str, Any]]:
    """Map a model file into memory.

    Parameters
    ----------
    path
        A file that :func:`save_arrays` wrote.
    verify
        Compare the arrays with their checksum, which reads them once (about 0.1 s per GB in memory). The table and
        the header are always verified.

    Returns
    -------
    arrays
        Read-only views into the file; nothing is copied. The file may be replaced meanwhile, but not changed in place.
    header
        The JSON that was given to :func:`save_arrays`.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, of another kind, or written by a newer version.
    OSError
        If it cannot be opened.
    """
    path = Path(path)
    if not stat.S_ISREG(os.stat(path).st_mode) and not path.is_dir():
        raise ModelFileError(f"{path}: not a regular file; a model must be one to be mapped into memory")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise ModelFileError(f"{path}: the file is empty")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        found = _read(data, verify)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from None
    if _FORGET is not None:
        data.madvise(_FORGET)  # the checksum has read all of it
    return found


def forget(array: Array) -> None:
    """Give back the memory of an array that is a view into a mapped file; what is read again comes from the file again.

    Others are left alone.
    """
    data: Any = array
    while isinstance(data, np.ndarray):
        data = data.base
    if isinstance(data, mmap.mmap) and _FORGET is not None and array.flags.c_contiguous:
        start = array.ctypes.data - np.frombuffer(data, np.uint8, 1).ctypes.data
        first = start // mmap.PAGESIZE * mmap.PAGESIZE
        data.madvise(_FORGET, first, start + array.nbytes - first)


def _storable(name: str, array: Array) -> Array:
    """Return the array as it is stored: contiguous, little-endian."""
    if not name or name == "__metadata__" or not _encodable(name):
        raise ParameterError(f"an array cannot be named {name!r}; use a string that is not empty or '__metadata__'")
    dtype = array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype
    if dtype not in _NAMES:
        raise ParameterError(f"array {name!r} has the type {array.dtype}; allowed are booleans, integers and floats")
    if array.ndim > _MAX_DIMENSIONS:
        raise ParameterError(f"array {name!r} has {array.ndim} dimensions; at most {_MAX_DIMENSIONS} are allowed")
    return np.asarray(array, dtype, order="C")


def _encodable(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _checksum(chunks: Iterable[npt.NDArray[np.uint8]]) -> str:
    """Return a checksum of arrays that is as fast as memory: a CRC of the 64-bit sums of their blocks."""
    crc = 0
    for chunk in chunks:
        whole = len(chunk) // _BLOCK * _BLOCK
        if whole:
            words = np.ndarray((whole // _BLOCK, _BLOCK // 8), np.dtype("<u8"), chunk[:whole].data)
            crc = zlib.crc32(words.sum(axis=1, dtype=np.uint64).astype("<u8").data, crc)
        crc = zlib.crc32(chunk[whole:].data, crc)
    return f"{crc:08x}"


def _with_checksum(table: bytes, old: str, new: str) -> bytes:
    return table.replace(b'"checksum":"%s"' % old.encode(), b'"checksum":"%s"' % new.encode(), 1)


def _read(data: Buffer, verify: bool) -> tuple[dict[str, Array], dict[str, Any]]:
    begin, raw = _read_table(data)
    table = strict_json.parse(raw, "table")
    metadata = table.pop("__metadata__", None)
    if not isinstance(metadata, dict) or metadata.get("format") != "spanloom":
        raise ModelFileError("a safetensors file, but not a spanloom model")
    version = metadata.get("format_version")
    if not isinstance(version, str) or not (version.isascii() and version.isdecimal()) or len(version) > 9:
        raise ModelFileError(f"damaged: the format version is {version!r}, not a number")
    if int(version) > FORMAT_VERSION:
        raise ModelFileError(
            f"written in format {version} by a newer spanloom; this one reads up to {FORMAT_VERSION}. Upgrade spanloom."
        )
    header, checksum = metadata.get("header"), metadata.get("checksum")
    if not isinstance(header, str) or not isinstance(checksum, str) or len(checksum) != len(_PENDING):
        raise ModelFileError("damaged: the header or its checksum is missing")
    if not _encodable(checksum) or f"{zlib.crc32(_with_checksum(raw, checksum, _PENDING)):08x}" != checksum:
        raise ModelFileError("damaged: the header does not match its checksum")
    arrays = _view_arrays(data, begin, table)
    if verify and _checksum(array.reshape(-1).view(np.uint8) for array in arrays.values()) != metadata.get(
        "data_checksum"
    ):
        raise ModelFileError("damaged: the arrays do not match their checksum")
    return arrays, strict_json.parse(header, "header")


def _read_table(data: Buffer) -> tuple[int, bytes]:
    """Return where the arrays begin, and the bytes of the table before them."""
    size = len(data)
    length = int.from_bytes(data[:8], "little")
    if size < 8 or data[8:9] not in (b"{", b"") or length > _TABLE_LIMIT:
        raise ModelFileError(f"not a spanloom model, but {_guess(data[:64])}")
    if length < 2:
        raise ModelFileError(f"damaged: the table is {length} bytes long")
    if length > size - 8:
        raise ModelFileError(f"truncated: the file has {size} bytes, its table alone needs {8 + length}")
    return 8 + length, data[8 : 8 + length]


def _guess(start: bytes) -> str:
    for magic, kind in _FOREIGN.items():
        if start.startswith(magic):
            return kind
    if start.isascii() and not any(byte < 9 for byte in start):
        return "a text file"
    return "a file of another kind, or a damaged one"


def _view_arrays(data: Buffer, begin: int, table: dict[str, Any]) -> dict[str, Array]:
    size = len(data) - begin
    entries = [_entry(name, entry) for name, entry in table.items()]
    at = 0
    for name, dtype, shape, start, end in sorted(entries, key=lambda entry: entry[3:]):
        if start != at:
            raise ModelFileError(f"damaged: array {name!r} begins at byte {start}, the one before it ends at {at}")
        if math.prod(shape) * dtype.itemsize != end - start:
            raise ModelFileError(f"damaged: array {name!r} of shape {shape} and type {dtype} has {end - start} bytes")
        if (begin + start) % dtype.itemsize:
            raise ModelFileError(f"damaged: array {name!r} begins at byte {begin + start}, not aligned for {dtype}")
        at = end
    if at != size:
        kind = "truncated" if at > size else "damaged"
        raise ModelFileError(f"{kind}: the arrays need {at} bytes, the file has {size} for them")
    return {name: _view(data, name, dtype, shape, begin + start) for name, dtype, shape, start, _ in entries}


def _entry(name: str, entry: Any) -> tuple[str, np.dtype[Any], tuple[int, ...], int, int]:
    """Check one line of the table by itself."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"damaged: the entry of array {name!r} is {entry!r:.80}")
    kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    dtype = _DTYPES.get(kind) if isinstance(kind, str) else None
    if dtype is None:
        raise ModelFileError(f"damaged: array {name!r} has the type {kind!r:.40}; allowed are {', '.join(_DTYPES)}")
    if not _naturals(shape) or len(shape) > _MAX_DIMENSIONS or math.prod(filter(None, shape)) > sys.maxsize // 8:
        raise ModelFileError(f"damaged: array {name!r} has the shape {shape!r:.80}")
    if not _naturals(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ModelFileError(f"damaged: array {name!r} has the offsets {offsets!r:.80}")
    return name, dtype, tuple(shape), offsets[0], offsets[1]


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def _view(data: Buffer, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], start: int) -> Array:
    if math.prod(shape) == 0:
        array: Array = np.empty(shape, dtype)
        array.flags.writeable = False
        return array
    if dtype == np.bool_ and np.frombuffer(data, np.uint8, math.prod(shape), start).max() > 1:
        raise ModelFileError(f"damaged: array {name!r} holds bytes that are neither true nor false")
    return np.ndarray(shape, dtype, data, start)
