"""Settings on the command line: ``NAME=VALUE`` and ``NAME=VALUE,VALUE,…``."""

from __future__ import annotations

import json
import re
from typing import Any

from spanloom.base.errors import ParameterError

_COMMA = re.compile(r",(?![^{]*\}|[^\[]*\])")
"""A comma outside brackets."""


def parse_value(text: str) -> Any:
    """Read a value as JSON (a number, true, null …), or else as a plain word.

    Examples
    --------
    >>> parse_value("0.5"), parse_value("true"), parse_value("IOBES")
    (0.5, True, 'IOBES')
    """
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Read ``NAME=VALUE`` pairs.

    Examples
    --------
    >>> parse_settings(["model=chain", "l2=0.5"])
    {'model': 'chain', 'l2': 0.5}
    """
    return {name: parse_value(value) for name, value in map(_split, pairs)}


def parse_grid(pairs: list[str]) -> dict[str, list[Any]]:
    """Read ``NAME=VALUE,VALUE,…`` pairs.

    Examples
    --------
    >>> parse_grid(["l2=0.1,1", "scheme=IOB2,IOBES"])
    {'l2': [0.1, 1], 'scheme': ['IOB2', 'IOBES']}
    >>> parse_grid(['penalty={"DNA": 1, "RNA": 0},2'])
    {'penalty': [{'DNA': 1, 'RNA': 0}, 2]}
    """
    return {name: [parse_value(value) for value in _COMMA.split(values)] for name, values in map(_split, pairs)}


def _split(pair: str) -> tuple[str, str]:
    name, mark, value = pair.partition("=")
    if not mark or not name or not value:
        raise ParameterError(f"a setting is written NAME=VALUE, got {pair!r}")
    return name.strip().replace("-", "_").replace(".", "__"), value
