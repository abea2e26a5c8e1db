"""Packages that only some users need."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from typing import Any

from spanloom.base.errors import SpanloomError


def need(module: str, extra: str) -> Any:
    """Return an optional module, or say how to install it.

    Parameters
    ----------
    module
        Its full name, e.g. ``"spacy.tokens"``.
    extra
        The extra of spanloom that brings it.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the package's own imports: nothing that our users can mend
            return importlib.import_module(module)
    except ImportError as error:
        raise _missing(module, extra) from error


def check_installed(module: str, extra: str) -> None:
    """Raise what ``need`` would, before work is done and without importing anything."""
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        raise _missing(module, extra)


def _missing(module: str, extra: str) -> SpanloomError:
    return SpanloomError(f"this needs {module.partition('.')[0]}: pip install 'spanloom[{extra}]'")
