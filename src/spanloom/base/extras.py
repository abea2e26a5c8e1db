"""Packages that are needed for some formats only."""

from __future__ import annotations

import importlib
from typing import Any

from spanloom.base.errors import SpanloomError


def need(module: str, extra: str) -> Any:
    """Return an optional module, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SpanloomError(f"this needs {module.partition('.')[0]}: pip install 'spanloom[{extra}]'") from error
