"""Settings and feature sets in TOML files."""

from __future__ import annotations

import os
import sys
from typing import Any

from spanloom.base.errors import SpanloomError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: str | os.PathLike[str], error_type: type[SpanloomError]) -> dict[str, Any]:
    """Return what a TOML file holds; an error of the given type if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise error_type(f"{os.fspath(path)}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise error_type(f"{os.fspath(path)}: not a TOML file: {error}") from None
