"""JSON in and out, checked: every complaint names the field, its value and what is allowed."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from spanloom.base.errors import CorpusError
from spanloom.base.strict_json import DEEPEST, is_deep
from spanloom.corpus.mention import Part, Parts


class BadRecord(Exception):
    """A record that cannot be read; readers add the place and hand it to the report."""

    def __init__(self, message: str, kind: str = "schema") -> None:
        super().__init__(message)
        self.kind = kind


def decode(line: str) -> Any:
    """Return the value of a JSON text; raises ``BadRecord`` for anything else, also NaN and half surrogate pairs."""
    try:
        value = _DECODER.decode(line)
        if line.count("[") + line.count("{") > DEEPEST and is_deep(value):
            raise RecursionError
        if "\\u" in line:
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise BadRecord(f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}", "json") from None
    except RecursionError:
        raise BadRecord(f"not JSON that can be read: nested deeper than {DEEPEST} levels", "json") from None
    except UnicodeEncodeError:
        raise BadRecord("not Unicode text: half of a surrogate pair", "json") from None
    except ValueError as error:
        raise BadRecord(f"not JSON that can be read: {error}", "json") from None
    return value


def encode(value: Any, where: str) -> str:
    """Return a value as one line of JSON; raises ``CorpusError`` for what JSON cannot hold, such as NaN."""
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        line.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise CorpusError(f"{where} has a value that JSON cannot hold: {error}") from error
    return line + "\n"


def as_object(value: Any, what: str) -> dict[str, Any]:
    """Return ``value`` if it is an object."""
    if not isinstance(value, dict):
        raise BadRecord(f"{what} must be an object, not {_short(value)}")
    return value


def as_list(value: Any, what: str) -> list[Any]:
    """Return ``value`` if it is a list."""
    if not isinstance(value, list):
        raise BadRecord(f"{what} must be a list, not {_short(value)}")
    return value


def as_string(value: Any, what: str) -> str:
    """Return ``value`` if it is a string."""
    if not isinstance(value, str):
        raise BadRecord(f"{what} must be a string, not {_short(value)}")
    return value


def as_int(value: Any, what: str) -> int:
    """Return ``value`` if it is a whole number."""
    if type(value) is not int:
        raise BadRecord(f"{what} must be a whole number, not {_short(value)}")
    return value


def as_strings(value: Any, what: str, all: str | None = None) -> list[str]:
    """Return ``value`` if it is a list of strings; ``what`` names one of them, ``all`` the list, if not ``WHATs``."""
    strings = as_list(value, all or f"{what}s")
    if not {str}.issuperset(map(type, strings)):
        for i, item in enumerate(strings):
            as_string(item, f"{what} {i}")
    return strings


def as_pair(value: Any, what: str) -> Part:
    """Return two whole numbers."""
    if not _is_pair(value):
        raise BadRecord(f"{what} must be [start, end], not {_short(value)}")
    return (value[0], value[1])


def as_range(value: Any, what: str, length: int, empty: bool = False) -> Part:
    """Return a half-open range within 0 and ``length``; it may be empty only if ``empty``."""
    start, end = as_pair(value, what)
    if not (0 <= start <= end <= length and (empty or start < end)):
        raise BadRecord(f"{what} must be a half-open range within 0 and {length}, not {start, end}")
    return (start, end)


def as_ranges(value: Any, what: str, length: int) -> Parts:
    """Return a list of half-open ranges within 0 and ``length``."""
    if type(value) is list:
        good = tuple([(p[0], p[1]) for p in value if _is_pair(p) and 0 <= p[0] < p[1] <= length])
        if len(good) == len(value):
            return good
    return tuple(as_range(pair, what, length) for pair in as_list(value, what))


def _is_pair(value: Any) -> bool:
    return type(value) is list and len(value) == 2 and type(value[0]) is int and type(value[1]) is int


def _no_constant(name: str) -> NoReturn:
    raise BadRecord(f"not JSON: {name} is no JSON number", "json")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:39] + "…"


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
