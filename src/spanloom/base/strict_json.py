"""JSON that comes back as it went in: no value that JSON would change, no key twice, no number out of bounds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from spanloom.base.errors import ModelFileError, ParameterError

_LONGEST_NUMBER = 300
"""In digits; longer ones take quadratic time to read."""
DEEPEST = 100
"""Levels of nested lists and objects in the files that we read."""


def dump(value: Mapping[str, Any], where: str) -> str:
    """Write a JSON object without blanks, in ASCII; what JSON cannot hold raises ``ParameterError`` with its place.

    Examples
    --------
    >>> dump({"labels": ["B", "I"], "l2": 0.5}, "header")
    '{"labels":["B","I"],"l2":0.5}'
    """
    _check(value, where)
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def parse(text: str | bytes, where: str) -> dict[str, Any]:
    """Read a JSON object; anything else raises ``ModelFileError``.

    Examples
    --------
    >>> parse(b'{"l2": 0.5}', "header")
    {'l2': 0.5}
    """
    try:
        value = json.loads(
            text.decode("utf-8") if isinstance(text, bytes) else text,
            object_pairs_hook=_unique,
            parse_int=_integer,
            parse_float=_real,
            parse_constant=_real,
        )
    except ModelFileError as error:
        raise ModelFileError(f"damaged: the {where} has {error}") from None
    except RecursionError:
        raise ModelFileError(f"damaged: the {where} is nested deeper than {DEEPEST} levels") from None
    except ValueError as error:
        raise ModelFileError(f"damaged: the {where} is not JSON ({error})") from None
    if is_deep(value):
        raise ModelFileError(f"damaged: the {where} is nested deeper than {DEEPEST} levels")
    if not isinstance(value, dict):
        raise ModelFileError(f"damaged: the {where} is not a JSON object")
    return value


def is_deep(value: Any, most: int = DEEPEST) -> bool:
    """Whether lists and objects are nested in more than ``most`` levels.

    Examples
    --------
    >>> is_deep([[]], 2), is_deep([[]], 1)
    (False, True)
    """
    level, depth = [value] if isinstance(value, dict | list) else [], 0
    while level and depth <= most:
        depth += 1
        level = [
            one
            for outer in level
            for one in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(one, dict | list)
        ]
    return depth > most


def _check(value: Any, where: str) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ParameterError(f"{where} has the key {key!r}; keys must be strings")
            _check(item, f"{where}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _check(item, f"{where}[{i}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"{where} is {value!r}; numbers must be finite")
    elif isinstance(value, int) and value.bit_length() > 3 * _LONGEST_NUMBER:
        raise ParameterError(f"{where} is an integer of {value.bit_length()} bits; at most 900 are allowed")
    elif value is not None and not isinstance(value, (str, int, float)):
        raise ParameterError(f"{where} is {value!r} of type {type(value).__name__}; JSON cannot hold it")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise ModelFileError(f"the key {key!r:.80} twice")
        members[key] = value
    return members


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ModelFileError(f"a number of {len(digits)} digits")
    return int(digits)


def _real(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ModelFileError(f"the number {digits:.40}, which is not finite")
    return number
