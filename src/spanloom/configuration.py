"""Settings of a recogniser by name and from TOML files, for commands and tuning."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spanloom.base.errors import ParameterError
from spanloom.base.files import whole_file
from spanloom.base.settings import JOINT, Settings
from spanloom.base.toml import read_toml
from spanloom.recognizer import Recognizer

TABLES = ("model", "trainer", "decide", "encoder")
"""Parameters that are settings themselves: tables of a TOML file, with a ``name``, encoders with a ``path``."""


def configure(settings: Mapping[str, Any], ner: Recognizer | None = None) -> Recognizer:
    """Return a recogniser with settings by name; the last part of a nested name is enough where it is clear.

    Parameters
    ----------
    settings
        E.g. ``{"model": "cascade", "base": "memm", "order": 1, "l2": 0.5}``; ``min_count`` is the cut-off of the
        feature set.
    ner
        Gets the settings; a new one if not given.

    Examples
    --------
    >>> configure({"model": "cascade", "order": 1, "base": "memm", "l2": 0.5}).get_params()["model__base__order"]
    1
    """
    ner = Recognizer() if ner is None else ner
    settings = dict(settings)
    min_count = settings.pop("min_count", None)
    whole = ner.get_params(deep=False).keys() & settings.keys()
    ner.set_params(**{name: settings[name] for name in whole})
    left = {name: value for name, value in settings.items() if name not in whole}
    while left:
        # A base brings parameters of its own, so that it is set before them, whatever their order.
        known = {name: ner.full_name(name) for name in left if _is_known(ner, name)}
        if not known:
            ner.full_name(next(iter(left)))  # raises, with the names that there are
        name = min(known, key=lambda one: known[one].count(JOINT))
        ner.set_params(**{known[name]: left.pop(name)})
    if min_count is not None:
        ner.set_params(features=replace(ner.feature_set(), min_count=min_count), clusters=None)
    return ner


def _is_known(ner: Recognizer, name: str) -> bool:
    try:
        full = ner.full_name(name)
    except ParameterError:
        return False
    return full.partition(JOINT)[0] in ner.defaults()


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the settings of a TOML file, for ``configure``; the last part of a name is enough where it is clear.

    ::

        features = "gaps"
        [model]
        name = "cascade"
        [model.base]
        name = "memm"
        order = 1
        [trainer]
        name = "lbfgs"
        l2 = 0.5
    """
    return _flat(read_toml(path, ParameterError), "")


def write_config(ner: Recognizer, path: str | os.PathLike[str], **more: Any) -> None:
    """Write the settings of a recogniser to a TOML file that ``read_config`` reads; functions are left out.

    ``more`` settings are those that ``configure`` knows beside a recogniser's own: ``min_count``.
    """
    plain = more | {
        name: value.to_json() if isinstance(value, Settings) else value
        for name, value in ner.get_params(deep=False).items()
    }
    lines: list[str] = []
    _write({name: value for name, value in plain.items() if _storable(value)}, "", lines)
    with whole_file(path) as out:
        out.write("\n".join(lines).lstrip("\n") + "\n")


def _flat(data: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in data.items():
        full = f"{prefix}{name}"
        if isinstance(value, dict) and (full in TABLES or name == "base"):
            key = "path" if full == "encoder" else "name"
            if key in value:
                found[full] = value[key]
            found |= _flat({k: v for k, v in value.items() if k != key}, f"{full}{JOINT}")
        else:
            found[full] = value
    return found


def _storable(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_storable, value))
    return isinstance(value, str | bool | int | float | os.PathLike | dict)


def _write(values: Mapping[str, Any], table: str, lines: list[str]) -> None:
    inner = {name: value for name, value in values.items() if isinstance(value, dict)}
    for name, value in values.items():
        if name not in inner and value is not None:
            lines.append(f"{_key(name)} = {_toml(value)}")
    for name, value in inner.items():
        full = f"{table}.{_key(name)}" if table else _key(name)
        lines += ["", f"[{full}]"]
        _write(value, full, lines)


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(name)} = {_toml(one)}' for name, one in value.items() if one is not None)}}}"
    if isinstance(value, int | float):
        return repr(value)
    text = os.fspath(value)
    escaped = "".join(
        f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else f"\\{c}" if c in '"\\' else c for c in text
    )
    return f'"{escaped}"'
