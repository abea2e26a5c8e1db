"""Settings: small frozen dataclasses that check themselves, nest, and go through JSON.

A model, a trainer and a decision are settings. Nested names are joined by two underscores, as scikit-learn does:
``model__base__order``.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from spanloom.base.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

JOINT = "__"


class Settings(ABC):
    """Base of frozen dataclasses of settings; ``check`` raises ``ParameterError`` for values that are not allowed.

    Examples
    --------
    >>> from spanloom.models import Cascade, Memm
    >>> Cascade(base=Memm(order=1)).get_params()["base__order"]
    1
    >>> Cascade().with_params(base__scheme="BIO2")
    Traceback (most recent call last):
        ...
    spanloom.base.errors.ParameterError: scheme must be one of ...
    """

    name: ClassVar[str]
    """By which users choose it, and files know it."""

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:  # noqa: B027  (most settings need no check)
        """Raise ``ParameterError`` unless every value is allowed."""

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """Return the names of the settings."""
        return tuple(one.name for one in fields(cls))  # type: ignore[arg-type]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name, with ``deep`` also those of settings within."""
        own = {name: getattr(self, name) for name in self.parameters()}
        return own | nested(own) if deep else own

    def with_params(self, **changes: Any) -> Self:
        """Return the same with other values; nested names change settings within."""
        merged = merge(f"the {self.name!r} settings", self.get_params(deep=False), changes)
        return replace(self, **merged)  # type: ignore[type-var]

    def to_json(self) -> dict[str, Any]:
        """Return the name and the settings as plain values."""
        return {"name": self.name, **{name: _plain(value) for name, value in self.get_params(deep=False).items()}}


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings within settings, by their nested names."""
    return {
        f"{name}{JOINT}{inner}": value
        for name, settings in values.items()
        if isinstance(settings, Settings)
        for inner, value in settings.get_params().items()
    }


def merge(owner: str, values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with changes, nested ones included; what is changed whole is changed first."""
    merged = dict(values)
    inner: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        first, mark, rest = name.partition(JOINT)
        if first not in merged:
            raise ParameterError(f"{owner} have no parameter {first!r}; they have {', '.join(merged) or 'none'}")
        if mark:
            inner.setdefault(first, {})[rest] = value
        else:
            merged[first] = value
    for first, some in inner.items():
        settings = merged[first]
        if not isinstance(settings, Settings):
            raise ParameterError(f"{first}={settings!r} has no parameters of its own, such as {next(iter(some))!r}")
        merged[first] = settings.with_params(**some)
    return merged


def _plain(value: Any) -> Any:
    if isinstance(value, Settings):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value
