"""One wording for bad settings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from pathlib import Path
from typing import Any

from spanloom.base.errors import ParameterError


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Raise ``ParameterError`` unless ``value`` is one of ``allowed``."""
    allowed = list(allowed)
    if value not in allowed:
        raise ParameterError(f"The {name!r} parameter must be one of {', '.join(allowed)}. Got {value!r} instead.")


def check_number(name: str, value: Any, *, low: float) -> None:
    """Raise ``ParameterError`` unless ``value`` is a finite number of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or value < low:
        raise ParameterError(
            f"The {name!r} parameter must be a number in the range [{low}, inf). Got {value!r} instead."
        )


def check_count(name: str, value: Any, *, low: int = 1) -> None:
    """Raise ``ParameterError`` unless ``value`` is an integer of at least ``low``."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < low:
        raise ParameterError(f"The {name!r} parameter must be an integer of at least {low}. Got {value!r} instead.")


def check_share(name: str, value: Any) -> None:
    """Raise ``ParameterError`` unless ``value`` is a number above 0 and at most 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ParameterError(f"The {name!r} parameter must be a number above 0 and at most 1. Got {value!r} instead.")


def part_option(text: str, known: str) -> tuple[str, dict[str, str]]:
    """Part ``FILE?option=value``, as in references to corpora; there is one option that is known."""
    path, mark, query = text.partition("?")
    if not mark or Path(text).exists():
        return text, {}
    options = dict(pair.partition("=")[::2] for pair in query.split("&"))
    if set(options) != {known} or "=" not in query:
        raise ParameterError(f"after the ? in {text!r} there may be {known}=VALUE and nothing else, got {query!r}")
    return path, options
