"""What is to go says so first: one wording for every ``DeprecationWarning`` (docs/compatibility.md)."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from spanloom.base.errors import ParameterError

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def warn_deprecated(name: str, *, instead: str, since: str, gone: str, level: int = 2) -> None:
    """Say that a name is to go.

    Parameters
    ----------
    name, instead
        What is to go, and what to use.
    since, gone
        The version that says so first, and the one that no longer has it.
    level
        How many calls lie between this one and the user's line, as in ``warnings.warn``.
    """
    warnings.warn(
        f"{name} is deprecated since spanloom {since} and goes with {gone}; use {instead}",
        DeprecationWarning,
        stacklevel=level + 1,
    )


def deprecated(
    *, instead: str, since: str, gone: str
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Mark a function or method: it does what it did, and says what to use instead.

    Examples
    --------
    >>> @deprecated(instead="whole", since="0.2", gone="1.0")
    ... def part() -> int:
    ...     return 1
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     part()
    1
    >>> print(said[0].message)
    part is deprecated since spanloom 0.2 and goes with 1.0; use whole
    """

    def mark(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @functools.wraps(function)
        def call(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
            warn_deprecated(function.__qualname__, instead=instead, since=since, gone=gone)
            return function(*arguments, **named)

        return call

    return mark


def renamed_settings(
    given: Mapping[str, Any], names: Mapping[str, str], *, since: str, gone: str, level: int = 2
) -> dict[str, Any]:
    """Return settings under their names of today; each old one is said.

    Parameters
    ----------
    given
        Settings by name.
    names
        The name of today, by the old one.
    since, gone, level
        As for ``warn_deprecated``.

    Raises
    ------
    ParameterError
        If a setting is given under both names.

    Examples
    --------
    >>> renamed_settings({"l2": 1.0}, {"c2": "l2"}, since="0.2", gone="1.0")
    {'l2': 1.0}
    """
    made: dict[str, Any] = {}
    for name, value in given.items():
        today = names.get(name, name)
        if today != name:
            warn_deprecated(f"the setting {name!r}", instead=repr(today), since=since, gone=gone, level=level + 1)
        if today in made:
            raise ParameterError(f"{today!r} is given twice, once under its old name")
        made[today] = value
    return made
