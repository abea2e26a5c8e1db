"""The dictionaries in CRFsuite's model files: a constant database of strings and their numbers, both ways.

::

    24 bytes   "CQDB", size, flag, byte order (0x62445371), number of strings, offset of the list of offsets
    2048       256 × (offset, size) of hash tables
    …          records: number, length, the string and a zero byte
    …          hash tables: (hash, offset of the record), half of them empty: open addressing
    …          the offsets of the records, by number

All numbers are little-endian and 32 bits long; offsets count from the beginning of the dictionary. The hash is Bob
Jenkins' lookup3 of the string with its zero byte; its last eight bits choose the table, the others the place.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from spanloom._native import jenkins_hash
from spanloom.base.errors import ModelFileError, ParameterError

MAGIC = b"CQDB"
BYTE_ORDER = 0x62445371
TABLES = 256
HEADER = struct.Struct("<4s5I")
RECORD = struct.Struct("<2I")
DATA = HEADER.size + RECORD.size * TABLES


def pack(names: Sequence[str], what: str) -> bytes:
    """Return the dictionary of ``names``, numbered from 0."""
    records, offsets = [], []
    tables: list[list[tuple[int, int]]] = [[] for _ in range(TABLES)]
    at = DATA
    for number, name in enumerate(names):
        if "\0" in name:
            raise ParameterError(
                f"the {what} {name!r} has a zero character, which ends a string in CRFsuite's files. Rename it, or "
                "save the model as .loom."
            )
        key = name.encode() + b"\0"
        records.append(RECORD.pack(number, len(key)) + key)
        offsets.append(at)
        value = jenkins_hash(key)
        tables[value % TABLES].append((value, at))
        at += RECORD.size + len(key)
    references, packed = [], []
    for table in tables:
        references.append(RECORD.pack(at if table else 0, 2 * len(table)))
        packed.append(_table(table))
        at += len(packed[-1])
    size = at + 4 * len(offsets)
    header = HEADER.pack(MAGIC, size, 0, BYTE_ORDER, len(offsets), at if offsets else 0)
    return b"".join([header, *references, *records, *packed, np.array(offsets, "<u4").tobytes()])


def _table(entries: list[tuple[int, int]]) -> bytes:
    places = 2 * len(entries)
    table = [(0, 0)] * places
    for value, offset in entries:
        place = (value >> 8) % places
        while table[place][1]:
            place = (place + 1) % places
        table[place] = value, offset
    return b"".join(RECORD.pack(*entry) for entry in table)


def unpack(data: memoryview, what: str, count: int) -> list[str]:
    """Return the strings of a dictionary by number; ``data`` begins with it and may go on behind it.

    Raises
    ------
    ModelFileError
        If it does not have ``count`` strings, or anything in it points outside of it.
    """

    def broken(complaint: str) -> ModelFileError:
        return ModelFileError(f"damaged: the dictionary of {what} {complaint}")

    if len(data) < DATA:
        raise broken(f"has {len(data)} bytes, fewer than the {DATA} that an empty one has")
    magic, size, _, order, strings, at = HEADER.unpack_from(data)
    if magic != MAGIC or order != BYTE_ORDER:
        raise broken(f"begins with {magic!r} and the byte order {order:#x}, not with {MAGIC!r} and {BYTE_ORDER:#x}")
    if not DATA <= size <= len(data):
        raise broken(f"says that it has {size} bytes; it can have {DATA} to {len(data)}")
    if strings != count:
        raise broken(f"has {strings} strings, the header of the file says {count}")
    if not count:
        return []
    if not DATA <= at <= size - 4 * count:
        raise broken(f"has its list of offsets at {at}, and ends at {size}")
    names = []
    for number, offset in enumerate(np.frombuffer(data, "<u4", count, at).tolist()):
        if not DATA <= offset <= size - RECORD.size - 1:
            raise broken(f"has string {number} at {offset}, and ends at {size}")
        found, length = RECORD.unpack_from(data, offset)
        key = bytes(data[offset + RECORD.size : offset + RECORD.size + length])
        if found != number or len(key) != length or key.find(b"\0") != length - 1:
            raise broken(f"has a broken record of string {number} at {offset}")
        try:
            names.append(key[:-1].decode())
        except UnicodeDecodeError:
            raise broken(f"has string {number}, {key[:40]!r}, which is not UTF-8") from None
    if len(set(names)) != len(names):
        raise broken("has a string twice")
    return names
