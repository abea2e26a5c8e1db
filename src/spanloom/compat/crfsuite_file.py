"""CRFsuite's binary model files, in and out.

::

    48 bytes   "lCRF", size, "FOMC", version (100), numbers of features, labels and attributes,
               offsets of FEAT, the labels, the attributes, LFRF and AFRF
    FEAT       id, size, number; features of 20 bytes: kind (0 attribute and label, 1 label and label), from, to, weight
    labels     a dictionary, see cqdb; then the attributes
    LFRF       id, size, number; offsets of the lists of features that begin at each label: how many, and their numbers
    AFRF       the same for attributes

All offsets count from the beginning of the file, but for those within a dictionary.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spanloom.base.errors import ModelFileError, ParameterError
from spanloom.compat import cqdb
from spanloom.compat.model import ChainModel

MAGIC, KIND, VERSION = b"lCRF", b"FOMC", 100
HEADER = struct.Struct("<4sI4s9I")
CHUNK = struct.Struct("<4s2I")
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
STATE, TRANSITION = 0, 1
EXTRA_LABELS = 2
"""LFRF has room for two labels more than there are: a beginning and an end, which CRFsuite does not use."""

NO_NUMBER = 0
"""CRFsuite leaves the number of features in the header at 0; the part FEAT has it."""


class Header(NamedTuple):
    """The first 48 bytes of a file."""

    magic: bytes
    size: int
    kind: bytes
    version: int
    num_features: int
    num_labels: int
    num_attrs: int
    off_features: int
    off_labels: int
    off_attrs: int
    off_labelrefs: int
    off_attrrefs: int


def pack(model: ChainModel) -> bytes:
    """Return a model as a CRFsuite file.

    Raises
    ------
    ParameterError
        If a name has a zero character, or the file would have more than 4 GiB: CRFsuite has no place for those.
    """
    labels, attributes = len(model.labels), len(model.attributes)
    states = len(model.weights)
    features = np.zeros(model.features, FEATURE)
    features["source"][:states] = np.repeat(np.arange(attributes, dtype=np.uint32), np.diff(model.ptr))
    features["target"][:states], features["weight"][:states] = model.columns, model.weights
    features["kind"][states:] = TRANSITION
    features["source"][states:], features["target"][states:] = model.sources, model.targets
    features["weight"][states:] = model.transitions

    parts = [b"FEAT" + struct.pack("<2I", CHUNK.size + features.nbytes, len(features)) + features.tobytes()]
    at = HEADER.size + len(parts[0])
    offsets = [HEADER.size]
    for names, what in ((model.labels, "label"), (model.attributes, "attribute")):
        offsets.append(at)
        parts.append(cqdb.pack(names, what))
        at += len(parts[-1])
    begins = np.searchsorted(model.sources, np.arange(labels + 1)) + states
    if not np.array_equal(model.sources, np.sort(model.sources)):
        raise ParameterError("the transitions of a model must be ordered by their first label")
    for magic, pointers, extra in ((b"LFRF", begins, EXTRA_LABELS), (b"AFRF", model.ptr, 0)):
        parts.append(b"\0" * (-at % 4))
        at += len(parts[-1])
        offsets.append(at)
        parts.append(_references(magic, pointers.astype(np.int64), at, extra))
        at += len(parts[-1])
    if at >= 1 << 32:
        raise ParameterError(f"the model takes {at} bytes; CRFsuite's files end at 4 GiB. Save it as .loom.")
    return HEADER.pack(MAGIC, at, KIND, VERSION, NO_NUMBER, labels, attributes, *offsets) + b"".join(parts)


def _references(magic: bytes, pointers: npt.NDArray[np.int64], at: int, extra: int) -> bytes:
    """Return a chunk with the lists of features ``pointers[i]`` to ``pointers[i + 1]``; it begins at ``at``."""
    sizes = np.diff(pointers)
    items = len(sizes) + extra
    places = at + CHUNK.size + 4 * items + 4 * (np.concatenate([[0], np.cumsum(sizes + 1)]))
    lists = np.insert(np.arange(pointers[0], pointers[-1]), pointers[:-1] - pointers[0], sizes)
    table = np.concatenate([places[:-1], np.zeros(extra, np.int64), lists]).astype("<u4")
    return CHUNK.pack(magic, CHUNK.size + table.nbytes, items) + table.tobytes()


def header(data: bytes | memoryview) -> Header:
    """Return the header of a file, checked by itself."""
    data = memoryview(data)
    if bytes(data[:4]) != MAGIC:
        raise ModelFileError(f"not a CRFsuite model: it begins with {bytes(data[:4])!r}, not with {MAGIC!r}")
    if len(data) <= HEADER.size:
        raise ModelFileError(f"truncated: a CRFsuite model has more than {HEADER.size} bytes, this has {len(data)}")
    found = Header(*HEADER.unpack_from(data))
    if found.kind != KIND or found.version != VERSION:
        raise ModelFileError(
            f"a CRFsuite model of kind {found.kind!r} and version {found.version}; {KIND!r} and {VERSION} can be read"
        )
    if found.size != len(data):
        raise ModelFileError(f"truncated or damaged: the header says {found.size} bytes, there are {len(data)}")
    return found


def unpack(data: bytes | memoryview) -> ChainModel:
    """Return the model in a CRFsuite file.

    Raises
    ------
    ModelFileError
        If the file is of another kind or version, truncated, or anything in it points outside of it.
    """
    data = memoryview(data)
    head = header(data)
    features = _features(data, head)
    labels = cqdb.unpack(data[min(head.off_labels, len(data)) :], "labels", head.num_labels)
    attributes = cqdb.unpack(data[min(head.off_attrs, len(data)) :], "attributes", head.num_attrs)
    _, transitions = _lists(data, head.off_labelrefs, b"LFRF", head.num_labels, features, TRANSITION)
    sizes, states = _lists(data, head.off_attrrefs, b"AFRF", head.num_attrs, features, STATE)
    for kind, part, most in ((STATE, states, head.num_attrs), (TRANSITION, transitions, head.num_labels)):
        outside = (part["source"] >= most) | (part["target"] >= head.num_labels) | ~np.isfinite(part["weight"])
        if outside.any():
            bad = part[int(np.argmax(outside))]
            raise ModelFileError(
                f"damaged: a feature of kind {kind} goes from {bad['source']} of {most} to label {bad['target']} of "
                f"{head.num_labels} with the weight {bad['weight']}"
            )
    order = np.lexsort((transitions["target"], transitions["source"]))
    transitions = transitions[order]
    return ChainModel(
        labels,
        attributes,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        states["target"].astype(np.uint32),
        states["weight"].astype(np.float64),
        transitions["source"].astype(np.uint32),
        transitions["target"].astype(np.uint32),
        transitions["weight"].astype(np.float64),
    )


def _features(data: memoryview, head: Header) -> npt.NDArray[np.void]:
    _, number = _chunk(data, head.off_features, b"FEAT")
    end = head.off_features + CHUNK.size + FEATURE.itemsize * number
    if end > len(data):
        raise ModelFileError(f"truncated: {number} features need the bytes up to {end} of {len(data)}")
    return np.frombuffer(data, FEATURE, number, head.off_features + CHUNK.size)


def _chunk(data: memoryview, at: int, magic: bytes) -> tuple[int, int]:
    """Return the size of a chunk and the number of its items."""
    if not HEADER.size <= at <= len(data) - CHUNK.size:
        raise ModelFileError(f"damaged: the part {magic.decode()} begins at byte {at} of {len(data)}")
    found, size, number = CHUNK.unpack_from(data, at)
    if found != magic:
        raise ModelFileError(f"damaged: the part {magic.decode()} begins with {found!r}")
    return size, number


def _lists(
    data: memoryview, at: int, magic: bytes, count: int, features: npt.NDArray[np.void], kind: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.void]]:
    """Return how many features each list has, and the features of all lists, one after the other."""
    name = magic.decode()
    _, number = _chunk(data, at, magic)
    if number < count or at + CHUNK.size + 4 * number > len(data):
        raise ModelFileError(f"damaged: the part {name} has {number} lists; {count} are needed")
    words = np.frombuffer(data[: len(data) // 4 * 4], "<u4")
    offsets = np.frombuffer(data, "<u4", count, at + CHUNK.size).astype(np.int64)
    if ((offsets < HEADER.size) | (offsets % 4 != 0) | (offsets // 4 >= len(words))).any():
        raise ModelFileError(f"damaged: a list of the part {name} begins outside of the file of {len(data)} bytes")
    sizes = words[offsets // 4].astype(np.int64)
    if (offsets // 4 + 1 + sizes > len(words)).any() or int(sizes.sum()) > len(features):
        raise ModelFileError(f"damaged: a list of the part {name} ends outside of the file, or a feature stands twice")
    places = np.repeat(offsets // 4 + 1 - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    numbers = words[places]
    if len(numbers) and int(numbers.max()) >= len(features):
        raise ModelFileError(f"damaged: the part {name} names feature {numbers.max()} of {len(features)}")
    found = features[numbers]
    owner = np.repeat(np.arange(count), sizes)
    if not (np.array_equal(found["source"], owner) and (found["kind"] == kind).all()):
        raise ModelFileError(f"damaged: the part {name} lists a feature of another attribute or label")
    return sizes, found
