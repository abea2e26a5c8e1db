"""Changes of inputs that keep their form: JSON as values, model files as tables and arrays with right checksums."""

from __future__ import annotations

import copy
import json
import random
import zlib
from collections.abc import Callable
from typing import Any

from spanloom.base.model_file import _checksum, _with_checksum

Mutate = Callable[[bytes, int], bytes]
"""The fuzzer's own change of bytes, of at most so many."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**40, 0.5, -0.0, 1e308, 5e-324, float("inf")),
    *(
        "",
        " ",
        "a",
        "\0",
        "\ud800",
        "é",
        "O",
        "B-X",
        "x" * 300,
        [],
        {},
        [[]],
        [0, 0],
        [1, 0],
        [-1, 1],
        [[0, 1]],
        {"": 0},
    ),
)


def json_values(data: bytes, most: int, chance: random.Random, mutate: Mutate) -> bytes:
    """Change a JSON value somewhere inside."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return mutate(data, most)
    return _dumped(changed(value, chance, mutate))[:most]


def json_lines(data: bytes, most: int, chance: random.Random, mutate: Mutate) -> bytes:
    """Change one of several lines of JSON, or repeat or drop one."""
    lines = data.split(b"\n")
    k = chance.randrange(len(lines))
    how = chance.random()
    if how < 0.1:
        lines.insert(k, lines[chance.randrange(len(lines))])
    elif how < 0.2 and len(lines) > 1:
        del lines[k]
    else:
        lines[k] = json_values(lines[k], most, chance, mutate)
    return b"\n".join(lines)[:most]


def changed(value: Any, chance: random.Random, mutate: Mutate) -> Any:
    """Return a JSON value with one to three changes; the value itself may be changed too."""
    for _ in range(chance.randint(1, 3)):
        root = [value]
        places = list(_places(root))
        inside, key = places[chance.randrange(len(places))]
        try:
            _change(inside, key, places, chance, mutate)
        except RecursionError:
            return None  # too deep to be copied
        value = root[0] if root else None
    return value


def _places(value: Any) -> Any:
    """Yield every container with each of its keys."""
    level = [value]
    while level:
        one = level.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one))
        for key in keys:
            yield one, key
            if isinstance(one[key], dict | list):
                level.append(one[key])


def _change(inside: Any, key: Any, places: list[Any], chance: random.Random, mutate: Mutate) -> None:
    how = chance.randrange(9)
    old = inside[key]
    other, place = places[chance.randrange(len(places))]
    if how == 0:
        del inside[key]
    elif how == 1 and isinstance(inside, dict):
        inside[chance.choice([str(place), str(key) + "s", "", "label", "text"])] = inside.pop(key)
    elif how == 2 and isinstance(inside, list):
        inside.insert(key, copy.deepcopy(old))
    elif how == 3:
        inside[key] = copy.deepcopy(other[place]) if _small(other, place) else None
    elif how == 4:
        for _ in range(chance.choice([1, 2, 50, 2000])):
            old = [old]
        inside[key] = old
    elif how == 5 and isinstance(old, int | float) and not isinstance(old, bool):
        inside[key] = old + chance.choice([1, -1, 2, 0.5, 1000])
    elif isinstance(old, str) and how < 8:
        inside[key] = mutate(old.encode("utf-8", "surrogatepass"), 400).decode("utf-8", "replace")
    else:
        inside[key] = copy.deepcopy(chance.choice(VALUES))


def _small(inside: Any, key: Any) -> bool:
    """Whether a value may be copied: one that holds its own place would grow without end."""
    try:
        return key in inside and len(repr(inside[key])) < 2000 if isinstance(inside, dict) else key < len(inside)
    except RecursionError:
        return False


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
    except RecursionError:
        return b"[" * 3000


def model_file(data: bytes, most: int, chance: random.Random, mutate: Mutate) -> bytes:
    """Change the header, the table or the arrays of a model file, and put its checksums right."""
    try:
        length = int.from_bytes(data[:8], "little")
        table = json.loads(data[8 : 8 + length])
        header = json.loads(table["__metadata__"]["header"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return mutate(data, most)
    arrays = data[8 + length :]
    how = chance.random()
    if how < 0.55:
        header = changed(header, chance, mutate)
    elif how < 0.75:
        table = changed(table, chance, mutate)
    else:
        arrays = _changed_array(arrays, table, chance, mutate)
    return packed(table, header, arrays)[:most]


def _changed_array(arrays: bytes, table: dict[str, Any], chance: random.Random, mutate: Mutate) -> bytes:
    """Change the bytes of one array; its length stays."""
    places = [_offsets(entry, len(arrays)) for entry in table.values()] if isinstance(table, dict) else []
    start, end = chance.choice(places or [(0, len(arrays))])
    if chance.random() < 0.5 and end > start:
        at = chance.randrange(start, end)
        value = chance.choice([b"\0", b"\1", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\xff", b"\0\0\xc0\x7f"])
        return arrays[:at] + value + arrays[at + len(value) :]
    return arrays[:start] + mutate(arrays[start:end], end - start).ljust(end - start, b"\0") + arrays[end:]


def _offsets(entry: Any, most: int) -> tuple[int, int]:
    """Where an array is; nowhere, if its entry does not say so."""
    found = entry.get("data_offsets") if isinstance(entry, dict) else None
    good = isinstance(found, list) and len(found) == 2 and all(type(n) is int and 0 <= n <= most for n in found)
    return (found[0], found[1]) if good and found[0] <= found[1] else (0, 0)


def packed(table: Any, header: Any, arrays: bytes) -> bytes:
    """Return a model file with right checksums, as far as the table has the form of one."""
    import numpy as np

    if isinstance(table, dict) and isinstance(table.get("__metadata__"), dict):
        metadata = table["__metadata__"]
        if header is not None:
            metadata["header"] = _dumped(header).decode("utf-8", "replace")
        metadata["checksum"] = "0" * 8
        chunks = []
        for name, entry in table.items():
            start, end = _offsets(entry, len(arrays))
            if name != "__metadata__":
                chunks.append(np.frombuffer(arrays[start:end], np.uint8))
        metadata["data_checksum"] = _checksum(chunks)
    text = _dumped(table)
    text += b" " * (-(8 + len(text)) % 64)
    text = _with_checksum(text, "0" * 8, f"{zlib.crc32(text):08x}")
    return len(text).to_bytes(8, "little") + text + arrays


def request(data: bytes, most: int, chance: random.Random, mutate: Mutate) -> bytes:
    """Change the body of a request as JSON, or its first line as bytes."""
    line, _, body = data.partition(b"\n")
    if chance.random() < 0.2:
        line = mutate(line, 200).replace(b"\n", b" ")
    else:
        body = json_values(body, most, chance, mutate)
    return (line + b"\n" + body)[:most]


MUTATORS = {"json": json_values, "jsonl": json_lines, "model": model_file, "request": request}
